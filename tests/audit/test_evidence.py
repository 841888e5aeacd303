"""Who may judge whom: copies of rows, groups and folds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from splboost.audit import LabelAudit, evidence
from splboost.audit.evidence import join_copies, make_folds
from splboost.datasets import flip_labels, make_gaussians

# A row, whether its label is an odd one, and its group
row = st.tuples(st.integers(0, 25), st.sampled_from([0] * 30 + [1]), st.integers(0, 12))
rows = st.lists(row, min_size=1, max_size=60)


def copied(like, codes):
    """The rule once more, by dictionaries: numbers of rows that were copied."""
    labels = {}
    for row, own in enumerate(like):
        labels.setdefault(own, []).append(codes[row])
    several = [own for own in labels.values() if len(own) > 1]
    differ = [own for own in several if len(set(own)) > 1]
    if not several or len(differ) > 0.05 * len(several):
        return set()
    found = set()
    for number, own in labels.items():
        if len(own) > 1 and len(set(own)) == 1:
            n_rows = sum(code == own[0] for code in codes)
            n_different = sum(set(each) == {own[0]} for each in labels.values())
            if n_different >= max(5, n_rows / 10):
                found.add(number)
    return found


@settings(max_examples=100)
@given(rows, st.booleans())
def test_groups_are_what_hangs_together(table, grouped):
    like, odd, groups = np.array(table).T
    codes = like % 2 ^ odd
    like = np.unique(like, return_inverse=True)[1]
    groups = np.unique(groups, return_inverse=True)[1]
    found = join_copies(like, codes, groups if grouped else None)
    together = copied(like.tolist(), codes.tolist())
    if not together:
        assert found is (groups if grouped else None)
        return
    n = like.size
    linked = np.eye(n, dtype=bool)
    for a in range(n):
        for b in range(n):
            same = like[a] == like[b] and like[a] in together
            linked[a, b] |= same or (grouped and groups[a] == groups[b])
    for _ in range(6):  # ways of up to 64 links
        linked = linked @ linked
    np.testing.assert_array_equal(found[:, None] == found, linked)


@pytest.mark.parametrize("judge", [None, KNeighborsClassifier()])
def test_copies_of_a_wrong_label_do_not_vouch_for_it(judge):
    X, y = make_gaussians(400, random_state=0)
    given = flip_labels(y, 0.15, random_state=0)[0]
    rows = np.r_[np.arange(400), np.repeat(np.arange(0, 400, 4), 3)]
    X, y, given = X[rows], y[rows], given[rows]
    audit = LabelAudit(judge, quick=True, random_state=0).fit(X, given)
    wrong = (given != y)[400:]
    assert wrong.sum() > 30
    assert np.median(audit.issues_["label_quality"][400:][wrong]) < 0.3


def test_equal_rows_that_were_labelled_one_by_one_judge_each_other():
    """Nothing but the label of an equal row tells a label here."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.permutation(150), 4)[:, None]
    y = np.repeat(rng.integers(0, 2, 150), 4)
    given, flipped = flip_labels(y, 0.1, random_state=0)
    judge = DecisionTreeClassifier(random_state=0)
    issues = LabelAudit(judge, random_state=0).fit(X, given).issues_
    assert average_precision_score(flipped, -issues["rank"]) > 0.5


def test_columns_that_tell_few_rows_apart_leave_them_to_judge():
    """Four different rows, each a hundred times, of classes that no line divides."""
    X = np.tile([[0, 0], [0, 1], [1, 0], [1, 1]], (100, 1))
    y = X[:, 0] ^ X[:, 1]
    assert not LabelAudit(quick=True, random_state=0).fit(X, y).noise_rate_ > 0.05


groups_and_classes = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 2)), min_size=90, max_size=120
)


@settings(max_examples=25)
@given(groups_and_classes, st.booleans())
def test_folds_keep_groups_together_and_classes_as_frequent(table, is_pure):
    groups, codes = np.array(table).T
    if is_pure:
        codes = groups % 3
    groups, codes = np.r_[groups, 31:61], np.r_[codes, np.arange(30) % 3]
    folds = make_folds(codes, groups, seed=0)
    assert sorted(np.concatenate([judged for _, judged in folds])) == [
        *range(codes.size)
    ]
    for learned, judged in folds:
        assert not set(groups[learned]) & set(groups[judged])
        assert learned.size + judged.size == codes.size
        assert set(codes[learned]) == {0, 1, 2}
    if is_pure:
        largest = np.bincount(groups).max()
        for kind in range(3):
            rows = [np.count_nonzero(codes[judged] == kind) for _, judged in folds]
            assert max(rows) - min(rows) <= largest


def test_large_groups_of_one_class_are_in_different_folds():
    sizes = [600, 300, 100, *[1] * 7]
    groups = np.repeat(np.arange(20), sizes * 2)
    codes = np.repeat([0, 1], sum(sizes))
    for seed in range(5):
        of_class = np.array(
            [
                np.bincount(codes[judged])
                for _, judged in make_folds(codes, groups, seed)
            ]
        )
        assert of_class.max() == 600 and of_class.min() == 3
        assert np.sort(of_class.sum(axis=1))[-1] < 1000  # not both of the largest


def test_one_pair_of_copies_among_many_rows_is_dealt_out_fast(monkeypatch):
    """Without the balancing of groups, which would take seconds."""
    monkeypatch.setattr(evidence, "StratifiedGroupKFold", None)
    n = 20_000
    groups, codes = np.r_[0, np.arange(n - 1)], np.arange(n) // 2 % 2
    folds = make_folds(codes, groups, seed=0)
    assert any({0, 1} <= set(judged.tolist()) for _, judged in folds)
    sizes = [judged.size for _, judged in folds]
    assert max(sizes) - min(sizes) <= 3
