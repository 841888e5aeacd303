"""The radix sort orders like a sort by comparisons, whatever the floats."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numba import njit

from splboost._tools import radix_sort as sort
from splboost._tools.radix_sort import sort_rows

NAN = np.nan
insert = njit(lambda keys, mass: sort.insert(keys, mass))


def sort_both(values, masses=None):
    """Sorted values and masses by the kernel."""
    values = np.array(values, dtype=np.float64)
    if masses is None:
        masses = np.empty((len(values), 0))
    values, masses = values.copy(), np.array(masses, dtype=np.float64)
    sort_rows(values, masses)
    return values, masses


def check(values):
    values = np.ascontiguousarray(values, dtype=np.float64)
    masses = np.arange(values.size, dtype=np.float64).reshape(values.shape)
    order = np.argsort(values, axis=1, kind="stable")
    wanted = np.take_along_axis(values, order, axis=1)
    np.testing.assert_array_equal(sort_both(values)[0], wanted)
    got, moved = sort_both(values, masses)
    np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(moved, np.take_along_axis(masses, order, axis=1))


# 0.0 and -0.0 are equal in a comparison but have an order here.
floats = st.floats(width=64).map(lambda x: x + 0.0 if x == 0 else x)
floats = floats.filter(lambda x: not (x == 0 and np.signbit(x)))


@settings(max_examples=300)
@given(
    arrays(
        np.float64, st.tuples(st.integers(1, 3), st.integers(0, 40)), elements=floats
    )
)
def test_any_floats(values):
    check(values)


CLOSE = 1 + np.random.default_rng(0).random(2000) * 1e-13
COLUMNS = {
    "normal": np.random.default_rng(1).normal(size=3000),
    "equal": np.full(50, 3.25),
    "few": np.random.default_rng(2).integers(-3, 4, size=500).astype(float) + 0.5,
    "times": 1.7e18 + np.random.default_rng(3).integers(0, 10**9, size=700),
    "close": CLOSE,
    "close with outliers": np.concatenate([CLOSE, [1e300, -1e300, NAN]]),
    "missing": np.full(9, NAN),
    "half missing": np.where(np.arange(99) % 2, NAN, -np.arange(99.0)),
    "infinite": np.array([np.inf, 1.0, -np.inf, NAN, -1.0]),
    "tiny": np.array([5e-324, -5e-324, 1e-310, 2.0]),
    "one": np.array([1.0]),
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS.keys())
def test_columns(column):
    check(column[None])


def test_rows_do_not_mix():
    values = np.random.default_rng(4).normal(size=(5, 200)) + np.arange(5)[:, None]
    check(values)


def test_insertion_gives_up_and_loses_nothing():
    """Cells that agree in their first bits, apart from an outlier, need all digits."""
    keys = np.arange(1000, dtype=np.uint64)[::-1].copy()
    assert not insert(keys, np.empty(0))
    assert sorted(keys) == list(range(1000))
    nearly = np.arange(1000, dtype=np.uint64)
    nearly[[10, 11]] = nearly[[11, 10]]
    mass = nearly.astype(float)
    assert insert(nearly, mass)
    assert nearly.tolist() == mass.tolist() == list(range(1000))


def test_first_bits_are_whole_digits():
    assert sort.FIRST_BITS % sort.DIGIT == 0
