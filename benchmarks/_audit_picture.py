"""How well wrong labels are found by noise, and how true the stated chances are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from _audit_methods import CLEANLAB, FIVE_FITS, FOREST, OURS, QUICK_AUDIT
from _audit_results import tally_bins
from _page import level_name
from _results import PARTS, Results
from _robustness_data import GROUPS

from splboost.display.style import CLASS_COLOURS, FAINT, tint
from splboost.paper.figures.looks import make_figure, tidy

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
            level: results.means_at(level, part, "average_precision")[method].mean()
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
