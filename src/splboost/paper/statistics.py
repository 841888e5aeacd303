"""Comparison of classifiers over data sets (Demšar, JMLR 7, 2006).

`Outcomes` takes from a table of results, which need not be complete, what may be
compared. There a *draw* is a data set, a level of noise and a repeat; a *cell*, a
method on a draw; a *case*, as the paper counts, a data set and a level of noise.
Methods are compared on the draws that all of them have finished.

The functions take tables with a row for each data set and a column for each method;
less is better. The data set is the unit: what noise levels, repeats or cells of one set
have to say is averaged first, since they are not independent of each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from splboost.datasets import UCI_CATALOGUE
from splboost.paper.protocol import PAPER, RIVALS, SPL

ALPHA = 0.05
NEEDED = "data", "noise", "repeat", "method", "error", "cv_error"  # columns
CHOSEN_SPL = "SPL, chosen by CV"
BEST_SPL = "SPL, best of four"
CV_DIGITS = 7  # errors of cross-validation that differ less are equal
DIGITS = 9  # what differs less is equal: means of the same figures differ by rounding


def fewest_sets(n_tests: int = 1) -> int:
    """Fewest data sets with which a signed-rank test can reach the level of 5%.

    If all n differences have one sign, the two-sided p is 2 / 2ⁿ, and Holm's correction
    takes as many times that as there are tests.

    Examples
    --------
    >>> [fewest_sets(n_tests) for n_tests in (1, 5, 8)]
    [6, 8, 9]
    """
    return math.floor(math.log2(2 * n_tests / ALPHA)) + 1


def complete_cells(table: pd.DataFrame, methods: Sequence[str]) -> pd.DataFrame:
    """Rows of each set, noise and repeat that every method has finished."""
    own = table[table["method"].isin(methods)]
    finished = own.groupby(["data", "noise", "repeat"])["method"].transform("nunique")
    return own[finished == len(methods)]


def complete_repeats(table: pd.DataFrame, noise: Sequence[Any]) -> pd.DataFrame:
    """Rows of each set and repeat that have every level of noise."""
    own = table[table["noise"].isin(noise)]
    levels = own.groupby(["data", "repeat"])["noise"].transform("nunique")
    return own[levels == len(noise)]


def mean_of(
    cells: pd.DataFrame, methods: Sequence[str], *keys: str, measure: str = "error"
) -> pd.DataFrame:
    """Mean of a measure for each method, over all cells that have the same keys."""
    means = cells.groupby([*keys, "method"])[measure].mean().unstack("method")
    return means.reindex(columns=list(methods))


def sets_of(cells: pd.DataFrame) -> list[str]:
    """Data sets that there are cells of, in the order of the catalogue."""
    place = {name: k for k, name in enumerate(UCI_CATALOGUE)}
    return sorted(set(cells["data"]), key=lambda name: (place.get(name, 99), name))


def span(counts: pd.Series) -> str:
    """Least and most of some counts, in words."""
    least, most = counts.min(), counts.max()
    return f"{most}" if least == most else f"{least} to {most}"


def ranks(means: pd.DataFrame) -> pd.DataFrame:
    """Rank of each method on each set, 1 for the best; equals share theirs."""
    rank = stats.rankdata(means.round(DIGITS), axis=1)
    return pd.DataFrame(rank, index=means.index, columns=means.columns)


def friedman(means: pd.DataFrame) -> float:
    """Probability of ranks as different as these if all methods were equal.

    By Iman and Davenport's F, since Friedman's own statistic is too cautious.
    """
    n_sets, n_methods = means.shape
    if n_methods < 3:
        return math.nan
    columns = means.round(DIGITS).to_numpy().T
    if np.ptp(columns, axis=0).max() == 0:
        return 1.0
    square, p = stats.friedmanchisquare(*columns)
    left = n_sets * (n_methods - 1) - square
    if left < 10**-DIGITS:  # all sets agree, and F is infinite
        return float(p)
    freedom = n_methods - 1, (n_methods - 1) * (n_sets - 1)
    return float(stats.f.sf((n_sets - 1) * square / left, *freedom))


def critical_difference(n_methods: int, n_sets: int) -> float:
    """Nemenyi's: mean ranks further apart than this differ, at the level of 5%."""
    q = stats.studentized_range.ppf(1 - ALPHA, n_methods, np.inf) / math.sqrt(2)
    return float(q * math.sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))


def holm(probabilities: np.ndarray) -> np.ndarray:
    """Probabilities adjusted for having tested all of them."""
    p = np.asarray(probabilities, dtype=float)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    steps = p[order] * np.arange(len(p), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def signed_rank(differences: np.ndarray, alternative: str = "two-sided") -> float:
    """Wilcoxon's test: probability if the differences were as often up as down.

    ``alternative="greater"`` asks only whether they are up.
    """
    rounded = np.round(differences, DIGITS)
    if not rounded.any():
        return 1.0
    return float(stats.wilcoxon(rounded, alternative=alternative).pvalue)


def wins_ties_losses(differences: np.ndarray) -> tuple[int, int, int]:
    """How often one of two has less than the other, as much, and more."""
    signs = np.sign(np.round(differences, DIGITS))
    return int((signs < 0).sum()), int((signs == 0).sum()), int((signs > 0).sum())


def interval(differences: np.ndarray) -> tuple[float, float]:
    """Where the mean lies with a confidence of 95%, by Student's t."""
    low, high = stats.ttest_1samp(differences, 0).confidence_interval(1 - ALPHA)
    return float(low), float(high)


def interval_over_sets(counts: pd.Series, repeats: int = 2000) -> tuple[float, float]:
    """Where a mean over cases lies with 95%, for other data sets of the same kind.

    By drawing the sets anew, with all the cases of each; ``counts`` has a value for
    each case, and the set in the level ``data`` of its index.
    """
    of_set = counts.groupby("data").agg(["sum", "size"]).to_numpy(dtype=float)
    rng = np.random.default_rng(0)
    drawn = of_set[rng.integers(len(of_set), size=(repeats, len(of_set)))].sum(axis=1)
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], [ALPHA / 2, 1 - ALPHA / 2])
    return float(low), float(high)


def against(means: pd.DataFrame, reference: str) -> pd.DataFrame:
    """The reference against each rival; negative differences are in its favour."""
    own, rows = means[reference].to_numpy(), []
    for rival in means.columns.drop(reference):
        difference = own - means[rival].to_numpy()
        wins, ties, losses = wins_ties_losses(difference)
        rows.append(
            {
                "rival": rival,
                "difference": float(difference.mean()),
                "median": float(np.median(difference)),
                "wins": wins,
                "ties": ties,
                "losses": losses,
                "p": signed_rank(difference),
            }
        )
    table = pd.DataFrame(rows)
    return table.assign(p_holm=holm(table["p"].to_numpy()))


# ----------------------------------------------------- what may be compared of a table


def check_results(
    results: pd.DataFrame, needed: Sequence[str] = NEEDED
) -> pd.DataFrame:
    """Check that a table has the columns of results, and return it."""
    missing = [name for name in needed if name not in getattr(results, "columns", ())]
    if missing:
        raise ValueError(
            f"results has no column {', '.join(map(repr, missing))}; give the table of "
            "the protocol, with a row for each finished cell."
        )
    return results


@dataclass(frozen=True)
class Outcomes:
    """Errors of some methods on the draws that all of them have finished."""

    methods: tuple[str, ...]
    cells: pd.DataFrame  # rows of the table of results
    noise: tuple[int, ...]  # levels that a data set must have to be averaged over them

    @classmethod
    def of(cls, results: pd.DataFrame, methods: Sequence[str] = PAPER) -> Outcomes:
        """Outcomes of those of the methods that the table has."""
        table = check_results(results)
        own = table[table["method"].isin(methods)]
        present = set(own["method"])
        names = tuple(name for name in methods if name in present)
        noise = tuple(sorted(set(own["noise"])))
        return cls(names, complete_cells(own, names), noise)

    @cached_property
    def cases(self) -> pd.DataFrame:
        """Mean errors over the repeats: a row for each set and level of noise."""
        return mean_of(self.cells, self.methods, "data", "noise")

    @cached_property
    def sets(self) -> pd.DataFrame:
        """Mean errors over noise and repeats: a row for each set that has all levels.

        Only repeats count that have every level.
        """
        whole = complete_repeats(self.cells, self.noise)
        return mean_of(whole, self.methods, "data")

    @cached_property
    def levels(self) -> pd.DataFrame:
        """Mean errors over sets: a row for each level of noise.

        Sets count alike, however many repeats they have.
        """
        whole = complete_repeats(self.cells, self.noise)
        return mean_of(whole, self.methods, "noise", "data").groupby("noise").mean()

    def at(self, noise: Iterable[int]) -> Outcomes:
        """The outcomes at some levels of noise."""
        levels = tuple(noise)
        cells = self.cells[self.cells["noise"].isin(levels)]
        return Outcomes(self.methods, cells, levels)

    def rises(self, low: int, high: int) -> pd.DataFrame:
        """Rise of the errors from one level of noise to another, by set."""
        pair = complete_repeats(self.cells, [low, high])
        means = mean_of(pair, self.methods, "noise", "data")
        return means if means.empty else means.loc[high] - means.loc[low]

    def top_shares(self) -> pd.DataFrame:
        """Share of cases in which a method is among the best n, for n = 1, 2, ...

        A row for each n, a column for each method.
        """
        places = np.arange(1, self.cases.shape[1] + 1)
        # Who shares the first two places has rank 1.5, and is not among the best one.
        is_within = ranks(self.cases).to_numpy() <= places[:, None, None]
        shares = is_within.mean(axis=1)
        return pd.DataFrame(shares, index=places, columns=self.cases.columns)

    def with_one_spl(self, choice: str) -> Outcomes:
        """Replace the regularisers of SPLBoost by one entry beside the rivals.

        ``CHOSEN_SPL`` is in each draw the one of the least error in cross-validation,
        as one would choose. ``BEST_SPL`` is in each case the one of the least mean test
        error, which nobody can know and which favours SPLBoost.
        """
        own = [name for name in self.methods if name in SPL]
        rivals = [name for name in self.methods if name in RIVALS]
        others = self.cells[self.cells["method"].isin(rivals)]
        if not own:
            return Outcomes(tuple(rivals), others, self.noise)
        spl = self.cells[self.cells["method"].isin(own)]
        if choice == BEST_SPL:
            best = self.cases[own].idxmin(axis=1).rename("best").reset_index()
            spl = spl.merge(best, on=["data", "noise"])
            spl = spl[spl["method"] == spl["best"]]
        else:
            order = spl["method"].map(own.index)
            known = spl["cv_error"].round(CV_DIGITS)
            spl = spl.assign(order=order, known=known).sort_values(["known", "order"])
            spl = spl.drop_duplicates(["data", "noise", "repeat"])
        cells = pd.concat([others, spl.assign(method=choice)], ignore_index=True)
        return Outcomes((*rivals, choice), cells[others.columns], self.noise)


def is_best(cases: pd.DataFrame, candidates: Sequence[str]) -> pd.Series:
    """Cases in which one of the candidates has fewer errors than all others."""
    rest = cases.columns.drop(list(candidates))
    best = cases[list(candidates)].min(axis=1)
    others = cases[rest].min(axis=1)
    return best.round(DIGITS) < others.round(DIGITS)
