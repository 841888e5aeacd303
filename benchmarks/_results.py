"""What a long benchmark has measured, as tables that may be compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd
from _robustness_data import CHOSEN_ON, CLEAN, GENERATED, GROUPS, NOISE, UNUSED
from _robustness_methods import Method

from splboost.paper.statistics import (
    Comparison,
    by_set,
    complete_cells,
    complete_repeats,
)

PARTS = {
    "all data sets": [name for name in GROUPS if GROUPS[name] != GENERATED],
    "unused sets": [name for name in GROUPS if GROUPS[name] == UNUSED],
    # Its distribution is that of a generator that defaults were chosen on.
    "unused sets but twonorm": [
        name for name in GROUPS if GROUPS[name] == UNUSED and name != "twonorm"
    ],
    "sets that defaults were chosen on": [
        name for name in GROUPS if GROUPS[name] == CHOSEN_ON
    ],
    "generators": [name for name in GROUPS if GROUPS[name] == GENERATED],
}


class Results:
    """Finished cells, and those of them that every compared method has finished.

    Parameters
    ----------
    finished : a row for each cell
    methods : by name, the one of interest first
    noise : levels of the benchmark
    main_measure : the column that matters most; less is better
    """

    def __init__(
        self,
        finished: pd.DataFrame,
        methods: Mapping[str, Method],
        noise: Iterable[str],
        main_measure: str,
    ) -> None:
        self.finished = finished
        self.methods = [m for m in methods if m in set(finished["method"])]
        # A variant of a method is next to it in every rank, and would push others away.
        self.ranked = [m for m in self.methods if methods[m].variant_of is None]
        self.reference = self.methods[0]
        self.noise = [level for level in NOISE if level in set(noise)]
        self.wrong = [level for level in self.noise if level != CLEAN]
        self.complete = complete_cells(finished, self.methods, repeat="seed")
        self.averaged = complete_repeats(self.complete, self.wrong, repeat="seed")
        self.main_measure = main_measure

    def _means(
        self, table: pd.DataFrame, part: str, measure: str | None
    ) -> pd.DataFrame:
        own = table[table["data"].isin(PARTS[part])]
        return by_set(own, measure or self.main_measure, self.methods)

    def means(self, part: str, measure: str | None = None) -> pd.DataFrame:
        """By set and method, over wrong labels of all levels and repeats."""
        return self._means(self.averaged, part, measure)

    def means_at(
        self, level: str, part: str, measure: str | None = None
    ) -> pd.DataFrame:
        """By set and method, at one level."""
        own = self.complete[self.complete["noise"] == level]
        return self._means(own, part, measure)

    def cells(self, part: str) -> pd.DataFrame:
        """By method, a row for each set, level of wrong labels and seed."""
        own = self.averaged[self.averaged["data"].isin(PARTS[part])]
        keys = ["data", "noise", "seed"]
        return own.pivot(index=keys, columns="method", values=self.main_measure)

    def parts(self) -> list[str]:
        """Those that have a complete repeat."""
        return [part for part in PARTS if len(self.means(part))]

    def compare(self, part: str, measure: str | None = None) -> Comparison:
        """Of all methods but variants of others."""
        return Comparison.of(part, self.means(part, measure)[self.ranked])


def summary(results: Results, measures: Sequence[str]) -> pd.DataFrame:
    """One row for each set, noise and method: means over seeds, and how many."""
    keys = ["data", "noise", "method"]
    grouped = results.finished.groupby(keys)
    table = grouped[list(measures)].mean()
    table.insert(0, "seeds", grouped["seed"].nunique())
    ordered = [*GROUPS, *NOISE, *results.methods]
    position = {name: k for k, name in enumerate(ordered)}
    table = table.reset_index().sort_values(
        keys, key=lambda column: column.map(position)
    )
    table.insert(1, "group", table["data"].map(GROUPS))
    return table
