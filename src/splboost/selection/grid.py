"""What a search chooses among: the booster that it is given, paces and depths."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, NamedTuple

from sklearn.base import clone

from splboost._tools.threads import count_threads
from splboost._tools.user_warnings import restate
from splboost.boosting.booster import BaseBooster
from splboost.boosting.parameters import check_parameters
from splboost.boosting.validation import find_scorer
from splboost.boosting.weak_learner import is_own_tree
from splboost.pace import Hard, Pace, resolve_pace
from splboost.pace.regularisers import Scaled

PLATEAUS = 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, math.inf
PAPER_AGES = tuple(1 + 0.5 * k for k in range(11))
PRESETS = {"plateau": ("plateau", PLATEAUS), "paper": ("age", PAPER_AGES)}


class Grid(NamedTuple):
    """What is to be compared.

    Attributes
    ----------
    scale : "plateau", "age" or "pace"
    values : numbers on that scale, or the paces as they were given
    paces : the pace for each of them
    """

    scale: str
    values: list[Any]
    paces: list[Any]


def make_grid(pace: Any, given: Any, argument: str) -> Grid:
    """The grid that an argument stands for.

    Parameters
    ----------
    pace : that of the booster; says which regulariser, Hard where there is none
    given : "plateau", "paper", numbers, paces, None for the booster's own; or a Grid
    argument : its name, for errors
    """
    if isinstance(given, Grid):
        return given
    if given is None:
        return Grid("pace", [pace], [pace])
    if isinstance(given, str):
        if given not in PRESETS:
            raise ValueError(
                f'{argument}={given!r} is unknown; give "plateau", "paper", plateaus '
                "as numbers, paces, or None to keep the pace of the booster."
            )
        scale, numbers = PRESETS[given]
        base = _scaled(pace, scale)
        return Grid(scale, [*numbers], [_at(base, scale, each) for each in numbers])
    if isinstance(given, Mapping):
        raise TypeError(
            f"{argument}={given!r} is a single pace, by class; put it into a list."
        )
    if not isinstance(given, Iterable):
        raise TypeError(
            f"{argument}={given!r} is no grid; give plateaus in a list, such as "
            "[2.0, 3.0]."
        )
    values = list(given)
    if not values:
        raise ValueError(
            f"{argument}={given!r} is empty; give a plateau at least, such as [2.0]."
        )
    if all(isinstance(each, Real) for each in values):
        base = _scaled(pace, "plateau")
        with _blaming(argument, given):
            paces = [_at(base, "plateau", each) for each in values]
        return Grid("plateau", values, paces)
    if any(isinstance(each, Real) for each in values):
        raise TypeError(
            f"{argument}={given!r} mixes plateaus and paces; give numbers or paces. "
            "The plain booster is the plateau inf, or the pace None."
        )
    with _blaming(argument, given):
        return Grid("pace", values, [_checked(each) for each in values])


@contextmanager
def _blaming(argument: str, given: Any) -> Iterator[None]:
    """Name the argument in errors that speak of one of its entries."""
    try:
        yield
    except (TypeError, ValueError) as why:
        raise restate(why, f"{argument}={given!r} will not do: {why}") from None


def _checked(pace: Any) -> Any:
    """A pace, a short name as the pace that it stands for; a dict as it is."""
    if not isinstance(pace, dict):
        return resolve_pace(pace)
    return {label: resolve_pace(of_class) for label, of_class in pace.items()}


def _scaled(pace: Any, scale: str) -> Scaled:
    """The regulariser of the booster, of which there are several ages or plateaus."""
    base = pace
    if not isinstance(pace, dict):
        base = Hard() if pace is None else resolve_pace(pace)
    if not isinstance(base, Scaled):
        raise TypeError(
            f"pace={pace!r} of the booster has no {scale} to choose; give the booster "
            "a regulariser of splboost.pace, or a grid of paces."
        )
    return base


def _at(base: Scaled, scale: str, value: Any) -> Pace:
    """A regulariser at another age or plateau."""
    other = "plateau" if scale == "age" else "age"
    paced: Pace = clone(base).set_params(**{other: None, scale: value})
    return resolve_pace(paced)  # type: ignore[return-value]


def check_booster(booster: Any, grid: Any) -> None:
    """Refuse what is no booster of this library, takes no pace, or could not be fitted.

    Some of its parameters do nothing before it is fitted to all data in the end.
    """
    if not isinstance(booster, BaseBooster):
        raise TypeError(
            f"booster={booster!r} is no booster of splboost; give one, such as "
            "SPLBoostClassifier(), or use GridSearchCV of scikit-learn."
        )
    if grid is not None and "pace" not in booster.get_params(deep=False):
        raise ValueError(
            f"booster={booster!r} takes no pace, so there is none to choose; set the "
            "grid of paces to None (grid=None, or plateaus=None in spl_path) to choose "
            "rounds and depth alone."
        )
    if booster.n_iter_no_change is not None:
        raise ValueError(
            f"n_iter_no_change={booster.n_iter_no_change} of the booster would stop "
            "rounds that are to be judged; set it to None."
        )
    check_parameters(booster)
    count_threads(booster.n_jobs)
    find_scorer(booster.scoring)


def check_depths(booster: Any, depths: Any) -> list[int | None]:
    """The depths as a list; [None] where they are left alone."""
    if depths is None:
        return [None]
    chosen = list(depths) if isinstance(depths, Iterable) else [depths]
    if not chosen or not all(map(_is_depth, chosen)):
        raise ValueError(
            f"depths={depths!r} must be whole numbers from 1 on, such as (1, 2, 3); "
            "None leaves the trees as they are."
        )
    if not is_own_tree(booster._weak_learner()):
        raise ValueError(
            f"depths={depths!r}, but the weak learner {booster._weak_learner()!r} is "
            "no tree of splboost; set depths=None."
        )
    return [int(d) for d in chosen]


def _is_depth(given: Any) -> bool:
    is_whole = isinstance(given, Integral) and not isinstance(given, bool)
    return is_whole and int(given) >= 1
