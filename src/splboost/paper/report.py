"""One page with all results of the paper's experiments.

report.html says what stands on it and how it looks, `tables` how numbers are written.
The page needs no network.
"""

from __future__ import annotations

import os
import platform
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cached_property, partial
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import pandas as pd

from splboost._tools.progress_bar import make_report
from splboost._tools.whole_files import has_mark, write_whole
from splboost._tools.wording import counted
from splboost.datasets import UCI_CATALOGUE
from splboost.paper import gaussians
from splboost.paper.claims import (
    FAILS,
    HOLDS,
    OPEN,
    PARTLY,
    TEXTS,
    Verdict,
    judge_claims,
    judge_weights,
)
from splboost.paper.draw import describe_table_one
from splboost.paper.figures import (
    draw_critical_differences,
    draw_figure,
    draw_gaussians,
)
from splboost.paper.protocol import EXTRAS, NOISE, PAPER, PAPER_SETS, Protocol
from splboost.paper.results import COLUMNS
from splboost.paper.statistics import (
    ALPHA,
    BEST_SPL,
    CHOSEN_SPL,
    Outcomes,
    check_results,
    critical_difference,
    fewest_sets,
    friedman,
    is_best,
)
from splboost.paper.tables import (
    Markup,
    element,
    error_table,
    frame_table,
    join,
    paragraph,
    picture,
    probability,
    rank_table,
    rival_table,
)

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
    parts = {"version": version("splboost")}
    with make_report(verbose, len(PARTS), "report") as report:
        for n, (name, make) in enumerate(PARTS.items()):
            report.show(n, name.replace("_", " "))
            parts[name] = join(*make(material))
        report.show(len(PARTS))
    page = (files(__package__) / "report.html").read_text(encoding="utf-8")
    write_whole(Path(path), Template(page).substitute(parts))
    return Path(path)


def is_report(path: Path) -> bool:
    """Whether a file is a page that ``write_report`` has written."""
    return has_mark(path, MARK)


def provenance(protocol: Protocol | None = None) -> dict[str, Any]:
    """Describe how results were made: command, settings, versions and system.

    Examples
    --------
    >>> from splboost.paper.protocol import Protocol
    >>> from splboost.paper.report import provenance
    >>> list(provenance(Protocol(("twonorm",), (20,), repeats=1)))
    ['date', 'command', 'settings', 'seeds', 'versions', 'system']
    """
    about: dict[str, Any] = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
    }
    if protocol is not None:
        about |= {"settings": asdict(protocol), "seeds": list(protocol.seeds)}
    versions = {package: version(package) for package in PACKAGES}
    about["versions"] = {"python": platform.python_version(), **versions}
    return about | {"system": f"{platform.system()} {platform.machine()}"}


# ---------------------------------------------------------------------------- the parts


@dataclass(frozen=True)
class Material:
    """What the page is made from; what is measured is measured once."""

    results: pd.DataFrame
    about: dict[str, Any]
    protocol: Protocol | None = None
    data_home: str | os.PathLike[str] | None = None

    @cached_property
    def verdicts(self) -> list[Verdict]:
        return judge_claims(self.results, gaussians.measure())

    @cached_property
    def verdict_by_chosen_rounds(self) -> Verdict:
        return judge_weights(gaussians.measure(rounds=None))


def summarise(material: Material) -> list[str]:
    """One sentence on how many results there are, and on the verdicts."""
    results = material.results
    if results.empty:
        return ["There are no results of the protocol yet."]
    judged = [verdict.verdict for verdict in material.verdicts]
    words = [f"{each} {judged.count(each)}" for each in TONES if each in judged]
    return [
        f"{counted(len(results), 'result')} on "
        f"{counted(results['data'].nunique(), 'data set')} at "
        f"{counted(results['noise'].nunique(), 'level')} of noise. Verdicts on "
        f"{len(judged)} claims: {', '.join(words)}."
    ]


def claims(material: Material) -> list[Markup]:
    """A card for each verdict."""
    cards = []
    for verdict in material.verdicts:
        cards.append(
            element(
                "li",
                element("span", verdict.verdict, class_="badge"),
                element("h3", verdict.claim),
                paragraph(" ".join(verdict.findings)),
                paragraph(verdict.basis, class_="note") if verdict.basis else "",
                paragraph(f"Rule: {verdict.rule}", class_="note"),
                class_=TONES[verdict.verdict],
            )
        )
    return [element("ul", *cards, class_="claims")]


def figure(number: int, material: Material) -> list[Markup]:
    results = material.results if number > 3 else None
    return [picture(lambda: draw_figure(number, results), f"Figure {number}")]


def chosen_rounds(material: Material) -> list[Markup]:
    name = "Figure 3, with the rounds chosen by cross-validation"
    return [picture(lambda: draw_gaussians(rounds=None), name)]


def statistics(material: Material) -> list[Markup]:
    """Ranks and tests, over data sets and over cases."""
    outcomes = Outcomes.of(material.results)
    n_sets, n_methods = outcomes.sets.shape
    if n_sets == 0 or n_methods < 2:
        return [paragraph("There is nothing to compare yet.", class_="note")]
    parts = [rank_table(outcomes)]
    if n_sets >= fewest_sets():
        title = "Mean rank of the test error, all levels of noise"
        parts += [
            paragraph(
                f"Friedman's test over {n_sets} data sets, by Iman and Davenport's F, "
                f"has a p of {probability(friedman(outcomes.sets))}. By Nemenyi's "
                "test, mean ranks more than "
                f"{critical_difference(n_methods, n_sets):.2f} apart differ at "
                f"{ALPHA:.0%}; then their bars do not overlap."
            ),
            picture(lambda: draw_critical_differences({title: outcomes.sets}), title),
        ]
    else:
        text = f"{counted(n_sets, 'data set')}: too few for a test."
        parts.append(paragraph(text, class_="note"))
    chosen = outcomes.with_one_spl(CHOSEN_SPL)
    if CHOSEN_SPL in chosen.methods and len(chosen.methods) > 1:
        best = outcomes.with_one_spl(BEST_SPL)
        parts += [
            element("h3", "SPLBoost against its rivals"),
            paragraph(
                "SPLBoost as one entry, with the regulariser that cross-validation has "
                f"chosen, is best alone in {_count_wins(chosen, CHOSEN_SPL)}. With the "
                "best regulariser of each case, which nobody can know and which "
                f"favours it, it would be in {_count_wins(best, BEST_SPL)}."
            ),
            rival_table(chosen, CHOSEN_SPL),
        ]
    for beyond in TEXTS["comparisons"]:
        methods = *beyond["others"], beyond["method"]
        outcomes = Outcomes.of(material.results, methods)
        if len(outcomes.methods) == len(methods) and len(outcomes.sets):
            parts += [element("h3", beyond["title"]), paragraph(beyond["text"])]
            parts += [rank_table(outcomes)] if len(methods) > len(PAPER) else []
            parts.append(rival_table(outcomes, beyond["method"]))
    return parts


def _count_wins(outcomes: Outcomes, name: str) -> str:
    """Number of cases in which a method has fewer errors than all others."""
    n_cases = len(outcomes.cases)
    n_wins = is_best(outcomes.cases, [name]).sum()
    return f"{n_wins} of {counted(n_cases, 'case')} ({n_wins / n_cases:.0%})"


def numbers(material: Material) -> list[Markup]:
    """The tables behind the verdicts."""
    return [
        part
        for verdict in material.verdicts
        if verdict.table is not None
        for part in (element("h3", verdict.claim), frame_table(verdict.table))
    ]


def weights_chosen_rounds(material: Material) -> list[Markup]:
    """The table on the Gaussians, with as many rounds as folds choose."""
    table = material.verdict_by_chosen_rounds.table
    assert table is not None
    return [frame_table(table)]


def errors(material: Material) -> list[Markup]:
    """The errors of all cases."""
    outcomes = Outcomes.of(material.results)
    return [] if outcomes.cells.empty else [error_table(outcomes)]


def how(material: Material) -> list[Markup]:
    """Versions, settings and seeds."""
    about = dict(material.about)
    for column, words in {
        "version": "results of {}",
        "protocol": "sets with the {} protocol",
        "source": "data: {}",
    }.items():
        sets_of = material.results.groupby(column)["data"].unique()
        about |= {words.format(value): sorted(sets) for value, sets in sets_of.items()}
    parts = []
    for name, value in about.items():
        for key, one in (
            value if isinstance(value, Mapping) else {name: value}
        ).items():
            is_list = isinstance(one, Sequence) and not isinstance(one, str)
            text = ", ".join(map(str, one)) if is_list else one
            parts += [element("dt", key), element("dd", text)]
    return [element("dl", *parts) if parts else paragraph("Nothing is recorded.")]


def missing(material: Material) -> list[Markup]:
    """List the results that are missing."""
    found = find_missing(material.results, material.protocol) or ["Nothing."]
    return [element("ul", *(element("li", each) for each in found))]


def find_missing(results: pd.DataFrame, protocol: Protocol | None = None) -> list[str]:
    """Describe which results are missing, in sentences.

    A data set is complete when it has every method of the paper at every level of
    noise, as often as the protocol plans; without a protocol at the paper's levels, as
    often as was begun.
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


# What fills the places of report.html
PARTS: dict[str, Callable[[Material], Sequence[str]]] = {
    "summary": summarise,
    "claims": claims,
    **{f"figure_{number}": partial(figure, number) for number in range(1, 6)},
    "figure_3_chosen_rounds": chosen_rounds,
    "statistics": statistics,
    "numbers": numbers,
    "verdict_chosen_rounds": lambda m: [m.verdict_by_chosen_rounds.verdict],
    "weights_chosen_rounds": weights_chosen_rounds,
    "errors": errors,
    "table_one": lambda m: [describe_table_one(m.data_home)],
    "how": how,
    "missing": missing,
}
