"""Bags: shares by class, no class lacking, no group divided."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.model_selection import check_cv, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from splboost.selection import StratifiedBags

# Of four labels two are equal, so that bags leave something out.
labels = st.lists(st.sampled_from("aaabbc"), min_size=4, max_size=40).map(np.array)
shares = st.floats(0.05, 0.95)


def bags(y, groups=None, **options):
    options = {"n_bags": 4, "random_state": 0} | options
    return list(StratifiedBags(**options).split(None, y, groups))


def test_groups_are_the_same_whatever_they_are_called():
    y, number = np.arange(48) % 2, np.arange(48) // 4
    expected = bags(y, number)
    for names in (-number, number.astype(str), pd.Series(number).astype("category")):
        for (bag, _), (same, _) in zip(expected, bags(y, names), strict=True):
            np.testing.assert_array_equal(bag, same)


@settings(max_examples=60)
@given(labels, shares, st.integers(0, 99))
def test_every_class_has_its_share(y, share, seed):
    for bag, rest in bags(y, share=share, random_state=seed):
        np.testing.assert_array_equal(np.sort(np.r_[bag, rest]), np.arange(y.size))
        assert np.all(np.diff(bag) > 0) and np.all(np.diff(rest) > 0)
        for label in np.unique(y):
            n, n_inside = np.sum(y == label), np.sum(y[bag] == label)
            assert n_inside >= 1
            if n == 1:
                continue
            assert n_inside <= n - 1  # some are left to judge by
            assert abs(n_inside - share * n) <= 0.5 or n_inside in (1, n - 1)


@settings(max_examples=60)
@given(st.data(), labels, shares, st.integers(0, 99))
def test_groups_stay_together(data, y, share, seed):
    numbers = st.integers(0, max(1, y.size // 3))
    groups = np.array(data.draw(st.lists(numbers, min_size=y.size, max_size=y.size)))
    n_groups = len(np.unique(groups))
    assume(n_groups > 3)  # of four groups two are of one class
    for bag, rest in bags(y, groups, share=share, random_state=seed):
        inside, outside = set(groups[bag]), set(groups[rest])
        assert not inside & outside
        assert len(inside) + len(outside) == n_groups
        assert inside


def test_shares_of_groups():
    """A group counts to the rarest class among its rows, here to its own."""
    groups = np.repeat(np.arange(12), 3)
    y = np.where(groups < 4, "rare", "common")
    for bag, _ in bags(y, groups, share=0.5):
        inside = np.unique(groups[bag])
        assert (inside < 4).sum() == 2 and (inside >= 4).sum() == 4


def test_the_rarest_class_of_a_group_counts():
    """Two groups have a row of the rare class: each bag has one of them."""
    groups = np.repeat(np.arange(10), 4)
    y = np.zeros(40, dtype=int)
    y[[0, 4]] = 1
    for bag, rest in bags(y, groups, n_bags=20):
        assert y[bag].sum() == y[rest].sum() == 1


def test_a_class_of_one_row_or_one_group_is_in_each_bag():
    y = np.array([0] * 10 + [1])
    assert all(10 in bag for bag, _ in bags(y, n_bags=20, share=0.1))
    groups = np.r_[np.arange(10) // 2, 9]
    assert all(10 in bag for bag, _ in bags(y, groups, n_bags=20, share=0.1))


def test_bags_differ_and_follow_the_seed():
    y = np.tile([0, 1], 20)
    first, again, other = (
        [tuple(bag) for bag, _ in bags(y, n_bags=5, random_state=seed)]
        for seed in (0, 0, 1)
    )
    assert first == again != other
    assert len(set(first)) == 5
    counts = np.bincount(np.concatenate([bag for bag, _ in bags(y, n_bags=400)]))
    assert abs(counts - 200).max() < 60  # six standard deviations


@pytest.mark.parametrize("make", [list, pd.Series, pl.Series, np.array])
def test_kinds_of_labels_and_groups(make):
    y, groups = ["a", "b"] * 8, list(range(8)) * 2
    for bag, rest in bags(make(y), make(groups)):
        assert bag.size == rest.size == 8


def test_it_is_a_splitter():
    splitter = StratifiedBags(6, share=0.4, random_state=0)
    assert check_cv(splitter) is splitter
    assert splitter.get_n_splits() == 6
    assert repr(splitter) == "StratifiedBags(6, share=0.4, random_state=0)"
    assert StratifiedBags().get_n_splits() == 20
    X = np.arange(40.0)[:, None]
    scores = cross_val_score(DecisionTreeClassifier(), X, X[:, 0] > 19, cv=splitter)
    assert scores.shape == (6,)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.5, 2, "half", None, float("nan")])
def test_a_bad_share(share):
    with pytest.raises(ValueError, match=r"share=.* must be above 0 and below 1"):
        bags([0, 1], share=share)


@pytest.mark.parametrize("n_bags", [0, -1, 2.0, True, "3", None])
def test_a_bad_number(n_bags):
    with pytest.raises(ValueError, match=r"n_bags=.* must be a whole number from 1 on"):
        bags([0, 1], n_bags=n_bags)


def test_bad_labels_and_groups():
    with pytest.raises(ValueError, match=r"groups is of shape \(3,\) for 2 rows"):
        bags([0, 1], [1, 2, 3])
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        bags(np.linspace(0, 1, 9))
    with pytest.raises(ValueError, match="y is empty"):
        bags([])
    with pytest.raises(ValueError, match="y is None; give class labels"):
        bags(None)
    message = "groups has one group only, .* every bag.* give more groups"
    with pytest.raises(ValueError, match=message):
        bags([0, 1, 0, 1], np.zeros(4))
    message = "groups has one group of each class only, .* every bag.* give more groups"
    with pytest.raises(ValueError, match=message):
        bags([0, 1, 0, 1], [0, 1, 0, 1])
    with pytest.raises(
        ValueError, match=r"y has one row of each class only.* more row"
    ):
        bags([0, 1])
