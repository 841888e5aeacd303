"""C4.5: the fast trees against the naive ones, published figures and invariances."""

import _thread
import signal
import threading
import time
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from sklearn.tree import DecisionTreeClassifier

from helpers import CATEGORICAL, NAN, mixed_data, read_data
from reference import (
    fit_c45,
    predict_c45,
    predict_proba_c45,
)
from splboost.trees import C45Classifier
from splboost.trees.c45 import gain, ranks
from splboost.trees.c45.gain import SLACK, STRETCH


def callable_here(inner):
    """A kernel that only kernels call, made callable from Python."""
    return njit(lambda *args: inner(*args))


best_bounded_cut, best_cut = map(callable_here, (gain.best_bounded_cut, gain.best_cut))
bits, bound_cuts = map(callable_here, (gain.bits, gain.bound_cuts))
summarise = callable_here(gain.summarise)
# ------------------------------------------------------------------- made comparable


def list_nodes(tree, node=0):
    """Nodes from the root, branch by branch: the test (None in a leaf) and weights."""
    nodes = tree.nodes
    weights = [int(nodes.label[node]), *nodes.value[node]]
    if nodes.child[node] < 0:
        return [(None, weights)]
    feature, threshold = int(nodes.feature[node]), float(nodes.threshold[node])
    test = (feature, None if np.isnan(threshold) else threshold)
    below = [
        list_nodes(tree, nodes.child[node] + v) for v in range(nodes.children[node])
    ]
    return [(test, weights[1:]), *(entry for branch in below for entry in branch)]


def list_reference(node):
    """The same of a reference tree."""
    if not node.branches:
        label = node.leaf_class
        if node.weight > 0:  # what it predicts
            most = node.class_weight.max()
            label = int(np.argmax(node.class_weight >= most * (1 - 1e-9)))
        return [(None, [label, *node.class_weight])]
    below = [entry for branch in node.branches for entry in list_reference(branch)]
    return [((node.feature, node.threshold), list(node.class_weight)), *below]


def assert_same(nodes, others):
    assert [test for test, _ in nodes] == [test for test, _ in others]
    for (_, weights), (_, other_weights) in zip(nodes, others, strict=True):
        np.testing.assert_allclose(weights, other_weights, rtol=1e-9, atol=1e-9)


def random_problem(seed):
    """Numbers of few and of many values, categories, missing cells, weights."""
    rng = np.random.default_rng(seed)
    n, d, k = rng.integers(10, 300), rng.integers(1, 6), rng.integers(2, 5)
    z = rng.normal(size=(n, d))
    kinds = rng.integers(4, size=d)
    X = np.where(kinds == 1, z.round(1), np.where(kinds == 2, np.round(2 * z), z))
    y = np.digitize(
        z[:, 0] + z[:, -1] / 2 + rng.normal(size=n), np.linspace(-1, 1, k - 1)
    )
    weight = [np.ones(n), rng.integers(1, 4, n), rng.exponential(size=n) + 0.01]
    weight = weight[rng.integers(3)] * (rng.random(n) < rng.choice([0.7, 1.0]))
    X[rng.random((n, d)) < rng.choice([0.0, 0.05, 0.3])] = NAN
    categorical = np.flatnonzero(kinds == 3)
    for j in categorical:
        group = np.clip(np.floor((X[:, j] + 2) * 1.5), 0, 5)
        present = np.unique(group[(weight > 0) & ~np.isnan(group)])
        code = np.searchsorted(present, group).astype(float)
        X[:, j] = np.where(np.isin(group, present), code, NAN)
    return X, y, weight, tuple(categorical.tolist()), k


def random_options(seed):
    rng = np.random.default_rng([seed, 1])
    return {
        "confidence": float(rng.choice([0.05, 0.25, 0.5])),
        "min_cases": float(rng.choice([1, 2, 5, 40])),
        "mdl": bool(rng.integers(2)),
        "pruning": bool(rng.integers(3)),
        "max_depth": [None, None, 1, 3][rng.integers(4)],
    }


# ------------------------------------------------------------ against the naive trees


@pytest.mark.parametrize("most_counted", [256, 5])
@pytest.mark.parametrize("block", range(5))
def test_equals_the_reference(monkeypatch, block, most_counted):
    monkeypatch.setattr(ranks, "MOST_COUNTED", most_counted)
    for seed in range(20 * block, 20 * block + 20):
        X, y, weight, categorical, k = random_problem(seed)
        if np.unique(y[weight > 0]).size < k:
            continue
        options = random_options(seed)
        reference = fit_c45(
            X, y, weight, n_classes=k, categorical=categorical, **options
        )
        tree = C45Classifier(categorical_features=list(categorical) or None, **options)
        tree.fit(X, y, weight)
        assert_same(list_nodes(tree.tree_), list_reference(reference))
        X_new = X.copy()
        X_new[::7] = NAN
        np.testing.assert_allclose(
            tree.predict_proba(X_new), predict_proba_c45(reference, X_new), atol=1e-12
        )
        np.testing.assert_array_equal(
            tree.predict(X_new), predict_c45(reference, X_new)
        )


@pytest.mark.parametrize("pruning", [True, False])
@pytest.mark.parametrize("name", ["pima", "vc-2classes", "titanic", "pb-T-OR-D_clean"])
def test_equals_the_reference_on_real_data(name, pruning):
    frame, y = read_data(name)
    text = [column for column in frame if frame[column].dtype.kind not in "if"]
    frame = frame.astype(dict.fromkeys(text, "category"))
    X = np.column_stack(
        [
            np.where(frame[c].cat.codes < 0, NAN, frame[c].cat.codes)
            if c in text
            else frame[c]
            for c in frame
        ]
    )
    classes, codes = np.unique(y, return_inverse=True)
    categorical = tuple(j for j, column in enumerate(frame) if column in text)
    reference = fit_c45(
        X, codes, n_classes=classes.size, categorical=categorical, pruning=pruning
    )
    tree = C45Classifier(pruning=pruning).fit(frame, y)
    assert_same(list_nodes(tree.tree_), list_reference(reference))
    np.testing.assert_array_equal(
        tree.predict(frame), classes[predict_c45(reference, X)]
    )


def test_more_nodes_than_cases():
    tree = C45Classifier(min_cases=1, mdl=False, pruning=False)
    tree.fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    assert tree.tree_.nodes.child.size == 5
    np.testing.assert_array_equal(tree.predict([[0.0], [1.0], [2.0]]), [0, 1, 0])


def find_best_cut(below, total, least):
    """The best cut, and the bits it leaves, as a tree finds them."""
    valid = np.arange(below.shape[1]) < below.shape[1] - 1
    known, _ = summarise(total, 0.0, False)
    known = known._replace(to_try=least * (1 - SLACK), to_make=least * (1 - SLACK))
    if total.size > 2:
        return best_cut(below, valid, total, known, 0.0, np.empty((3, total.size)))
    bound, top = np.empty(valid.size), np.empty((valid.size - 1) // STRETCH + 1)
    bound_cuts(*below, valid, known, bound, top)
    return best_bounded_cut(below, total, known, bound, top, 0.0)


def bits_left(below, total):
    """The bits that each cut leaves, all computed."""
    return np.array(
        [
            bits(np.ascontiguousarray(left)) + bits(np.maximum(total - left, 0))
            for left in below.T[:-1]
        ]
    )


@given(st.data())
@settings(deadline=None, max_examples=150)
def test_no_cut_is_better_than_the_best(data):
    """With two classes the search passes over most of the cuts."""
    k = data.draw(st.integers(2, 4))
    n = data.draw(st.integers(2 * k, 300))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**20)))
    weight = rng.exponential(size=n) ** data.draw(st.sampled_from([0, 1, 8]))
    edge = data.draw(st.sampled_from([0.05, 0.5, 0.95]))  # where the last class begins
    y = np.where(np.arange(n) < edge * n, np.arange(n) % (k - 1), k - 1)
    y = np.where(rng.random(n) < 0.1, rng.integers(k, size=n), y)
    y[rng.permutation(n)[:k]] = np.arange(k)
    below = np.cumsum(np.eye(k)[:, y] * weight, axis=1)
    total = below[:, -1].copy()
    least = data.draw(st.sampled_from([0.0, 0.1, 0.3])) * total.sum()
    sides = below[:, :-1].sum(axis=0)
    allowed = np.minimum(sides, total.sum() - sides) >= least
    left = np.where(allowed, bits_left(below, total), np.inf)
    place, fewest = find_best_cut(below, total, least)
    saved = bits(total) - left.min()
    tie = 2e-10 * saved + 1e-12 * total.sum()
    if place < 0:
        assert not allowed.any() or saved < tie
    else:
        assert fewest == pytest.approx(left.min(), abs=tie)
        assert left[place] == pytest.approx(left.min(), abs=tie)


@pytest.mark.parametrize("share", [2e-5, 0.003, 0.02, 0.3, 0.5, 0.8, 0.99])
def test_bounds_are_above_what_cuts_save_and_close(share):
    """Cuts of any size that leave any share of the first class on their left."""
    known = 1e6
    total = known * np.array([share, 1 - share])
    shares = np.append(np.linspace(0, 1, 101), share * np.linspace(0.9, 1, 20))
    left, p = np.meshgrid(known * np.linspace(0.01, 0.99, 99), shares)
    a, b = (left * p).ravel(), (left * (1 - p)).ravel()
    inside = (a <= total[0]) & (b <= total[1])
    a, b = a[inside], b[inside]
    bound, top = np.empty(a.size), np.empty((a.size - 1) // STRETCH + 1)
    known_cases, _ = summarise(total, 0.0, False)
    valid = np.ones(a.size, dtype=bool)
    assert bound_cuts(a, b, valid, known_cases, bound, top) > 0
    saved = bits(total) - bits_left(np.append([a, b], [[0], [0]], axis=1), total)
    made = bound >= 0  # each side has enough weight
    assert np.all(bound[made] >= saved[made] * (1 - 1e-9) - 1e-6)
    if 0.01 < share < 0.99:
        other = (total[0] - a) / (known - a - b)
        near = np.maximum(abs(a / (a + b) - share), abs(other - share))
        near = made & (near < 0.1 * min(share, 1 - share)) & (saved > 1e-3)
        assert near.sum() > 20
        assert np.all(bound[near] <= saved[near] * 1.1)


def test_the_first_of_cuts_that_are_equal_but_for_rounding_is_taken():
    """However the others compare with each other: only the best counts."""
    y = np.repeat([0, 1, 0, 1, 0, 1], [30, 1, 1, 1, 1, 30])
    for tiny in (1e-9, 1e-10, 1e-11, 1e-12):
        weight = np.where(np.arange(64) // 30 == 1, tiny, 1.0)
        weight[34:] = 1.0
        below = np.cumsum(np.eye(2)[:, y] * weight, axis=1)
        total = below[:, -1].copy()
        left = bits_left(below, total)
        place, _ = find_best_cut(below, total, 0.0)
        margin = 1e-10 * (bits(total) - left.min()) + 1e-13 * total.sum()
        assert place == np.flatnonzero(left <= left.min() + margin)[0]


@pytest.mark.parametrize("power", [4, 8, 12])
def test_no_cut_is_missed_where_a_class_has_next_to_no_weight(power):
    """Bounds that were differences of large numbers would rule out the best cut."""
    for seed in range(300):
        rng = np.random.default_rng(seed)
        n = 4 + seed % 20
        weight = rng.exponential(size=n) ** power
        y = rng.permutation(np.arange(n) % 4 == 0).astype(int)
        below = np.cumsum(np.eye(2)[:, y] * weight, axis=1)
        total = below[:, -1].copy()
        left = bits_left(below, total)
        saved = bits(total) - left.min()
        place, fewest = find_best_cut(below, total, 0.0)
        if place >= 0:
            tie = 2e-10 * saved + 1e-12 * total.sum()
            assert fewest == pytest.approx(left.min(), abs=tie)


def test_first_of_equal_cuts_wins():
    """Two mirror-image cuts; bounds must not hide the first."""
    y = np.tile([0, 0, 0, 1, 1, 1], 40)
    y = np.concatenate([y, y[::-1]])
    below = np.cumsum(np.eye(2)[:, y], axis=1)
    left = bits_left(below, below[:, -1])
    place, _ = find_best_cut(below, below[:, -1].copy(), 2.0)
    equal = np.flatnonzero(np.isclose(left, left[1:-1].min(), rtol=1e-12))
    assert equal.size > 1
    assert place == equal[0]


# -------------------------------------------------------------------- published figures

GOLF = pd.DataFrame(
    [
        ("sunny", 75, 70, True, "play"),
        ("sunny", 80, 90, True, "don't"),
        ("sunny", 85, 85, False, "don't"),
        ("sunny", 72, 95, False, "don't"),
        ("sunny", 69, 70, False, "play"),
        ("overcast", 72, 90, True, "play"),
        ("overcast", 83, 78, False, "play"),
        ("overcast", 64, 65, True, "play"),
        ("overcast", 81, 75, False, "play"),
        ("rain", 71, 80, True, "don't"),
        ("rain", 65, 70, True, "don't"),
        ("rain", 75, 80, False, "play"),
        ("rain", 68, 80, False, "play"),
        ("rain", 70, 96, False, "play"),
    ],
    columns=["outlook", "temperature", "humidity", "windy", "class"],
).astype({"outlook": "category"})


def golf_tree(frame, **options):
    X, y = frame.drop(columns="class"), frame["class"]
    return C45Classifier(categorical_features=["outlook", "windy"], **options).fit(X, y)


def test_golf():
    assert golf_tree(GOLF).to_text() == "\n".join(
        [
            "outlook",
            "├── overcast: class play (share 1, weight 4)",
            "├── rain: windy",
            "│   ├── False: class play (share 1, weight 3)",
            "│   └── True: class don't (share 1, weight 2)",
            "└── sunny: humidity <= 75",
            "    ├── yes: class play (share 1, weight 2)",
            "    └── no: class don't (share 1, weight 3)",
        ]
    )


def test_stump_equals_scikit_learn():
    """With one column, and the price of cuts off, gain alone decides."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(40, 1))
        y = (x[:, 0] + rng.normal(size=40) > 0).astype(int)
        ours = C45Classifier(max_depth=1, mdl=False, pruning=False).fit(x, y)
        theirs = DecisionTreeClassifier(
            criterion="entropy", max_depth=1, min_samples_leaf=2
        ).fit(x, y)
        if ours.get_n_leaves() == 1:  # it makes no fewer errors than a leaf
            assert theirs.score(x, y) == ours.score(x, y)
            continue
        left = theirs.apply(x) == 1
        assert ours.tree_.nodes.threshold[0] == x[left].max()


# ------------------------------------------------------------------------- invariances


def test_pruning_makes_smaller_trees_the_more_the_smaller_the_confidence():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    y = (X[:, 0] + rng.normal(size=600) > 0).astype(int)
    sizes = [
        C45Classifier(confidence=c, mdl=False).fit(X, y).get_n_leaves()
        for c in (0.001, 0.05, 0.25, 1.0)
    ]
    unpruned = C45Classifier(pruning=False, mdl=False).fit(X, y).get_n_leaves()
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[2] < unpruned


# -------------------------------------------------------------------- what C4.5 is like


def test_a_cut_among_thousands_of_values_is_exact():
    x = np.random.default_rng(0).permutation(5000) / 7
    tree = C45Classifier().fit(x[:, None], x > 4321 / 7)
    assert tree.tree_.nodes.threshold[0] == 4321 / 7
    assert tree.get_n_leaves() == 2


@pytest.mark.parametrize("categories", [3, 400])
def test_every_category_has_a_branch(categories):
    group = np.repeat(np.arange(categories), 4)
    tree = C45Classifier(categorical_features=[0]).fit(group[:, None], group % 3)
    assert tree.get_depth() == 1
    assert tree.get_n_leaves() == categories
    assert tree.score(group[:, None], group % 3) == 1


def test_unknown_category_counts_as_missing():
    frame = GOLF.drop(columns="class")
    tree = golf_tree(GOLF)
    unknown = frame.assign(outlook=pd.Categorical(["hail"] * 14))
    missing = frame.assign(outlook=pd.Categorical([None] * 14, ["rain"]))
    np.testing.assert_array_equal(
        tree.predict_proba(unknown), tree.predict_proba(missing)
    )
    # windy and humid: overcast (4 of 14 cases) says play, the others don't
    np.testing.assert_allclose(tree.predict_proba(unknown)[1], [10 / 14, 4 / 14])


def test_pandas_and_polars_are_one():
    X, y = GOLF.drop(columns=["class", "windy"]), GOLF["class"]
    of_pandas = C45Classifier().fit(X, y)
    of_polars = C45Classifier().fit(pl.from_pandas(X), y.to_list())
    assert of_pandas.to_text() == of_polars.to_text()
    np.testing.assert_array_equal(
        of_pandas.predict(pl.from_pandas(X)), of_polars.predict(X)
    )


def test_most_cells_missing():
    """Cases are copied to all branches, over and over; memory must follow."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    X[rng.random(X.shape) < 0.5] = NAN
    for options in ({}, {"pruning": False, "mdl": False}):
        tree = C45Classifier(**options).fit(X, y)
        reference = fit_c45(X, y, n_classes=2, **options)
        assert_same(list_nodes(tree.tree_), list_reference(reference))
        assert tree.get_depth() > 2


@pytest.mark.parametrize("seed", range(12))
def test_pruning_where_cases_were_copied_to_many_branches(seed):
    """Growing writes copies over cases that it is done with; pruning needs them all."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(4, size=(200, 3)), rng.normal(size=200)])
    X = X.astype(float)
    y = (X[:, 0] + X[:, 1] + X[:, 3] + rng.normal(size=200) > 3).astype(int)
    X[:, 1:][rng.random((200, 3)) < 0.3] = NAN
    options = {"min_cases": 1.0, "mdl": False, "confidence": 0.5}
    reference = fit_c45(X, y, n_classes=2, categorical=(0, 1, 2), **options)
    tree = C45Classifier(categorical_features=[0, 1, 2], **options).fit(X, y)
    assert_same(list_nodes(tree.tree_), list_reference(reference))


def test_a_deep_tree():
    x = np.arange(6000.0)[:, None]
    y = (x[:, 0] % 3 == 0).astype(int)
    tree = C45Classifier(mdl=False, pruning=False, min_cases=1).fit(x, y)
    assert tree.get_depth() > 50
    pruned = C45Classifier(mdl=False, min_cases=1, confidence=0.1).fit(x, y)
    assert pruned.get_n_leaves() <= tree.get_n_leaves()


def test_importances():
    X, y = mixed_data(500, 2)
    tree = C45Classifier(categorical_features=list(CATEGORICAL)).fit(X, y)
    assert tree.feature_importances_.sum() == pytest.approx(1)
    used = np.unique(tree.tree_.nodes.feature[tree.tree_.nodes.child >= 0])
    assert set(np.flatnonzero(tree.feature_importances_)) == set(used)


def test_alone_auto_is_with_the_price_of_cuts():
    X, y = mixed_data(300, 2)
    options = {"categorical_features": list(CATEGORICAL)}
    one, other = C45Classifier(**options), C45Classifier(mdl=True, **options)
    assert_same(list_nodes(one.fit(X, y).tree_), list_nodes(other.fit(X, y).tree_))
    without = C45Classifier(mdl=False, pruning=False, **options).fit(X, y)
    assert (
        without.get_n_leaves() > one.set_params(pruning=False).fit(X, y).get_n_leaves()
    )


# ------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    "options",
    [
        {"confidence": 0},
        {"confidence": "high"},
        {"min_cases": 0},
        {"mdl": "sometimes"},
        {"pruning": "yes"},
        {"max_depth": 0},
        {"class_weight": "heavy"},
    ],
)
def test_bad_parameters(options):
    name = next(iter(options))
    with pytest.raises(ValueError, match=name):
        C45Classifier(**options).fit([[0], [1]], [0, 1])


def test_weights_too_small_to_split():
    X, y = mixed_data(100, 2)
    with pytest.warns(UserWarning, match="scale sample_weight to a mean of 1"):
        tree = C45Classifier(categorical_features=list(CATEGORICAL)).fit(
            X, y, np.full(100, 0.01)
        )
    assert tree.get_n_leaves() == 1


def test_a_column_in_units_too_large():
    x = np.arange(20.0)[:, None] * 1e-7
    with pytest.warns(UserWarning, match=r"'x0' \(0 of 19\); give it in") as caught:
        tree = C45Classifier().fit(x, np.arange(20) > 9)
    assert tree.get_n_leaves() == 1
    assert caught[0].filename == __file__


def test_a_column_that_keeps_few_of_its_cuts():
    x = np.random.default_rng(0).normal(0, 1e-4, (5000, 1))
    with pytest.warns(UserWarning, match="few of the possible cuts"):
        C45Classifier().fit(x, x[:, 0] > 0)
    with warnings.catch_warnings(action="error"):
        C45Classifier().fit(1e4 * x, x[:, 0] > 0)


def test_values_closer_than_the_gap_are_not_parted():
    x = np.array([0, 1, 2, 3, 3 + 9e-6, 3 + 18e-6, 4, 5.0])[:, None]
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    assert C45Classifier(min_cases=1).fit(x, y).score(x, y) < 1
    x[4:] += 1
    assert C45Classifier(min_cases=1).fit(x, y).score(x, y) == 1


# --------------------------------------------------------------------------- interrupts


@pytest.fixture
def interruptible():
    """Ctrl-C raises KeyboardInterrupt, also in a process started in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_takes_effect_within_a_tree(interruptible):
    """It would come at the end of the tree if that were made by one call.

    By the time of the process, which does not depend on what else the machine does.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150_000, 10))
    y = (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=len(X)) > 0).astype(int)
    tree = C45Classifier(max_depth=2).fit(X[:500], y[:500])
    before = tree.predict_proba(X)
    start = time.process_time()
    C45Classifier().fit(X, y)
    whole = time.process_time() - start
    tree.set_params(max_depth=None)
    for share in (0.2, 0.4):
        start, ended = time.process_time(), threading.Event()

        def interrupt(due=start + share * whole, ended=ended):
            nonlocal start
            while time.process_time() < due and not ended.wait(0.002):
                pass
            if not ended.is_set():
                start = time.process_time()
                _thread.interrupt_main()

        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            tree.fit(X, y)
            ended.set()
        assert time.process_time() - start < 0.2 * whole
        thread.join()
    np.testing.assert_array_equal(tree.predict_proba(X), before)
