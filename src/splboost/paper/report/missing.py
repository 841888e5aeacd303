"""How much of a protocol a table of results has, and what it lacks, in words."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from splboost._tools.progress_bar import counted
from splboost.datasets import UCI_CATALOGUE
from splboost.paper.names import EXTRAS, PAPER
from splboost.paper.outcomes import Outcomes
from splboost.paper.protocol import NOISE, PAPER_SETS, Protocol
from splboost.paper.statistics import complete_repeats


def describe_basis(results: pd.DataFrame, methods: Sequence[str] = PAPER) -> str:
    """On how much of the paper's protocol a comparison rests; empty if on nothing.

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
    """Sentences on what would complete the table.

    A data set is complete when it has every method of the paper at every level of
    noise that was planned, as often as was planned. Of the further methods those that
    were begun are counted over all sets that were.

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
    there = set(results["data"])
    found = []
    absent = [name for name in PAPER_SETS if name not in there]
    if absent:
        found.append(f"No results on {', '.join(absent)}.")
    methods = set(results["method"])
    absent = [name for name in (*PAPER, *EXTRAS) if name not in methods]
    if absent:
        found.append(f"No results of {', '.join(absent)}.")
    levels = NOISE if protocol is None else protocol.noise
    planned = results[results["noise"].isin(levels)]
    own = planned[planned["method"].isin(PAPER)]
    n_draws = 0
    for name in [n for n in UCI_CATALOGUE if n in there]:
        of_set = own[own["data"] == name]
        n_repeats = of_set["repeat"].nunique()
        if protocol is not None:
            n_repeats = max(n_repeats, protocol.for_set(name).repeats)
        n_draws += n_repeats * len(levels)
        wanted = n_repeats * len(levels) * len(PAPER)
        lacking = wanted - len(of_set)
        if lacking:
            found.append(
                f"{name}: {lacking} of {wanted} results are missing "
                f"({counted(n_repeats, 'repeat')})."
            )
    begun = planned["method"].value_counts()
    fewer = [
        f"{name} {begun[name]}"
        for name in EXTRAS
        if name in begun and begun[name] < n_draws
    ]
    if fewer:
        found.append(f"Of {n_draws} draws there are results of {', '.join(fewer)}.")
    return found
