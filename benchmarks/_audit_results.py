"""What the audit benchmark has measured, as tables that may be compared."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from _audit_methods import (
    CLEANLAB,
    FIVE_FITS,
    FOREST,
    METHODS,
    OURS,
    QUICK_AUDIT,
    Measures,
)
from _long import PARTS, Results
from _long_data import GROUPS
from _long_page import level_name

from splboost.display.style import CLASS_COLOURS, FAINT, tint
from splboost.paper.figures import make_figure, tidy

FIGURES = [name for name in Measures._fields if name not in ("bins", "cuts")]
AS_THEY_ARE, ALL_RIGHT = "labels as they are", "right labels"
# What is done with the suspects, and where the error after it is stored
CLEANED = {"dropped": "error_dropped", "corrected": "error_corrected"}


def tabulate(finished: pd.DataFrame, noise: Iterable[str]) -> Results:
    """The results of finished cells."""
    finished = finished.copy()
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

    def means(measure: str) -> pd.DataFrame:
        return results.means(part, measure, level=level)

    first = results.methods[0]  # those without an audit are the same for all
    columns = {AS_THEY_ARE: means("error_raw")[first]}
    for done, measure in CLEANED.items():
        of_method = means(measure)
        for name in results.methods:
            columns[f"{name}: {done}"] = of_method[name]
    columns[ALL_RIGHT] = means("error_right")[first]
    return pd.DataFrame(columns)


# ---------------------------------------------------------------------------- picture

BLUE, ORANGE, GREEN, PURPLE, _, _, BRICK, _ = CLASS_COLOURS
LOOKS = {
    OURS: (BLUE, "-", "P"),
    QUICK_AUDIT: (tint(BLUE, 0.6), "--", "X"),
    CLEANLAB: (ORANGE, "-", "s"),
    FOREST: (GREEN, "-", "^"),
    FIVE_FITS: (BRICK, ":", "D"),
    "XGBoost": (PURPLE, ":", "v"),
}
FEWEST_LABELS = 30  # of a tenth that is drawn
WIDTH, HEIGHT = 10.0, 6.4


def save_picture(results: Results, path: Path) -> None:
    """A column of panels for each group of sets, in a PNG file."""
    groups = _groups(results)
    figure = make_figure(WIDTH, HEIGHT)
    panels = figure.subplots(2, len(groups), squeeze=False, sharey="row")
    for (above, below), (group, part) in zip(panels.T, groups.items(), strict=True):
        _draw_ranking(above, results, part)
        _draw_chances(below, results, group)
        above.set_title(part, fontsize=10)
    panels[0, 0].set_ylabel("average precision")
    panels[1, 0].set_ylabel("share that is wrong")
    lines = panels[0, 0].get_legend_handles_labels()
    figure.legend(
        *lines, loc="outside lower center", ncols=6, fontsize=8, frameon=False
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)


def _groups(results: Results) -> dict[str, str]:
    """The part of the sets that each group is, for groups that were measured."""
    there = {GROUPS[name] for name in results.complete["data"]}
    by_sets = {tuple(names): part for part, names in PARTS.items()}
    return {
        group: by_sets[tuple(name for name in GROUPS if GROUPS[name] == group)]
        for group in dict.fromkeys(GROUPS.values())
        if group in there
    }


def _look(method: str) -> dict[str, Any]:
    colour, dash, marker = LOOKS[method]
    return {
        "color": colour,
        "linestyle": dash,
        "marker": marker,
        "markersize": 5,
        "markeredgewidth": 0,
        "linewidth": 1.8 if method == OURS else 1.3,
    }


def _draw_ranking(axes: Any, results: Results, part: str) -> None:
    """Symmetric noise is joined by lines; other noise stands beside it."""
    symmetric = [level for level in results.wrong if " " not in level]
    others = [level for level in results.wrong if " " in level]
    places = {level: k for k, level in enumerate([*symmetric, *others])}
    for method in results.methods:
        means = {
            level: results.means(part, "average_precision", level=level)[method].mean()
            for level in results.wrong
        }
        look = _look(method)
        own = [means[level] for level in symmetric]
        axes.plot([places[x] for x in symmetric], own, label=method, **look)
        alone = {**look, "linestyle": "none"}
        axes.plot([places[x] for x in others], [means[x] for x in others], **alone)
    names = [level_name(level).replace(" ", "\n") for level in places]
    axes.set_xticks(range(len(places)), names)
    axes.set_xlabel("wrong labels", fontsize=9)
    axes.margins(x=0.1)
    tidy(axes)


def _draw_chances(axes: Any, results: Results, group: str) -> None:
    """What is stated against what is real; equal on the faint line."""
    axes.plot([0, 1], [0, 1], color=FAINT, linewidth=0.8)
    for method in (OURS, QUICK_AUDIT):
        if method not in results.methods:
            continue
        tallies = tally_bins(results, method, group)
        drawn = [each for each in tallies if each.labels >= FEWEST_LABELS]
        stated, real = [t.stated for t in drawn], [t.real for t in drawn]
        axes.plot(stated, real, label=method, **_look(method))
    axes.set_xlabel("stated chance that a label is wrong", fontsize=9)
    axes.set(xlim=(0, 1), ylim=(0, 1))
    tidy(axes)
