"""Bags of rows: what a model is fitted on, and what is left to judge it by."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import column_or_1d

from splboost._data.labels import (
    check_labels,
    read_target,
    refuse_masked,
    warn_of_many_classes,
)
from splboost._data.table import is_missing, refuse_rounded
from splboost._tools.wording import counted


class StratifiedBags:
    """Random parts of the rows, with the same share of every class.

    A splitter as those of scikit-learn: each split gives the rows of a bag and the rows
    out of it. All rows of a class are out of as many bags, give or take one. A class of
    one row is in every bag, so that none lacks it; it is never out of bag then.

    Parameters
    ----------
    n_bags : int, default=20
    share : float in (0, 1), default=0.5
        Share of the rows of each class that a bag gets; with groups, of the groups.
    random_state : int, RandomState or None, default=None

    Examples
    --------
    >>> import numpy as np
    >>> from splboost.selection import StratifiedBags
    >>> y = np.array(["a"] * 6 + ["b"] * 2)
    >>> for bag, rest in StratifiedBags(2, random_state=0).split(y, y):
    ...     print(y[bag].tolist(), y[rest].tolist())
    ['a', 'a', 'a', 'b'] ['a', 'a', 'a', 'b']
    ['a', 'a', 'a', 'b'] ['a', 'a', 'a', 'b']
    """

    def __init__(
        self, n_bags: int = 20, *, share: float = 0.5, random_state: Any = None
    ) -> None:
        self.n_bags = n_bags
        self.share = share
        self.random_state = random_state

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.n_bags!r}, share={self.share!r}, "
            f"random_state={self.random_state!r})"
        )

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of bags."""
        return self.n_bags

    def split(
        self, X: Any, y: ArrayLike, groups: ArrayLike | None = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Rows of each bag and rows out of it.

        Parameters
        ----------
        X : ignored
        y : array-like of shape (n_samples,)
            Class labels.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group are in a bag together or not at all.

        Yields
        ------
        bag, rest : arrays of row numbers
        """
        if y is None:
            raise ValueError("y is None; give class labels, by which rows are drawn.")
        y = read_target(y)
        check_labels(y)
        warn_of_many_classes(np.unique(y).size, y.size)
        for inside in draw_bags(
            y, groups, self.n_bags, self.share, check_random_state(self.random_state)
        ):
            yield np.flatnonzero(inside), np.flatnonzero(~inside)


def draw_bags(
    y: ArrayLike,
    groups: ArrayLike | None,
    n_bags: int,
    share: float,
    rng: np.random.RandomState,
) -> NDArray[np.bool_]:
    """Mask of the rows in each bag, as an array of shape (n_bags, n_samples)."""
    if not isinstance(n_bags, Integral) or isinstance(n_bags, bool) or n_bags < 1:
        raise ValueError(f"n_bags={n_bags!r} must be a whole number from 1 on.")
    if not isinstance(share, Real) or not 0 < share < 1:
        raise ValueError(
            f"share={share!r} must be above 0 and below 1: a bag needs rows, and some "
            "have to be left to judge it by."
        )
    y = column_or_1d(y)
    if y.size == 0:
        raise ValueError("y is empty; give a label for each row.")
    codes = np.unique(y, return_inverse=True)[1]
    if groups is None:
        units, of_row = np.arange(codes.size), np.arange(codes.size)
        class_of_unit = codes
    else:
        of_row = check_groups(groups, codes.size)
        units = np.arange(of_row.max() + 1)
        class_of_unit = _class_of_groups(codes, of_row, units.size)
    inside = np.zeros((n_bags, units.size), dtype=bool)
    for k in np.unique(class_of_unit):
        members = np.flatnonzero(class_of_unit == k)
        size = max(1, round(share * members.size))
        if members.size > 1:
            size = min(size, members.size - 1)
        inside[:, members] = True
        for bag, out in zip(
            inside, _deal(members, members.size - size, n_bags, rng), strict=True
        ):
            bag[out] = False
    if inside.all():
        if groups is None:
            raise ValueError(
                "y has one row of each class only (of positive weight), which is in "
                "every bag, so that none is left to judge by; give more rows."
            )
        few = "one group" if units.size == 1 else "one group of each class"
        raise ValueError(
            f"groups has {few} only, which is in every bag, so that no row is left to "
            "judge by; give more groups."
        )
    return inside[:, of_row]


def _deal(
    members: NDArray[np.intp], n_out: int, n_bags: int, rng: np.random.RandomState
) -> Iterator[NDArray[np.intp]]:
    """Who is out of each bag: one after the other, as from a shuffled pack of cards.

    At its end all are shuffled anew; those who are out of this bag already go to the
    end of the new pack.
    """
    pack = rng.permutation(members)
    for _ in range(n_bags):
        if pack.size < n_out:
            fresh = rng.permutation(members)
            again = np.isin(fresh, pack)
            pack = np.concatenate([pack, fresh[~again], fresh[again]])
        yield pack[:n_out]
        pack = pack[n_out:]


def check_groups(groups: Any, n_rows: int) -> NDArray[np.intp]:
    """The number of each row's group."""
    if isinstance(groups, np.ma.MaskedArray):
        refuse_masked(groups, "groups")
    given = np.asarray(groups)
    refuse_rounded(given, "groups")
    if given.shape != (n_rows,):
        raise ValueError(
            f"groups is of shape {given.shape} for {counted(n_rows, 'row')}; give a "
            "group for each row."
        )
    if any(is_missing(group) for group in given.tolist()):
        raise ValueError(
            "groups has missing entries; give every row a group, be it of its own."
        )
    number: dict[Any, int] = {}  # in the order in which they come, whatever their names
    return np.array([number.setdefault(each, len(number)) for each in given.tolist()])


def _class_of_groups(
    codes: NDArray[np.intp], of_row: NDArray[np.intp], n_groups: int
) -> NDArray[np.intp]:
    """The class to which a group is counted: the rarest among its rows."""
    n_classes = int(codes.max()) + 1
    counts = np.zeros((n_groups, n_classes))
    np.add.at(counts, (of_row, codes), 1)
    total = counts.sum(axis=0)
    return np.where(counts > 0, total, np.inf).argmin(axis=1)
