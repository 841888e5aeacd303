"""What a table of results lacks, in words."""

from __future__ import annotations

import pandas as pd

from splboost.datasets import UCI_CATALOGUE
from splboost.paper.names import FOREST, PAPER, PLATEAU_SPL, UNTIL_CONVERGENCE
from splboost.paper.protocol import NOISE


def find_missing(results: pd.DataFrame) -> list[str]:
    """Sentences on what would complete the table.

    A data set is complete when it has every method of the paper at every level of
    noise, as often as the repeats that were begun.

    Parameters
    ----------
    results : frame
        The table of results.

    Returns
    -------
    list of str
        Empty where nothing is missing.
    """
    there = set(results["data"])
    sets = [name for name, entry in UCI_CATALOGUE.items() if entry.paper is not None]
    found = []
    absent = [name for name in sets if name not in there]
    if absent:
        found.append(f"No results on {', '.join(absent)}.")
    methods = set(results["method"])
    others = (FOREST, *PLATEAU_SPL, UNTIL_CONVERGENCE)
    absent = [name for name in (*PAPER, *others) if name not in methods]
    if absent:
        found.append(f"No results of {', '.join(absent)}.")
    own = results[results["method"].isin(PAPER) & results["noise"].isin(NOISE)]
    for name in [*(s for s in sets if s in there), *sorted(there.difference(sets))]:
        of_set = own[own["data"] == name]
        n_repeats = of_set["repeat"].nunique()
        wanted = n_repeats * len(NOISE) * len(PAPER)
        lacking = wanted - len(of_set)
        if lacking:
            found.append(
                f"{name}: {lacking} of {wanted} results are missing "
                f"({n_repeats} repeat{'s' if n_repeats != 1 else ''} begun)."
            )
    return found
