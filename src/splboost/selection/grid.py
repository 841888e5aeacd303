"""The paces among which a search chooses."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from sklearn.base import clone

from splboost.pace import Hard, Pace, resolve_pace
from splboost.pace.scaled import Scaled

PLATEAUS = 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, math.inf
PAPER_AGES = tuple(1 + 0.5 * k for k in range(11))
PRESETS = {"plateau": ("plateau", PLATEAUS), "paper": ("age", PAPER_AGES)}


def make_paces(pace: Any, grid: Any) -> tuple[str, list[Any], list[Any]]:
    """What the grid is a grid of, its values, and the pace for each.

    Parameters
    ----------
    pace : that of the booster; says which regulariser, Hard where there is none
    grid : "plateau", "paper", numbers, paces, or None for the booster's own
    """
    if grid is None:
        return "pace", [pace], [pace]
    if isinstance(grid, str):
        if grid not in PRESETS:
            raise ValueError(
                f'grid={grid!r} is unknown; give "plateau", "paper", plateaus as '
                "numbers, paces, or None to keep the pace of the booster."
            )
        scale, values = PRESETS[grid]
        return scale, list(values), [_paced(pace, scale, each) for each in values]
    if not isinstance(grid, Iterable):
        raise TypeError(
            f"grid={grid!r} is no grid; give plateaus in a list, such as [2.0, 3.0]."
        )
    given = list(grid)
    if not given:
        raise ValueError("grid=[] is empty; give a plateau at least, such as [2.0].")
    if all(each is None or isinstance(each, Pace | str) for each in given):
        return "pace", given, [resolve_pace(each) for each in given]
    return "plateau", given, [_paced(pace, "plateau", each) for each in given]


def _paced(pace: Any, scale: str, value: float) -> Pace:
    """The regulariser of the booster at another age or plateau."""
    base = Hard() if pace is None else resolve_pace(pace)
    if not isinstance(base, Scaled):
        raise TypeError(
            f"pace={pace!r} has no {scale} to choose; give the booster a regulariser "
            "of splboost.pace, or a grid of paces."
        )
    other = "plateau" if scale == "age" else "age"
    paced: Pace = clone(base).set_params(**{other: None, scale: value})
    return resolve_pace(paced)  # type: ignore[return-value]
