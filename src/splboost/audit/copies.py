"""Rows that occur more than once: a copy of a wrong label must not vouch for it.

Where records were copied together with their labels, a copy says nothing new, and must
not be among the rows by which the other is judged. Where equal rows were labelled one
by one, each of these labels is the best evidence on the others. Which of the two it is,
the labels tell: those that were copied agree.

A row is among those by which another is judged, or it is not, and labels come about in
one way for all rows: so there is a limit, and nothing between. It matters little just
there. Where labels were copied and one in twenty changed later, the worst are ranked as
well either way; labels that were made one by one lose something below it, for they are
then judged by other rows alone, but differ so seldom that few of them are wrong.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

MOST_DIFFER = 0.05  # of different rows with copies, if labels were copied as well
MOST_COPIES = (
    10  # of a row, in the mean over a class; more are columns that tell little
)
FEWEST = 5  # different rows of a class, without which there is nothing to judge it by


def join_copies(
    like: NDArray[np.intp],
    codes: NDArray[np.integer],
    groups: NDArray[np.intp] | None = None,
) -> NDArray[np.intp] | None:
    """Groups of rows that must not judge each other; None if each is on its own.

    Parameters
    ----------
    like : a number for each row; equal rows have the same
    codes : class of each row's label
    groups : number of each row's group, where there are groups already: two of them
        become one where they share a row

    Examples
    --------
    >>> import numpy as np
    >>> like = np.array([0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    >>> codes = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    >>> join_copies(like, codes).tolist()
    [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    >>> codes[1] = 1  # labelled one by one
    >>> join_copies(like, codes) is None
    True
    """
    joined = _copied(like, codes)
    if joined is None:
        return groups
    if groups is None:
        return joined
    return _connect(joined, groups)


def _copied(
    like: NDArray[np.intp], codes: NDArray[np.integer]
) -> NDArray[np.intp] | None:
    """A number for each row, the same for copies; None if none were copied."""
    n_copies = np.bincount(like)
    has_copies = n_copies > 1
    if not has_copies.any():
        return None
    one_of = np.empty(n_copies.size, dtype=codes.dtype)
    one_of[like] = codes
    differs = np.bincount(like, codes != one_of[like]) > 0
    if differs[has_copies].mean() > MOST_DIFFER:
        return None
    of_class = np.bincount(codes)
    n_different = np.bincount(one_of, ~differs, minlength=of_class.size)
    enough = np.maximum(FEWEST, of_class / MOST_COPIES)
    is_copied = has_copies & ~differs & (n_different >= enough)[one_of]
    if not is_copied.any():
        return None
    # Rows on their own get numbers beyond those of the copied.
    own = np.where(is_copied[like], like, n_copies.size + np.arange(like.size))
    return np.unique(own, return_inverse=True)[1]


def _connect(first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.intp]:
    """Rows are together if they are so in one of the two, or by way of others."""
    n_first, n_second = int(first.max()) + 1, int(second.max()) + 1
    size = n_first + n_second
    links = coo_array(
        (np.ones(first.size, dtype=bool), (first, n_first + second)), (size, size)
    )
    found: NDArray[np.intp] = connected_components(links, directed=False)[1]
    return found[first]
