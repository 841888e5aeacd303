"""What the audit benchmark has measured, as tables that may be compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from _audit_methods import METHODS
from _audit_work import Measures
from _results import PARTS, Results
from _robustness_data import GROUPS

from splboost.paper.statistics import by_set

FIGURES = [name for name in Measures._fields if name not in ("bins", "cuts")]
AS_THEY_ARE, ALL_RIGHT = "labels as they are", "right labels"
# What is done with the suspects, and where the error after it is stored
CLEANED = {"dropped": "error_dropped", "corrected": "error_corrected"}


def results_of(rows: Sequence[dict[str, Any]], noise: Iterable[str]) -> Results:
    """Those of finished cells."""
    finished = pd.DataFrame(rows)
    finished[FIGURES] = finished[FIGURES].astype(float)
    found, suspects, flipped = (
        finished[name] for name in ("found", "suspects", "flipped")
    )
    # Tests take less for better.
    finished["lost_precision"] = 1 - finished["average_precision"]
    finished["precision"] = found / suspects.where(suspects > 0)
    finished["recall"] = found / flipped.where(flipped > 0)
    finished["f1"] = 2 * found / (suspects + flipped).where(flipped > 0)
    finished["suspected"] = suspects / finished["rows"]
    return Results(finished, METHODS, noise, "lost_precision")


class Tally(NamedTuple):
    """Stated chances and what became of them, summed.

    Attributes
    ----------
    labels : how many
    stated, real : share of them that is wrong
    lowest : real share on the set where it is lowest
    """

    labels: float
    stated: float
    real: float
    lowest: float


def _tally(cells: pd.DataFrame) -> Tally:
    """Of ``labels``, ``stated`` and ``flipped`` by cell; each set counts the same."""
    sums = cells.groupby("data")[["labels", "stated", "flipped"]].sum()
    sums = sums[sums["labels"] > 0]
    if not len(sums):
        return Tally(0, np.nan, np.nan, np.nan)
    real = sums["flipped"] / sums["labels"]
    return Tally(
        float(sums["labels"].sum()),
        float((sums["stated"] / sums["labels"]).mean()),
        float(real.mean()),
        float(real.min()),
    )


def _judged(results: Results, method: str, group: str) -> pd.DataFrame:
    """Cells of wrong labels in a group of sets."""
    own = results.complete
    is_wrong = own["noise"].isin(results.wrong)
    of_group = own["data"].map(GROUPS) == group
    return own[is_wrong & of_group & (own["method"] == method)]


def _by_place(stored: pd.Series) -> list[np.ndarray]:
    """For each place of the stored lists, a row for each cell."""
    lists = [json.loads(each) for each in stored]
    return [np.array(each) for each in zip(*lists, strict=True)]


def tally_cuts(results: Results, method: str, group: str) -> list[Tally]:
    """For each precision that is asked for."""
    own = _judged(results, method, group)
    names = ["labels", "stated", "flipped"]
    tables = (pd.DataFrame(each, columns=names) for each in _by_place(own["cuts"]))
    return [_tally(table.assign(data=own["data"].to_numpy())) for table in tables]


def tally_bins(results: Results, method: str, group: str) -> list[Tally]:
    """For each tenth of the stated chance, where each cell counts the same.

    A set alone may have next to no label there, so there is no lowest.
    """
    own = _judged(results, method, group)
    tallies = []
    for labels, stated, flipped in (each.T for each in _by_place(own["bins"])):
        weight = 1 / own["rows"].to_numpy()
        n = float(labels @ weight)
        shares = (stated @ weight / n, flipped @ weight / n) if n else (np.nan, np.nan)
        tallies.append(Tally(float(labels.sum()), *map(float, shares), np.nan))
    return tallies


def tally_suspects(results: Results, method: str, group: str, level: str) -> Tally:
    """Of the method's own decision at one level."""
    own = _judged(results, method, group)
    own = own[own["noise"] == level]
    return _tally(
        pd.DataFrame(
            {
                "data": own["data"],
                "labels": own["suspects"],
                "stated": (own["stated_precision"] * own["suspects"]).fillna(0),
                "flipped": own["found"],
            }
        )
    )


def cleaned_errors(results: Results, part: str, level: str | None) -> pd.DataFrame:
    """Test errors by set, for what may be done with the labels.

    ``level`` is one of noise, or None for wrong labels of all levels.
    """
    own = results.averaged
    if level is not None:
        own = results.complete[results.complete["noise"] == level]
    own = own[own["data"].isin(PARTS[part])]

    def means(measure: str) -> pd.DataFrame:
        return by_set(own, measure, results.methods)

    first = results.methods[0]  # those without an audit are the same for all
    columns = {AS_THEY_ARE: means("error_raw")[first]}
    for done, measure in CLEANED.items():
        of_method = means(measure)
        for name in results.methods:
            columns[f"{name}: {done}"] = of_method[name]
    columns[ALL_RIGHT] = means("error_right")[first]
    return pd.DataFrame(columns)


def time_ratios(results: Results, yardstick: str) -> pd.DataFrame:
    """Times by set and method, as multiples of those of one method."""
    seconds = by_set(results.complete, "seconds", results.methods)
    return seconds.div(seconds[yardstick], axis=0)
