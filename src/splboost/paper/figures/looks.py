"""How the paper's methods look in all pictures."""

from __future__ import annotations

from typing import Any

from splboost.display.style import CLASS_COLOURS, FAINT, INK, tint
from splboost.paper.names import RIVALS, SPL
from splboost.paper.outcomes import BEST_SPL, CHOSEN_SPL

BLUE, ORANGE, GREEN, PURPLE, _, _, BRICK, _ = CLASS_COLOURS
RIVAL_LOOKS = zip(
    RIVALS, (INK, ORANGE, GREEN, PURPLE, BRICK), ("o", "s", "^", "v", "D"), strict=True
)
SPL_LOOKS = zip(
    SPL,
    (1.0, 0.8, 0.65, 0.5),
    ("-", "--", "-.", ":"),
    ("P", "X", "<", ">"),
    strict=True,
)
# One hue for all of SPLBoost, which dashes and markers tell apart.
LOOKS: dict[str, dict[str, Any]] = {
    **{
        name: {"color": colour, "linestyle": "-", "marker": marker}
        for name, colour, marker in RIVAL_LOOKS
    },
    **{
        name: {"color": tint(BLUE, strength), "linestyle": dash, "marker": marker}
        for name, strength, dash, marker in SPL_LOOKS
    },
    CHOSEN_SPL: {"color": BLUE, "linestyle": "-", "marker": "P"},
    BEST_SPL: {"color": BLUE, "linestyle": "-", "marker": "P"},
}


def look_of(method: str) -> dict[str, Any]:
    """Colour, dash and marker of a line."""
    own = LOOKS.get(method, {"color": FAINT, "linestyle": "-", "marker": "."})
    weight = 1.8 if method.startswith("SPL") else 1.3
    return {**own, "linewidth": weight, "markersize": 4, "markeredgewidth": 0}


def tidy(axes: Any) -> None:
    """A frame of two sides, and a faint grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=tint(FAINT, 0.35), linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8)
