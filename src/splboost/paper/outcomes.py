"""What may be compared in a table of results, which need not be complete.

A *draw* is a data set, a level of noise and a repeat; a *cell*, a method on a draw; a
*case*, as the paper counts, a data set and a level of noise. Methods are compared on
the draws that all of them have finished. Cases of one set are not independent of each
other, so tests take the data set as the unit, with errors averaged over its levels of
noise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from splboost.paper.names import PAPER, RIVALS, SPL
from splboost.paper.statistics import (
    DIGITS,
    Comparison,
    by_set,
    complete_cells,
    complete_repeats,
    ranks,
)

NEEDED = "data", "noise", "repeat", "method", "error", "cv_error"
CHOSEN_SPL = "SPL, chosen by CV"
BEST_SPL = "SPL, best of four"
CV_DIGITS = 7  # what differs less is equal


def check_results(results: pd.DataFrame) -> pd.DataFrame:
    """The table, if it is one of results."""
    missing = [name for name in NEEDED if name not in getattr(results, "columns", ())]
    if missing:
        raise ValueError(
            f"results has no column {', '.join(map(repr, missing))}; give the table of "
            "the protocol, with a row for each finished cell."
        )
    return results


@dataclass(frozen=True)
class Outcomes:
    """Errors of some methods on the draws that all of them have finished.

    Parameters
    ----------
    methods : tuple of str
    cells : frame
        Rows of the table of results.
    noise : tuple of int
        Levels that a data set must have to be averaged over them.
    """

    methods: tuple[str, ...]
    cells: pd.DataFrame
    noise: tuple[int, ...]

    @classmethod
    def of(cls, results: pd.DataFrame, methods: Sequence[str] = PAPER) -> Outcomes:
        """Those of the methods that the table has at all."""
        table = check_results(results)
        own = table[table["method"].isin(methods)]
        present = set(own["method"])
        names = tuple(name for name in methods if name in present)
        noise = tuple(sorted(set(own["noise"])))
        return cls(names, complete_cells(own, names), noise)

    @cached_property
    def cases(self) -> pd.DataFrame:
        """Mean errors over the repeats: a row for each set and level of noise."""
        keys = ["data", "noise", "method"]
        means = self.cells.groupby(keys)["error"].mean().unstack("method")
        return means.reindex(columns=list(self.methods))

    @cached_property
    def sets(self) -> pd.DataFrame:
        """Mean errors over noise and repeats: a row for each set that has all levels.

        Only repeats count that have every level.
        """
        whole = complete_repeats(self.cells, self.noise)
        return by_set(whole, "error", self.methods)

    @cached_property
    def levels(self) -> pd.DataFrame:
        """Mean errors over those sets: a row for each method, a column for each level.

        Sets count alike, however many repeats they have.
        """
        whole = complete_repeats(self.cells, self.noise)
        of_set = whole.groupby(["method", "noise", "data"])["error"].mean()
        return of_set.groupby(["method", "noise"]).mean().unstack("noise")

    def at(self, noise: Iterable[int]) -> Outcomes:
        """Those at some levels of noise."""
        levels = tuple(noise)
        cells = self.cells[self.cells["noise"].isin(levels)]
        return Outcomes(self.methods, cells, levels)

    def rises(self, low: int, high: int) -> pd.DataFrame:
        """By how much errors rise from one level of noise to another, by set."""
        pair = complete_repeats(self.cells, [low, high])
        means = pair.groupby(["noise", "data", "method"])["error"].mean()
        if means.empty:
            return pd.DataFrame(columns=list(self.methods), dtype=float)
        rise = (means[high] - means[low]).unstack("method")
        return rise.reindex(columns=list(self.methods))

    def top_shares(self) -> pd.DataFrame:
        """Share of cases in which a method is among the best n, for n = 1, 2, ..."""
        return share_of_top(self.cases)

    def compare(self, title: str) -> Comparison | None:
        """Ranks over data sets; None where there is nothing to compare."""
        n_sets, n_methods = self.sets.shape
        return Comparison.of(title, self.sets) if n_sets and n_methods > 1 else None

    def with_one_spl(self, choice: str) -> Outcomes:
        """The rivals, and one entry for the regularisers of SPLBoost.

        ``CHOSEN_SPL`` is in each draw the one of the least error in cross-validation,
        as one would choose. ``BEST_SPL`` is in each case the one of the least mean test
        error, which nobody can know and which favours SPLBoost.
        """
        own = [name for name in self.methods if name in SPL]
        rivals = [name for name in self.methods if name in RIVALS]
        spl = self.cells[self.cells["method"].isin(own)]
        if choice == BEST_SPL and own:
            best = self.cases[own].idxmin(axis=1).rename("best").reset_index()
            spl = spl.merge(best, on=["data", "noise"])
            spl = spl[spl["method"] == spl["best"]].drop(columns="best")
        elif own:
            order = spl["method"].map({name: k for k, name in enumerate(own)})
            known = spl["cv_error"].round(CV_DIGITS)
            spl = spl.assign(order=order, known=known).sort_values(["known", "order"])
            spl = spl.groupby(["data", "noise", "repeat"]).head(1)
            spl = spl.drop(columns=["order", "known"])
        others = self.cells[self.cells["method"].isin(rivals)]
        cells = pd.concat([others, spl.assign(method=choice)], ignore_index=True)
        names = (*rivals, choice) if own else tuple(rivals)
        return Outcomes(names, cells, self.noise)


def share_of_top(cases: pd.DataFrame) -> pd.DataFrame:
    """A row for each n, a column for each method."""
    places = np.arange(1, cases.shape[1] + 1)
    if not len(cases):
        return pd.DataFrame(np.nan, index=places, columns=cases.columns)
    # Who shares the first two places has rank 1.5, and is not among the best one.
    is_within = ranks(cases).to_numpy() <= places[:, None, None]
    return pd.DataFrame(is_within.mean(axis=1), index=places, columns=cases.columns)


def is_best(cases: pd.DataFrame, candidates: Sequence[str]) -> pd.Series:
    """In which cases one of the candidates errs less than all others."""
    rest = cases.columns.drop(list(candidates))
    best = cases[list(candidates)].min(axis=1)
    others = cases[rest].min(axis=1)
    return best.round(DIGITS) < others.round(DIGITS)
