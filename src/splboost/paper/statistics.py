"""Comparison of classifiers over data sets (Demšar, JMLR 7, 2006).

Tables have a row for each data set and a column for each method; less is better. The
data set is the unit: what noise levels, repeats or cells of one set have to say is
averaged first, since they are not independent of each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

ALPHA = 0.05
DIGITS = 9  # what differs less is equal: means of the same figures differ by rounding


def fewest_sets(n_tests: int = 1, alpha: float = ALPHA) -> int:
    """Data sets without which no signed-rank test can reach the level.

    If all n differences have one sign, the two-sided p is 2 / 2ⁿ, and Holm's correction
    takes as many times that as there are tests.

    Examples
    --------
    >>> [fewest_sets(n_tests) for n_tests in (1, 5, 8)]
    [6, 8, 9]
    """
    return math.floor(math.log2(2 * n_tests / alpha)) + 1


def complete_cells(
    table: pd.DataFrame, methods: Sequence[str], *, repeat: str = "repeat"
) -> pd.DataFrame:
    """The rows of those data, noise and repeat that every method has finished.

    ``repeat`` is the name of the column that numbers the repeats.
    """
    own = table[table["method"].isin(methods)]
    finished = own.groupby(["data", "noise", repeat])["method"].transform("nunique")
    return own[finished == len(methods)]


def complete_repeats(
    table: pd.DataFrame, noise: Sequence[Any], *, repeat: str = "repeat"
) -> pd.DataFrame:
    """Of complete cells, those of data and repeat that have every level of noise."""
    own = table[table["noise"].isin(noise)]
    levels = own.groupby(["data", repeat])["noise"].transform("nunique")
    return own[levels == len(noise)]


def by_set(table: pd.DataFrame, measure: str, methods: Sequence[str]) -> pd.DataFrame:
    """Mean of a measure for each data set and method, over all that is there."""
    means = table.groupby(["data", "method"])[measure].mean().unstack("method")
    return means.reindex(columns=methods)


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


def critical_difference(n_methods: int, n_sets: int, alpha: float = ALPHA) -> float:
    """Nemenyi's: mean ranks further apart than this differ, at the level alpha."""
    q = stats.studentized_range.ppf(1 - alpha, n_methods, np.inf) / math.sqrt(2)
    return float(q * math.sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))


def cliques(mean_ranks: pd.Series, difference: float) -> list[list[str]]:
    """Largest runs of methods whose mean ranks lie within the difference."""
    ordered = mean_ranks.sort_values(kind="stable")
    found: list[list[str]] = []
    for first, rank in ordered.items():
        within = ordered[(ordered >= rank) & (ordered <= rank + difference)]
        run = [first, *within.index.drop(first)]
        if len(run) > 1 and not (found and set(run) <= set(found[-1])):
            found.append(run)
    return found


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


def wins_ties_losses(reference: np.ndarray, rival: np.ndarray) -> tuple[int, int, int]:
    """How often the reference has less, as much, and more than the rival."""
    difference = np.round(np.asarray(reference) - np.asarray(rival), DIGITS)
    signs = np.sign(difference)
    return int((signs < 0).sum()), int((signs == 0).sum()), int((signs > 0).sum())


def interval(differences: np.ndarray) -> tuple[float, float]:
    """Where the mean lies with a confidence of 95%, by Student's t."""
    mean, error = np.mean(differences), stats.sem(differences)
    reach = error * stats.t.ppf(1 - ALPHA / 2, len(differences) - 1)
    return float(mean - reach), float(mean + reach)


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


def against(
    means: pd.DataFrame, reference: str, planned: Sequence[str] = ()
) -> pd.DataFrame:
    """The reference against each rival; negative differences are in its favour.

    Beside probabilities adjusted for all rivals are those for the ``planned`` ones
    alone, which were named beforehand; NaN for the others.
    """
    rows = []
    for rival in means.columns.drop(reference):
        own, other = means[reference].to_numpy(), means[rival].to_numpy()
        wins, ties, losses = wins_ties_losses(own, other)
        rows.append(
            {
                "rival": rival,
                "difference": float(np.mean(own - other)),
                "median": float(np.median(own - other)),
                "wins": wins,
                "ties": ties,
                "losses": losses,
                "p": signed_rank(own - other),
            }
        )
    table = pd.DataFrame(rows)
    table["p_holm"] = holm(table["p"].to_numpy())
    named = table["rival"].isin(planned)
    table["p_planned"] = np.nan
    table.loc[named, "p_planned"] = holm(table.loc[named, "p"].to_numpy())
    return table


def distance_from_best(means: pd.DataFrame) -> pd.DataFrame:
    """How far each method is from the best on each set."""
    return means.sub(means.min(axis=1), axis=0)


@dataclass(frozen=True)
class Comparison:
    """Ranks of the methods over some data sets, and whether they differ."""

    title: str
    mean_ranks: pd.Series
    n_sets: int
    friedman: float
    critical_difference: float

    @classmethod
    def of(cls, title: str, means: pd.DataFrame) -> Comparison:
        n_sets, n_methods = means.shape
        return cls(
            title,
            ranks(means).mean(),
            n_sets,
            friedman(means),
            critical_difference(n_methods, n_sets),
        )

    @property
    def is_testable(self) -> bool:
        return self.n_sets >= fewest_sets()
