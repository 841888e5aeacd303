"""One page with all results of the paper's experiments.

``SECTIONS`` says what stands on it, `tables` how it is written, and report.css how it
looks. The page needs no network.
"""

from __future__ import annotations

import os
import platform
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd

from splboost._tools.progress_bar import make_report
from splboost._tools.whole_files import has_mark, write_whole
from splboost._tools.wording import counted
from splboost.datasets import UCI_CATALOGUE
from splboost.paper import gaussians, tables
from splboost.paper.claims import (
    FAILS,
    HISTORY,
    HOLDS,
    OPEN,
    PARTLY,
    Verdict,
    judge_claims,
    judge_weights,
)
from splboost.paper.draw import describe_table_one
from splboost.paper.figures import draw_figure, draw_gaussians
from splboost.paper.protocol import EXTRAS, LARGE, NOISE, PAPER, PAPER_SETS, Protocol
from splboost.paper.results import COLUMNS
from splboost.paper.statistics import Outcomes, check_results, complete_repeats
from splboost.paper.tables import Markup, element, paragraph, picture

TITLE = "The SPLBoost paper, run again"
PACKAGES = "splboost", "numpy", "scipy", "scikit-learn", "numba", "pandas"
TONES = {HOLDS: "holds", PARTLY: "partly", FAILS: "fails", OPEN: "open"}
MARK = '<meta name="generator" content="splboost paper '


def write_report(
    results: pd.DataFrame,
    path: str | os.PathLike[str],
    *,
    about: Mapping[str, Any] | None = None,
    protocol: Protocol | None = None,
    data_home: str | os.PathLike[str] | None = None,
    verbose: int = 0,
) -> Path:
    """Write a page with verdicts, figures, tables and statistics.

    It takes about a minute: boosters are fitted to the Gaussians on the way.

    Parameters
    ----------
    results : frame
        The table of results. It need not be complete; the page says what is missing.
    path : str or path
        The HTML file to write.
    about : dict, default=None
        How the results came about, such as versions, settings and seeds; values are
        dicts, lists or texts. None is what `provenance` finds.
    protocol : Protocol, default=None
        What was planned, so that the page can say what is missing of it.
    data_home : str or path, default=None
        The folder with the data, as in `load_uci`, to compare Table I with.
    verbose : int, default=0
        1 shows how far it is.

    Returns
    -------
    Path
        That of the file.
    """
    about = provenance(protocol) if about is None else dict(about)
    material = Material(check_results(results, COLUMNS), about, protocol, data_home)
    parts, links = [], []
    with make_report(verbose, len(SECTIONS), "report") as report:
        for n, (title, make) in enumerate(SECTIONS.items()):
            report.show(n, title)
            anchor = title.lower().replace(" ", "-")
            contents = make(material)
            parts.append(element("section", element("h2", title), *contents, id=anchor))
            links.append(element("li", element("a", title, href=f"#{anchor}")))
        report.show(len(SECTIONS))
    body = Markup(
        element("h1", TITLE)
        + paragraph(material.summary, class_="lead")
        + element("nav", element("ul", *links))
        + "\n".join(parts)
    )
    target = Path(path)
    write_whole(target, _document(body))
    return target


def is_report(path: Path) -> bool:
    """Whether a file is a page that ``write_report`` has written."""
    return has_mark(path, MARK)


def _document(body: Markup) -> str:
    style = (files(__package__) / "report.css").read_text(encoding="utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'{MARK}{version("splboost")}">\n'
        f"{element('title', TITLE)}\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def provenance(protocol: Protocol | None = None) -> dict[str, Any]:
    """Describe how results were made: command, settings, versions and system.

    Parameters
    ----------
    protocol : Protocol, default=None
        That of the results.

    Examples
    --------
    >>> from splboost.paper.protocol import Protocol
    >>> from splboost.paper.report import provenance
    >>> list(provenance(Protocol(("twonorm",), (20,), repeats=1)))
    ['date', 'command', 'settings', 'seeds', 'versions', 'system']
    """
    of_protocol = (
        {}
        if protocol is None
        else {"settings": asdict(protocol), "seeds": list(protocol.seeds)}
    )
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        **of_protocol,
        "versions": {
            "python": platform.python_version(),
            **{package: version(package) for package in PACKAGES},
        },
        "system": f"{platform.system()} {platform.machine()}",
    }


# ------------------------------------------------------------------------- the sections


@dataclass(frozen=True)
class Material:
    """What the page is made from.

    What is measured is measured once.
    """

    results: pd.DataFrame
    about: dict[str, Any]
    protocol: Protocol | None = None
    data_home: str | os.PathLike[str] | None = None

    @cached_property
    def verdicts(self) -> list[Verdict]:
        return judge_claims(self.results, gaussians.measure())

    @property
    def summary(self) -> str:
        """One sentence on how many results there are, and on the verdicts."""
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
        basis = describe_basis(material.results, verdict.methods)
        cards.append(
            element(
                "li",
                element("span", verdict.verdict, class_="badge"),
                element("h3", verdict.claim),
                paragraph(" ".join(verdict.findings)),
                paragraph(f"From {basis}.", class_="note") if basis else Markup(""),
                paragraph(f"Rule: {verdict.rule}", class_="note"),
                class_=TONES[verdict.verdict],
            )
        )
    return [element("ul", *cards, class_="claims"), paragraph(HISTORY, class_="note")]


def figures(material: Material) -> list[Markup]:
    """Figures 1 to 5, with the third a second time."""
    results = material.results
    return [
        picture(
            lambda: draw_figure(1),
            "Figure 1. What a sample weighs, by its margin. (a) SPLBoost with linear "
            "weighting at λ = 2 to 6, beside other boosters. (b) Four regularisers.",
            "Weights are scaled to be 1 at margin 0 where there is no pace. LogitBoost "
            "is shown with the slope of its loss. The polynomials t = 1.3 and t = 4 "
            "are those called lower and upper convex.",
        ),
        picture(
            lambda: draw_figure(2),
            "Figure 2. Losses by the margin, and the latent losses of SPLBoost. (a) "
            "With linear weighting at λ = 2 to 6. (b) Four regularisers, lower convex "
            "being the polynomial t = 1.3, and upper convex t = 4.",
        ),
        picture(
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
            lambda: draw_gaussians(rounds=None),
            "Figure 3, with the rounds of each booster chosen by 5-fold "
            "cross-validation, up to 200.",
        ),
        picture(
            lambda: draw_figure(4, results),
            "Figure 4. Test error against the share of wrong training labels, on the "
            "sets that all methods have finished a repeat of. Means over such repeats, "
            "with standard errors; methods are drawn a little apart.",
        ),
        picture(
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


def numbers(material: Material) -> list[Markup]:
    """The tables behind the verdicts, and the errors of all cases."""
    parts = []
    for verdict in material.verdicts:
        if verdict.table is not None:
            parts += [element("h3", verdict.claim), tables.frame_table(verdict.table)]
    chosen = judge_weights(gaussians.measure(rounds=None))
    assert chosen.table is not None
    parts += [
        paragraph(
            "The same with the rounds of each booster chosen by cross-validation, by "
            f"which the verdict would be “{chosen.verdict}”:"
        ),
        tables.frame_table(chosen.table),
    ]
    results = material.results
    if not results.empty:
        large = sorted(set(results.loc[results["protocol"] == LARGE, "data"]))
        text = f" With fewer repeats, ages and depths: {', '.join(large)}."
        parts += [
            element("h3", "Test errors (%) of all cases"),
            paragraph(
                "Means over the repeats that all methods have finished, with standard "
                f"errors; the least is bold.{text if large else ''}"
            ),
            tables.error_table(Outcomes.of(results)),
        ]
    return parts


def first_table(material: Material) -> list[Markup]:
    """Table I beside the data."""
    return [element("pre", describe_table_one(material.data_home))]


def how(material: Material) -> list[Markup]:
    """Versions, settings and seeds."""
    about, results = dict(material.about), material.results
    for column, words in {
        "version": "results of {}",
        "protocol": "sets with the {} protocol",
        "source": "data: {}",
    }.items():
        for value, names in results.groupby(column)["data"].unique().items():
            about[words.format(value)] = sorted(names)
    parts = []
    for name, value in about.items():
        fields = value if isinstance(value, Mapping) else {name: value}
        for key, one in fields.items():
            is_list = isinstance(one, Sequence) and not isinstance(one, str)
            text = ", ".join(map(str, one)) if is_list else str(one)
            parts += [element("dt", str(key)), element("dd", text)]
    return [element("dl", *parts) if parts else paragraph("Nothing is recorded.")]


def missing(material: Material) -> list[Markup]:
    """List the results that are missing."""
    found = find_missing(material.results, material.protocol)
    if not found:
        return [paragraph("Nothing.")]
    return [element("ul", *(element("li", each) for each in found))]


def describe_basis(results: pd.DataFrame, methods: Sequence[str] = PAPER) -> str:
    """How much of the paper's protocol a comparison uses; empty if nothing.

    What counts are repeats that all of the methods have finished at all levels of
    noise.
    """
    outcomes = Outcomes.of(results[results["data"].isin(PAPER_SETS)], methods)
    own = complete_repeats(outcomes.cells, outcomes.noise)
    if own.empty:
        return ""
    repeats = own.groupby("data")["repeat"].nunique()
    least, most = repeats.min(), repeats.max()
    times = f"{most}" if least == most else f"{least} to {most}"
    return (
        f"{len(repeats)} of the paper's {len(PAPER_SETS)} data sets, {times} of its "
        f"{Protocol().repeats} repeats"
    )


def find_missing(results: pd.DataFrame, protocol: Protocol | None = None) -> list[str]:
    """Describe which results are missing.

    A data set is complete when it has every method of the paper at every level of
    noise that was planned, as often as was planned.

    Parameters
    ----------
    results : frame
        The table of results.
    protocol : Protocol, default=None
        What was planned; None is the paper's levels of noise, and as many repeats as
        were begun.

    Returns
    -------
    list of str
        Empty where nothing is missing.
    """
    found = []
    for what, wanted, column in (
        ("on", PAPER_SETS, "data"),
        ("of", (*PAPER, *EXTRAS), "method"),
    ):
        if absent := [name for name in wanted if name not in set(results[column])]:
            found.append(f"No results {what} {', '.join(absent)}.")
    levels = NOISE if protocol is None else protocol.noise
    own = results[results["noise"].isin(levels) & results["method"].isin(PAPER)]
    for name in [n for n in UCI_CATALOGUE if n in set(results["data"])]:
        repeats = own.loc[own["data"] == name, "repeat"]
        n_repeats = repeats.nunique()
        if protocol is not None:
            n_repeats = max(n_repeats, protocol.for_set(name).repeats)
        wanted_here = n_repeats * len(levels) * len(PAPER)
        if lacking := wanted_here - len(repeats):
            found.append(
                f"{name}: {lacking} of {wanted_here} results are missing "
                f"({counted(n_repeats, 'repeat')})."
            )
    return found


SECTIONS: dict[str, Callable[[Material], list[Markup]]] = {
    "Claims": claims,
    "Figures": figures,
    "Statistics": lambda material: tables.compare(material.results),
    "Numbers": numbers,
    "Table I": first_table,
    "How it was run": how,
    "What is missing": missing,
}
