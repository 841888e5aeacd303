"""One page with all results of the paper's experiments.

report.html says what stands on it and how it looks, `tables` how numbers are written.
The page needs no network.
"""

from __future__ import annotations

import os
import platform
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import pandas as pd

from splboost._tools.progress_bar import make_report
from splboost._tools.whole_files import has_mark, write_whole
from splboost._tools.wording import counted
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
    sets_of,
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
    about = provenance(protocol) if about is None else about
    page = Template((files(__package__) / "report.html").read_text(encoding="utf-8"))
    made = make_parts(check_results(results, COLUMNS), about, protocol, data_home)
    parts: dict[str, str] = {}
    with make_report(verbose, len(page.get_identifiers()), "report") as report:
        report.show(0)
        for name, part in made:
            parts[name] = part
            report.show(len(parts), name.replace("_", " "))
    write_whole(Path(path), page.substitute(parts))
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


def make_parts(
    results: pd.DataFrame,
    about: Mapping[str, Any],
    protocol: Protocol | None,
    data_home: str | os.PathLike[str] | None,
) -> Iterator[tuple[str, str]]:
    """What fills the places of report.html, by their names."""
    yield "version", version("splboost")
    verdicts = judge_claims(results, gaussians.measure())
    yield "summary", join(_summarise(results, verdicts))
    yield "claims", element("ul", *map(_card, verdicts), class_="claims")
    for number in range(1, 6):
        draw = partial(draw_figure, number, results if number > 3 else None)
        yield f"figure_{number}", picture(draw, f"Figure {number}")
    name = "Figure 3, with the rounds chosen by cross-validation"
    yield "figure_3_chosen_rounds", picture(partial(draw_gaussians, rounds=None), name)
    yield "statistics", join(*_compare(results))
    tables = {v.claim: v.table for v in verdicts if v.table is not None}
    yield (
        "numbers",
        join(*(join(element("h3", c), frame_table(t)) for c, t in tables.items())),
    )
    by_chosen_rounds = judge_weights(gaussians.measure(rounds=None))
    assert by_chosen_rounds.table is not None
    yield "verdict_chosen_rounds", by_chosen_rounds.verdict
    yield "weights_chosen_rounds", frame_table(by_chosen_rounds.table)
    outcomes = Outcomes.of(results)
    yield "errors", "" if outcomes.cells.empty else error_table(outcomes)
    yield "table_one", join(describe_table_one(data_home))
    yield "how", _describe_run(results, about)
    lacking = find_missing(results, protocol) or ["Nothing."]
    yield "missing", element("ul", *(element("li", each) for each in lacking))


def _summarise(results: pd.DataFrame, verdicts: Sequence[Verdict]) -> str:
    """One sentence on how many results there are, and on the verdicts."""
    if results.empty:
        return "There are no results of the protocol yet."
    judged = [verdict.verdict for verdict in verdicts]
    words = [f"{each} {judged.count(each)}" for each in TONES if each in judged]
    return (
        f"{counted(len(results), 'result')} on "
        f"{counted(results['data'].nunique(), 'data set')} at "
        f"{counted(results['noise'].nunique(), 'level')} of noise. Verdicts on "
        f"{len(judged)} claims: {', '.join(words)}."
    )


def _card(verdict: Verdict) -> Markup:
    return element(
        "li",
        element("span", verdict.verdict, class_="badge"),
        element("h3", verdict.claim),
        paragraph(" ".join(verdict.findings)),
        paragraph(verdict.basis, class_="note") if verdict.basis else "",
        paragraph(f"Rule: {verdict.rule}", class_="note"),
        class_=TONES[verdict.verdict],
    )


def _compare(results: pd.DataFrame) -> list[Markup]:
    """Ranks and tests, over data sets and over cases."""
    outcomes = Outcomes.of(results)
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
        outcomes = Outcomes.of(results, methods)
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


def _describe_run(results: pd.DataFrame, about: Mapping[str, Any]) -> Markup:
    """Versions, settings and seeds."""
    lines: dict[str, Any] = {}
    for name, value in about.items():
        lines |= value if isinstance(value, Mapping) else {name: value}
    for column, words in {
        "version": "results of {}",
        "protocol": "sets with the {} protocol",
        "source": "data: {}",
    }.items():
        found = results.groupby(column)["data"].unique()
        lines |= {words.format(value): sorted(sets) for value, sets in found.items()}
    parts = []
    for name, value in lines.items():
        is_list = isinstance(value, Sequence) and not isinstance(value, str)
        text = ", ".join(map(str, value)) if is_list else value
        parts += [element("dt", name), element("dd", text)]
    return element("dl", *parts) if parts else paragraph("Nothing is recorded.")


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
    for name in sets_of(results):
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
