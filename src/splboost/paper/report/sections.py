"""What stands on the report's page, section by section."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from splboost._tools.progress_bar import counted
from splboost.datasets import table_one
from splboost.paper import gaussians, long_servedio
from splboost.paper.claims import judge_claims, judge_weights
from splboost.paper.figures import (
    draw_figure,
    draw_gaussians,
    draw_long_servedio,
)
from splboost.paper.outcomes import Outcomes
from splboost.paper.protocol import LARGE, Protocol
from splboost.paper.report import tables
from splboost.paper.report.comparisons import compare
from splboost.paper.report.html import Markup, element
from splboost.paper.report.missing import describe_basis, find_missing
from splboost.paper.report.pictures import picture
from splboost.paper.verdicts import FAILS, HISTORY, HOLDS, OPEN, PARTLY, Verdict

TONES = {HOLDS: "holds", PARTLY: "partly", FAILS: "fails", OPEN: "open"}


@dataclass(frozen=True)
class Material:
    """What the page is made of; what is measured is measured once.

    Parameters
    ----------
    results : frame
        The table of results.
    about : dict
        How these came about.
    protocol : Protocol or None
        What was planned.
    data_home : str or path
        The folder with the data; None is the usual one.
    """

    results: pd.DataFrame
    about: dict[str, Any]
    protocol: Protocol | None = None
    data_home: str | os.PathLike[str] | None = None

    @cached_property
    def outcomes(self) -> Outcomes:
        return Outcomes.of(self.results)

    @cached_property
    def verdicts(self) -> list[Verdict]:
        return judge_claims(self.results, gaussians.measure())

    @property
    def summary(self) -> str:
        """How much there is."""
        if self.results.empty:
            return "There are no results of the protocol yet."
        judged = [verdict.verdict for verdict in self.verdicts]
        words = [f"{each} {judged.count(each)}" for each in TONES if each in judged]
        table = self.results
        return (
            f"{counted(len(table), 'result')} on "
            f"{counted(table['data'].nunique(), 'data set')} at "
            f"{counted(table['noise'].nunique(), 'level')} of noise. Verdicts on "
            f"{len(judged)} claims: {', '.join(words)}."
        )


def claims(material: Material) -> list[Markup]:
    """A card for each verdict."""
    cards = []
    for verdict in material.verdicts:
        basis = []
        text = describe_basis(material.results, verdict.methods)
        if text:
            basis.append(element("p", f"From {text}.", class_="note"))
        cards.append(
            element(
                "li",
                element("span", verdict.verdict, class_="badge"),
                element("h3", verdict.claim),
                element("p", " ".join(verdict.findings)),
                *basis,
                element("p", f"Rule: {verdict.rule}", class_="note"),
                class_=TONES[verdict.verdict],
            )
        )
    history = element("p", HISTORY, class_="note")
    return [element("ul", *cards, class_="claims"), history]


def figures(material: Material) -> list[Markup]:
    """Figures 1 to 5, with the third a second time."""
    results = material.results
    return [
        picture(
            "weights",
            lambda: draw_figure(1),
            "Figure 1. What a sample weighs, by its margin. (a) SPLBoost with linear "
            "weighting at λ = 2 to 6, beside other boosters. (b) Four regularisers.",
            "Weights are scaled to be 1 at margin 0 where there is no pace. LogitBoost "
            "is shown with the slope of its loss. The polynomials t = 1.3 and t = 4 "
            "are those called lower and upper convex.",
        ),
        picture(
            "losses",
            lambda: draw_figure(2),
            "Figure 2. Losses by the margin, and the latent losses of SPLBoost. (a) "
            "With linear weighting at λ = 2 to 6. (b) Four regularisers, lower convex "
            "being the polynomial t = 1.3, and upper convex t = 4.",
        ),
        picture(
            "gaussians",
            lambda: draw_figure(3),
            "Figure 3. Two Gaussians with 15% wrong labels; the area of a marker is in "
            "proportion to the weight of the sample after at most 60 rounds, up to "
            "nine times the mean, beyond which it grows no more.",
            "The paper does not say how many rounds it took. RobustBoost's goal was "
            "chosen by cross-validation. C4.5 grows whole trees here, and CART trees "
            "three deep. SPLBoost ends with a tree that has no error on the samples "
            "it gives weight to; where that is soon, two λ may come to the same.",
        ),
        picture(
            "chosen",
            lambda: draw_gaussians(rounds=None),
            "Figure 3, with the rounds of each booster chosen by 5-fold "
            "cross-validation, up to 200.",
        ),
        picture(
            "errors",
            lambda: draw_figure(4, results),
            "Figure 4. Test error against the share of wrong training labels, on the "
            "sets that all methods have finished a repeat of. Means over such repeats, "
            "with standard errors; methods are drawn a little apart.",
        ),
        picture(
            "top",
            lambda: draw_figure(5, results),
            "Figure 5. Share of cases, a data set at a level of noise each, in which a "
            "method is among the best n; equals share a place, so that two who are "
            "best count from n = 2 on. (a) The methods of the paper, of which up to "
            "four are SPLBoost: that one of these is among the best is partly their "
            "number. "
            "(b) One entry for SPLBoost, the regulariser with the least test error of "
            "each case, which favours it. (c) The regulariser that cross-validation "
            "has chosen.",
        ),
    ]


def _large_ones(results: pd.DataFrame) -> str:
    """Which sets got less, as a sentence."""
    if "protocol" not in results:
        return ""
    names = sorted(set(results.loc[results["protocol"] == LARGE, "data"]))
    if not names:
        return ""
    return f" With fewer repeats, ages and depths: {', '.join(names)}."


def numbers(material: Material) -> list[Markup]:
    """The tables behind the verdicts, and the errors of all cases."""
    parts = []
    for verdict in material.verdicts:
        if verdict.table is not None:
            first = verdict.table.index.name or "method"
            parts += [
                element("h3", verdict.claim),
                tables.frame_table(verdict.table, first),
            ]
    chosen = judge_weights(gaussians.measure(rounds=None))
    assert chosen.table is not None
    parts += [
        element(
            "p",
            "The same with the rounds of each booster chosen by cross-validation, by "
            f"which the verdict would be “{chosen.verdict}”:",
        ),
        tables.frame_table(chosen.table, "method"),
    ]
    if not material.results.empty:
        parts += [
            element("h3", "Test errors (%) of all cases"),
            element(
                "p",
                "Means over the repeats that all methods have finished, with standard "
                f"errors; the least is bold.{_large_ones(material.results)}",
            ),
            tables.error_table(material.outcomes),
        ]
    if {"chosen", "n_estimators"} <= set(material.results) and len(material.results):
        parts += [
            element("h3", "What was chosen"),
            element(
                "p",
                "Medians of what cross-validation has chosen, over all cells, and the "
                "share of the cells at the ends of a grid. Where it is large, a wider "
                "grid might do better. Depths are counted where there was a choice.",
            ),
            tables.choice_table(material.results, material.protocol),
        ]
    if {"n_fits", "fit_seconds"} <= set(material.results) and len(material.results):
        parts += [
            element("h3", "What it cost"),
            tables.cost_table(material.results),
        ]
    return parts


def long_and_servedio(material: Material) -> list[Markup]:
    """The extra."""
    measured = long_servedio.measure()
    summary = long_servedio.summarise(measured)
    return [
        element(
            "p",
            "The problem of Long and Servedio defeats boosters that follow the slope "
            "of a convex loss, such as AdaBoost, and LogitBoost where the gradient is "
            "kept: with a tenth of the labels wrong they err on about half of the "
            "samples called penalisers, and on no others. A LogitBoost that clips its "
            "response follows it no more, and escapes. Stumps, 800 samples, test error "
            "of right labels.",
        ),
        picture(
            "servedio",
            lambda: draw_long_servedio(measured),
            f"Errors of {measured['draw'].nunique()} draws, their mean, and the figure "
            "of another implementation for a draw of its own.",
        ),
        tables.long_servedio_table(summary),
        element(
            "p",
            "The other implementation has one draw; its figure agrees if it is among "
            "those of our draws. RobustBoost has the lowest goal that it reaches; with "
            "a lower one it gets stuck, and errs as AdaBoost does.",
            class_="note",
        ),
    ]


def first_table(material: Material) -> list[Markup]:
    """Table I beside the data."""
    found = table_one(data_home=material.data_home)
    text = (
        "Table I of the paper, beside the data as they are here. Sets without figures "
        "were not found, or cannot be read."
    )
    return [element("p", text), tables.table_one_table(found)]


def how(material: Material) -> list[Markup]:
    """Versions, settings and seeds."""
    about = {k: v for k, v in material.about.items() if k != "missing"}
    if "version" in material.results and len(material.results):
        versions = sorted(set(material.results["version"]))
        about.setdefault("version of the results", ", ".join(map(str, versions)))
    if "protocol" in material.results:
        of_sets = material.results.groupby("protocol")["data"].unique()
        for protocol, names in of_sets.items():
            about[f"sets with the {protocol} protocol"] = ", ".join(sorted(names))
    if "source" in material.results:
        of_sets = material.results.groupby("source")["data"].unique()
        for source, names in of_sets.items():
            about[f"data: {source}"] = ", ".join(sorted(names))
    if not about:
        return [element("p", "Nothing is recorded.", class_="note")]
    texts = {k: v for k, v in about.items() if not isinstance(v, Mapping)}
    parts = [_definitions(texts)] if texts else []
    for name, value in about.items():
        if isinstance(value, Mapping):
            parts += [element("h3", str(name)), _definitions(value)]
    return parts


def missing(material: Material) -> list[Markup]:
    """What would complete the page."""
    given = material.about.get("missing") or []
    said = [given] if isinstance(given, str) else [str(each) for each in given]
    found = find_missing(material.results, material.protocol) + said
    if not found:
        return [element("p", "Nothing.")]
    return [element("ul", *(element("li", each) for each in found))]


SECTIONS: dict[str, Callable[[Material], list[Markup]]] = {
    "Claims": claims,
    "Figures": figures,
    "Statistics": lambda material: compare(material.results),
    "Numbers": numbers,
    "Long and Servedio": long_and_servedio,
    "Table I": first_table,
    "How it was run": how,
    "What is missing": missing,
}


def _definitions(values: Mapping[Any, Any]) -> Markup:
    parts = []
    for name, value in values.items():
        if isinstance(value, Mapping):
            value = ", ".join(f"{k}: {v}" for k, v in value.items())
        elif isinstance(value, Sequence) and not isinstance(value, str):
            value = ", ".join(map(str, value))
        parts += [element("dt", str(name)), element("dd", str(value))]
    return element("dl", *parts)
