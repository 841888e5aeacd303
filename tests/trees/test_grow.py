"""The engine grows the trees of the naive reference, whichever way it takes."""

import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numba import njit

from helpers import (
    CATEGORICAL,
    NAN,
    assert_identical,
    assert_same_nodes,
    grow,
    grow_tree,
    list_nodes,
    list_reference,
    make_grower,
    mixed_data,
)
from reference import apply_tree, fit_tree, predict_tree
from splboost._data.table import ArrayTable
from splboost.trees import grower as grower_module
from splboost.trees import split, workspace
from splboost.trees.drawn import advance_drawn
from splboost.trees.workspace import (
    BIN,
    CHILD,
    FEATURE,
    MISSING_LEFT,
    N_CHANGED,
)

KINDS = {  # name: number of classes (0: regression), criterion
    "gini-2": (2, "gini"),
    "gini-3": (3, "gini"),
    "entropy-2": (2, "entropy"),
    "entropy-3": (3, "entropy"),
    "squares": (0, "squared_error"),
}
every_kind = pytest.mark.parametrize(
    ("n_classes", "criterion"), KINDS.values(), ids=KINDS.keys()
)


def fit_reference(X, y, n_classes, weight, **options):
    task = "classification" if n_classes else "regression"
    return fit_tree(X, y, weight, task=task, n_classes=n_classes or None, **options)


# ------------------------------------------------------------------------ the reference


@st.composite
def problems(draw):
    """Few rows with many ties; whole weights, whose sums are exact on both sides."""
    n = draw(st.integers(2, 24))
    n_classes, criterion = draw(st.sampled_from(list(KINDS.values())))
    categorical = draw(st.sets(st.integers(0, 2), max_size=3))
    values = np.array([-1.5, 0.0, 0.25, 7.0, NAN])
    names = np.array([0.0, 1.0, 2.0, 3.0, NAN])
    index = draw(arrays(np.int8, (n, 3), elements=st.integers(0, 4)))
    X = np.where(np.isin(np.arange(3), list(categorical)), names[index], values[index])
    y = draw(arrays(np.int8, n, elements=st.integers(0, (n_classes or 4) - 1)))
    weight = draw(arrays(np.int8, n, elements=st.integers(0, 3)).filter(np.any))
    options = {
        "criterion": criterion,
        "categorical": tuple(categorical),
        "max_depth": draw(st.sampled_from([None, 1, 2, 3])),
        "max_leaf_nodes": draw(st.sampled_from([None, None, 2, 4, 6])),
        "min_samples_leaf": draw(st.sampled_from([1, 1, 2, 3])),
        "min_weight_fraction_leaf": draw(st.sampled_from([0.0, 0.0, 0.1, 0.3])),
    }
    return X, y.astype(int), n_classes, weight.astype(float), options


@settings(max_examples=400)
@given(problems())
def test_equals_reference(problem):
    X, y, n_classes, weight, options = problem
    grower = make_grower(X, y, n_classes, **options)
    tree = grow(grower, weight, y.astype(float))
    reference = fit_reference(X, y, n_classes, weight, **options)
    assert_same_nodes(list_nodes(tree), list_reference(reference, tree.coding))

    table = ArrayTable(X, tree.categorical_features)
    np.testing.assert_array_equal(tree.apply(table)[:, 0], grower.leaf)
    new = np.random.default_rng(0).choice([-2, 0, 0.1, 1, 2, 4, 9, NAN], size=(60, 3))
    leaves = tree.apply(ArrayTable(new, tree.categorical_features))[:, 0]
    assert same_partition(leaves, apply_tree(reference, new))
    if n_classes:
        predicted = tree.class_shares().argmax(axis=1)[leaves]
    else:
        predicted = (tree.value[:, 1] / tree.value[:, 0])[leaves]
    np.testing.assert_allclose(predicted, predict_tree(reference, new), atol=1e-12)


entropy_removed = njit(lambda *given: split.entropy_removed(*given))
most_entropy = njit(lambda total: split.most_entropy(total))
WEIGHTS = st.integers(0, 2**50) | st.integers(0, 20)


@settings(max_examples=500)
@given(WEIGHTS, WEIGHTS, WEIGHTS, WEIGHTS)
def test_entropy_is_bounded_by_squares(left_0, left_1, right_0, right_1):
    total = np.array([left_0 + right_0, left_1 + right_1])
    left, right = left_0 + left_1, right_0 + right_1
    if min(left, right, *total) == 0:
        return
    weight = Fraction(left + right)
    away = left_1 - left * Fraction(int(total[1])) / weight
    squares = float(away**2 / (left * right))
    removed = entropy_removed(left, left_1, total)
    assert removed <= most_entropy(total) * squares + 1e-15
    if left_0 == right_1 == 0:  # the sides are pure: all of the entropy
        shares = total / total.sum()
        assert removed == pytest.approx(-np.sum(shares * np.log(shares)), rel=1e-9)


@pytest.mark.parametrize("share", [0.001, 0.2, 0.5, 0.9])
def test_the_bound_of_entropy_is_no_higher_than_it_must_be(share):
    """It is reached where next to no rows of one class are cut off from all others."""
    n = 10**12
    total = np.array([round(n * (1 - share)), round(n * share)])
    reached = []
    for few in ((1000, 0), (0, 1000)):
        left = sum(few)
        away = few[1] - left * total[1] / n
        removed = entropy_removed(left, few[1], total)
        reached.append(removed * left * (n - left) / away**2)
    assert max(reached) == pytest.approx(most_entropy(total), rel=1e-3)


def same_partition(leaves, others):
    pairs = set(zip(leaves.tolist(), others.tolist(), strict=True))
    return len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


# Real weights have no ties but those between equal partitions. Without limits on leaves
# no split can fall between two categories of equal share, whose order is left to
# rounding; with them sums are exact.
@every_kind
@pytest.mark.parametrize(
    "options",
    [
        {"max_depth": 4},
        {"max_leaf_nodes": 9},
        {"max_depth": 3, "max_leaf_nodes": 6},
        {"max_depth": 5, "min_samples_leaf": 20, "min_weight_fraction_leaf": 0.05},
    ],
    ids=["depth", "leaves", "both", "limits"],
)
def test_large_nodes_equal_reference(n_classes, criterion, options):
    X, y = mixed_data(700, n_classes)
    weight = np.random.default_rng(1).exponential(size=len(y))
    weight[::9] = 0
    if "min_samples_leaf" in options:
        y, weight = np.round(y * 4) / 4, np.round(2 * weight)
    options = {"criterion": criterion, "categorical": CATEGORICAL, **options}
    tree = grow_tree(X, y, n_classes, weight, **options)
    reference = fit_reference(X, y, n_classes, weight, **options)
    assert_same_nodes(list_nodes(tree), list_reference(reference, tree.coding))


# ---------------------------------------------------------------------- order of choice


def root_split(X, y, weight=None, n_classes=2, **options):
    options = {"max_depth": 1, **options}
    return list_nodes(grow_tree(np.array(X, float), y, n_classes, weight, **options))[0]


def test_first_feature_wins_tie():
    x = [0, 0, 1, 1]
    assert root_split(np.column_stack([x, x, x]), [0, 0, 1, 1])[0][0] == 0


def test_lowest_bin_wins_tie():
    split, _ = root_split([[0], [1], [2]], [0, 1, 0])
    assert split[1] == 0.5


@pytest.mark.parametrize(("lead", "feature"), [(1e-12, 0), (1e-8, 1)])
def test_gains_within_rounding_are_a_tie(lead, feature):
    X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    y = [0, 0.5, 0.5 - lead, 1]  # feature 1 is better by a relative 4 * lead
    assert root_split(X, y, n_classes=0)[0][0] == feature


def test_missing_right_wins_tie():
    split, _ = root_split([[0], [1], [NAN], [NAN]], [0, 1, 0, 1])
    assert split == (0, 0.5, False)


@pytest.mark.parametrize("x", [[NAN, NAN, 1, 2], [1, 2, NAN, NAN]])
@pytest.mark.parametrize("categorical", [(), (0,)])
def test_known_against_missing(x, categorical):
    (_, cut, missing_left), _ = root_split(
        np.c_[x], [0, 0, 1, 1], categorical=categorical
    )
    assert cut == ((1.0, 2.0) if categorical else np.inf)
    assert not missing_left


@pytest.mark.parametrize(
    ("y", "missing_left"),
    [([0, 0, 0, 1], True), ([0, 1, 1, 1], False), ([0, 0, 1, 1], True)],
    ids=["left heavier", "right heavier", "equal"],
)
@pytest.mark.parametrize("categorical", [(), (0,)])
def test_absent_missing_follow_heavier_child(y, missing_left, categorical):
    (_, _, side), _ = root_split(np.c_[y], y, categorical=categorical)
    assert side is missing_left


def test_equal_children_but_for_rounding_count_as_equal():
    split, _ = root_split(
        [[0], [0], [0], [1]], [0, 0, 0, 1], weight=[0.1, 0.1, 0.1, 0.3]
    )
    assert split[2] is True


@pytest.mark.parametrize(("step", "n_nodes"), [(1e-6, 1), (1e-5, 3)])
def test_least_gain(step, n_nodes):
    tree = grow_tree(np.array([[0.0], [1.0]]), [0, step], 0)  # removes step**2 / 4
    assert tree.child.size == n_nodes


@pytest.mark.parametrize("n_classes", [0, 2])
def test_no_split_without_gain(n_classes):
    X = np.tile([[0.0], [1.0]], (6, 1))
    y = np.repeat([0, 1, 0], 4)
    assert grow_tree(X, y, n_classes).child.tolist() == [-1]


# ------------------------------------------------------------------------------ weights


@every_kind
@pytest.mark.parametrize("min_samples_leaf", [1, 8])
def test_weight_zero_is_no_row(n_classes, criterion, min_samples_leaf):
    X, y = mixed_data(400, n_classes)
    weight = np.random.default_rng(2).exponential(size=len(y))
    dropped = np.random.default_rng(3).random(len(y)) < 0.4
    dropped |= X[:, 0] == 2.5  # a value that only rows of weight zero have
    weight[dropped] = 0
    options = {
        "criterion": criterion,
        "categorical": CATEGORICAL,
        "max_depth": 5,
        "min_samples_leaf": min_samples_leaf,
    }
    tree = grow_tree(X, y, n_classes, weight, **options)
    kept = weight > 0
    other = grow_tree(X[kept], y[kept], n_classes, weight[kept], **options)
    assert_identical(tree, other)
    assert tree.child.size > 20


@pytest.mark.parametrize("unit", [1e-150, 2.0**-40, 3.0, 1e150])
def test_unit_of_weights_does_not_matter(unit):
    X, y = mixed_data(300, 2)
    weight = np.random.default_rng(5).exponential(size=len(y))
    tree = grow_tree(X, y, 2, weight, max_depth=4)
    other = grow_tree(X, y, 2, unit * weight, max_depth=4)
    assert [s for s, _ in list_nodes(tree)] == [s for s, _ in list_nodes(other)]
    np.testing.assert_allclose(other.value, unit * tree.value, rtol=1e-12)


def test_negligible_weight_is_still_a_row():
    X = np.array([[0.0], [1.0], [2.0]])
    grower = make_grower(X, [0, 1, 1], 2, max_depth=1)
    tree = grow(grower, np.array([1.0, 1e-30, 1.0]))
    assert tree.threshold[0] == 0.5  # midway to the negligible row, not past it


# ---------------------------------------------------------------------- tree after tree


class AdaBoostLikeWeights:
    """Weights that grow for the rows a tree gets wrong; some rows go and come back."""

    def __init__(self, y, seed):
        self.y = y
        self.rng = np.random.default_rng(seed)
        self.weight = self.rng.exponential(size=len(y))
        self.present = np.ones(len(y), dtype=bool)

    def next(self, tree, leaf):
        wrong = tree.value.argmax(axis=1)[leaf] != self.y
        self.weight[wrong] *= self.rng.choice([1.05, 1.4, 3.0])
        if self.rng.random() < 0.2:
            self.present = self.rng.random(len(self.y)) < self.rng.choice([0.5, 1.0])
        if self.weight.max() > 1e9:
            self.weight /= self.weight.sum()
        return np.where(self.present, self.weight, 0.0)


@pytest.mark.parametrize("max_depth", [1, 3])
@pytest.mark.parametrize(("n_classes", "criterion"), [(2, "gini"), (3, "entropy")])
def test_root_from_last_tree_equals_root_from_all_rows(max_depth, n_classes, criterion):
    X, y = mixed_data(150, n_classes)
    options = {"criterion": criterion, "max_depth": max_depth}
    options["categorical"] = CATEGORICAL
    grower = make_grower(X, y, n_classes, **options)
    weights = AdaBoostLikeWeights(y, seed=6)
    weight, n_rounds, scales, changed = weights.weight, 1000, [], []
    for _ in range(n_rounds):
        tree = grow(grower, weight)
        scales.append(grower.work.scale.item())
        changed.append(int(grower.work.progress[N_CHANGED]))

        fresh = make_fresh(grower, y)
        assert_identical(tree, grow(fresh, weight))
        assert fresh.work.progress[N_CHANGED] == -1
        np.testing.assert_array_equal(grower.work.hist[0], fresh.work.hist[0])
        np.testing.assert_array_equal(grower.leaf, fresh.leaf)
        weight = weights.next(tree, grower.leaf)

    assert sum(n > 0 for n in changed) > n_rounds / 4  # the short way was taken
    assert changed.count(-1) > 10  # and so was the long one
    assert len(set(scales)) > 3


def make_fresh(grower, y):
    """A grower like another, in the same units, that must sum all rows."""
    fresh = grower_module.TreeGrower(
        grower.binned,
        grower.work.y,
        grower.work.n_classes,
        workspace.TreeOptions(
            criterion="entropy" if grower.work.criterion else "gini",
            max_depth=grower.work.max_depth,
        ),
    )
    fresh.work.scale[:] = grower.work.scale
    fresh.work.weight[:] = -1  # every row's weight differs from that
    return fresh


@pytest.mark.parametrize("options", [{"min_samples_leaf": 5}, {"max_leaf_nodes": 12}])
@every_kind
def test_trees_do_not_depend_on_earlier_ones(n_classes, criterion, options):
    X, y = mixed_data(400, n_classes)
    rng = np.random.default_rng(7)
    options = {"criterion": criterion, "categorical": CATEGORICAL, **options}
    grower = make_grower(X, y, n_classes, **options)
    target = np.asarray(y, dtype=float)
    for _ in range(5):
        weight = rng.choice([0.0, 0.5, 1.0, 2.0], size=len(y))
        target = target[rng.permutation(len(y))] if n_classes == 0 else target
        fresh = make_grower(X, y, n_classes, **options)
        assert_identical(grow(grower, weight, target), grow(fresh, weight, target))


# ----------------------------------------------------------------- ways that must agree


@every_kind
@pytest.mark.parametrize(
    "options",
    [{"max_depth": 1}, {"max_depth": 5, "min_samples_leaf": 3}, {"max_leaf_nodes": 20}],
    ids=["stump", "depth", "leaves"],
)
def test_threads_do_not_matter(monkeypatch, n_classes, criterion, options):
    X, y = mixed_data(600, n_classes)
    options = {"criterion": criterion, "categorical": CATEGORICAL, **options}
    weights = np.random.default_rng(8).exponential(size=(3, len(y)))
    weights[2] = weights[1]
    weights[2, ::5] = 0  # the root comes from changed rows
    calls = []
    run = grower_module.threads.run
    monkeypatch.setattr(
        grower_module.threads, "run", lambda *args: calls.append(args) or run(*args)
    )
    monkeypatch.setattr(grower_module.threads, "THREADED_WORK", 1)
    trees = {}
    for n_threads in (1, 2, 3):
        grower = make_grower(X, y, n_classes, n_threads=n_threads, **options)
        trees[n_threads] = [grow(grower, w, np.asarray(y, float)) for w in weights]
        assert bool(calls) == (n_threads > 1)
    for one, two, three in zip(*trees.values(), strict=True):
        assert_identical(one, two)
        assert_identical(one, three)
    assert {len(arguments) for _, arguments in calls} == {2, 3}


@every_kind
@pytest.mark.parametrize(
    "options",
    [{"max_depth": 8}, {"max_leaf_nodes": 60}, {"min_samples_leaf": 30}],
    ids=["depth", "leaves", "rows"],
)
def test_histograms_running_out_do_not_matter(
    monkeypatch, n_classes, criterion, options
):
    X, y = mixed_data(3000, n_classes)
    options = {"criterion": criterion, "categorical": CATEGORICAL, **options}
    roomy = make_grower(X, y, n_classes, **options)
    monkeypatch.setattr(workspace, "MAX_HISTOGRAM_BYTES", 0)
    cramped = make_grower(X, y, n_classes, **options)
    assert len(cramped.work.hist) == 3 < len(roomy.work.hist)
    weight, target = np.ones(len(y)), np.asarray(y, dtype=float)
    assert_identical(grow(roomy, weight, target), grow(cramped, weight, target))


def trees_as_json(**drawn):
    """Some small trees; made by this test and by a Python without compilation."""
    trees = []
    for n_classes, criterion in KINDS.values():
        X, y = mixed_data(90, n_classes, n_values=80)
        weight = np.random.default_rng(9).exponential(size=len(y))
        weight[::7] = 0
        for options in [{}, {"max_depth": 3, "min_samples_leaf": 4}]:
            options = {"criterion": criterion, "categorical": CATEGORICAL, **options}
            grower = make_grower(X, y, n_classes, **drawn, **options)
            for w in (weight, np.where(y > 0, weight, 2 * weight)):
                tree = grow(grower, w, np.asarray(y, dtype=float))
                splits, values = zip(*list_nodes(tree), strict=True)
                trees.append([repr(splits), values, tree.value[grower.leaf].tolist()])
    return json.dumps(trees)


TESTS = Path(__file__).parent
PATHS = str(TESTS), str(TESTS.parent)
WITHOUT_COMPILATION = """
import numpy as np
from test_grow import trees_as_json
from splboost.trees import CARTClassifier, grower

print(trees_as_json(max_features=4))
print(trees_as_json(max_features=2, random_cuts=True))
print(trees_as_json())
for grower.SMALL_NODE in (20, 0):
    print(trees_as_json())

# More classes than fit into a byte, which would take long to compile.
y = np.arange(257)
X = np.column_stack([y // 16, y % 16])
tree = CARTClassifier(max_depth=2).fit(X, y)
assert (tree.tree_.value[tree.apply(X), y] == 1).all()
"""


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0",
    reason="without compilation numpy 1 makes floats of unsigned and whole numbers",
)
def test_without_compilation_and_whatever_a_small_node_is():
    paths = os.pathsep.join([*PATHS, os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", WITHOUT_COMPILATION],
        env={**os.environ, "PYTHONPATH": paths, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    some_features, random_cuts, default, *others = done.stdout.splitlines()
    assert_same_trees(some_features, trees_as_json(max_features=4))
    drawn = {"max_features": 2, "random_cuts": True}
    assert_same_trees(random_cuts, trees_as_json(**drawn))
    assert_same_trees(default, trees_as_json())
    assert others == [default] * 2


def assert_same_trees(trees, others):
    """Equal but for the gains by entropy: a compiled logarithm rounds its own way."""
    pairs = zip(json.loads(trees), json.loads(others), strict=True)
    for (splits, values, leaves), (other_splits, other_values, other_leaves) in pairs:
        assert splits == other_splits
        np.testing.assert_allclose(values, other_values, rtol=1e-13)
        assert leaves == other_leaves


# ---------------------------------------------------------------------- random features


def test_max_features_draws_all_features_alike():
    rng = np.random.default_rng(10)
    X, y = rng.random((200, 6)), rng.integers(0, 2, 200)
    grower = make_grower(X, y, 2, max_depth=1, max_features=1, seed=3)
    drawn = [grow(grower, np.ones(len(y))).feature[0] for _ in range(3000)]
    counts = np.bincount(drawn, minlength=6)
    assert abs(counts - 500).max() < 5 * np.sqrt(500)
    assert abs(np.corrcoef(drawn[1:], drawn[:-1])[0, 1]) < 5 / np.sqrt(3000)


def test_max_features_takes_best_of_those_drawn():
    rng = np.random.default_rng(11)
    X, y = rng.random((300, 4)), rng.integers(0, 2, 300)
    gains = [grow_tree(X[:, [f]], y, 2, max_depth=1).gain[0] for f in range(X.shape[1])]
    grower = make_grower(X, y, 2, max_depth=1, max_features=2)
    drawn = [grow(grower, np.ones(len(y))).feature[0] for _ in range(600)]
    counts = np.bincount(drawn, minlength=4)[np.argsort(gains)]
    # of 6 pairs the worst feature wins 0, the next 1, then 2, then 3
    assert counts[0] == 0
    assert abs(counts[1:] - [100, 200, 300]).max() < 75


def test_max_features_goes_on_until_a_feature_can_split():
    rng = np.random.default_rng(12)
    X = np.zeros((50, 8))
    X[:, 5] = rng.random(50)
    grower = make_grower(X, rng.integers(0, 2, 50), 2, max_depth=1, max_features=1)
    assert all(grow(grower, np.ones(50)).feature[0] == 5 for _ in range(50))


@every_kind
@pytest.mark.parametrize(
    "options",
    [{"min_samples_leaf": 20}, {"max_depth": 3}, {"max_leaf_nodes": 9}],
    ids=["large leaves", "shallow", "best first"],
)
def test_drawing_all_features_gives_the_tree_of_all(n_classes, criterion, options):
    X, y = mixed_data(700, n_classes, n_values=500)
    weight = np.random.default_rng(13).exponential(size=len(y))
    weight[::7] = 0
    options = {"criterion": criterion, "categorical": CATEGORICAL, **options}
    grower = make_grower(X, y, n_classes, **options)
    drawing = make_grower(X, y, n_classes, **options)
    drawing._advance = advance_drawn  # of all features; only ties depend on the order
    for w in (weight, 2 * weight, np.where(weight > 1, 0, weight)):
        target = np.asarray(y, dtype=float)
        one, other = grow(grower, w, target), grow(drawing, w, target)
        assert sorted(splits_of(one)) == sorted(splits_of(other))
        leaves = one.value[grower.leaf], other.value[drawing.leaf]
        np.testing.assert_allclose(*leaves, rtol=1e-13)


def splits_of(tree):
    return [repr(split) for split, _ in list_nodes(tree)]


@every_kind
def test_random_cuts_have_rows_on_both_sides(n_classes, criterion):
    X, y = mixed_data(300, n_classes, n_values=250)
    options = {"criterion": criterion, "categorical": CATEGORICAL}
    grower = make_grower(
        X, y, n_classes, random_cuts=True, min_samples_leaf=3, **options
    )
    weight, target = np.ones(len(y)), np.asarray(y, dtype=float)
    trees = set()
    for _ in range(20):
        tree = grow(grower, weight, target)
        trees.add(str(splits_of(tree)))
        _, sizes = np.unique(grower.leaf, return_counts=True)
        assert sizes.min() >= 3  # rows on both sides of each cut
        assert sizes.size == (tree.child < 0).sum()
        assert (tree.gain[tree.child > 0] > 0).all()
    assert len(trees) == 20


def test_random_cuts_are_anywhere_between_the_lowest_and_the_highest_bin():
    x = np.arange(101.0)
    grower = make_grower(x[:, None], x > 50, 2, max_depth=1, random_cuts=True)
    cuts = [grow(grower, np.ones(101)).threshold[0] for _ in range(4000)]
    values, counts = np.unique(cuts, return_counts=True)
    assert values.tolist() == (x[1:] - 0.5).tolist()
    assert abs(counts - 40).max() < 5 * np.sqrt(40)


# --------------------------------------------------------------------- sizes and shapes


@pytest.mark.parametrize("n_classes", [0, 2])
def test_single_row(n_classes):
    tree = grow_tree(np.ones((1, 2)), [1], n_classes)
    assert tree.child.tolist() == [-1]


@pytest.mark.parametrize("max_depth", [None, 64, 10_000])
def test_deep_chain(max_depth):
    n = 150
    X = np.arange(n, dtype=float)[:, None]
    weight = np.exp(-0.9 * np.arange(n))  # makes each split cut off a single row
    tree = grow_tree(X, np.arange(n) % 2, 2, weight, max_depth=max_depth)
    assert tree.depth() == (64 if max_depth == 64 else n - 1)


def test_many_classes():
    n = 300
    X = np.arange(n, dtype=float)[:, None] // 2
    y = np.arange(n) // 2
    tree = grow_tree(X, y, 150)
    leaves = tree.apply(ArrayTable(X, None))[:, 0]
    assert (tree.value.argmax(axis=1)[leaves] == y).all()


def test_stored_bins_agree_with_thresholds():
    X, y = mixed_data(500, 2)
    grower = make_grower(X, y, 2)
    grown = grower.grow(np.ones(len(y)))
    inner = grown.node[:, CHILD] >= 0
    for row, (_, threshold, _) in zip(
        grown.node[inner], grown.number[inner], strict=True
    ):
        x, codes = X[:, row[FEATURE]], grower.binned.codes[row[FEATURE]]
        known = ~np.isnan(x)
        assert ((x <= threshold) == (codes <= row[BIN]))[known].all()
        assert row[MISSING_LEFT] in (0, 1)
