"""How the paper's methods look in all pictures."""

from __future__ import annotations

from typing import Any

from splboost.display.style import CLASS_COLOURS, FAINT, INK, import_pyplot, tint
from splboost.paper.statistics import BEST_SPL, CHOSEN_SPL

BLUE, ORANGE, GREEN, PURPLE, _, _, BRICK, _ = CLASS_COLOURS
# Colour and its strength, dash, marker. One hue for all of SPLBoost, whose entries
# dashes and markers tell apart.
LOOKS = {
    "AdaBoost": (INK, 1.0, "-", "o"),
    "LogitBoost": (ORANGE, 1.0, "-", "s"),
    "SavageBoost": (GREEN, 1.0, "-", "^"),
    "RBoost": (PURPLE, 1.0, "-", "v"),
    "RobustBoost": (BRICK, 1.0, "-", "D"),
    "SPL hard": (BLUE, 1.0, "-", "P"),
    "SPL linear": (BLUE, 0.8, "--", "X"),
    "SPL lower convex": (BLUE, 0.65, "-.", "<"),
    "SPL upper convex": (BLUE, 0.5, ":", ">"),
    CHOSEN_SPL: (BLUE, 1.0, "-", "*"),
    BEST_SPL: (BLUE, 1.0, "-", "*"),
}


def make_figure(width: float, height: float, **spacing: float) -> Any:
    """An empty figure of so many inches, which no window shows."""
    import_pyplot()  # its error says how to get matplotlib
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    figure.set_layout_engine("constrained", **spacing)
    return figure


def look_of(method: str) -> dict[str, Any]:
    """Colour, dash and marker of a method's line."""
    colour, strength, dash, marker = LOOKS[method]
    return {
        "color": tint(colour, strength),
        "linestyle": dash,
        "marker": marker,
        "linewidth": 1.8 if colour == BLUE else 1.3,
        "markersize": 8 if marker == "*" else 4,
        "markeredgewidth": 0,
    }


def tidy(axes: Any) -> None:
    """A frame of two sides, and a faint grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=tint(FAINT, 0.35), linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8)
