"""Fitted trees: prediction by every way, stumps as tables, text."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from helpers import (
    CATEGORICAL,
    NAN,
    assert_identical,
    grow_ensemble,
    grow_tree,
    mixed_data,
)
from splboost._data.coding import PREDICT_ROWS
from splboost._data.table import ArrayTable, read_table
from splboost.trees import CARTClassifier, CARTRegressor
from splboost.trees.additive import AdditiveTables
from splboost.trees.ensemble import TreeEnsemble

N_TREES = 7
N_OUTPUTS = 2
MASK = np.isin(np.arange(5), CATEGORICAL)


@pytest.fixture(scope="module")
def data():
    """Training data, then rows between and beyond its values, all with gaps."""
    X, y = mixed_data(400, 2)
    new, _ = mixed_data(PREDICT_ROWS + 700, 2, seed=1)
    new[:, :3] += 0.1
    new[::5, 3] = 99  # a category never seen
    new[::7, :3] *= -1e9
    return X, y, new


def make(data, **options):
    X, y, _ = data
    return grow_ensemble(X, y, 2, N_TREES, categorical=CATEGORICAL, **options)


@pytest.fixture(scope="module")
def trees(data):
    return make(data, max_depth=4)


@pytest.fixture(scope="module")
def stumps(data):
    return make(data, max_depth=1, max_features=2)


def whole_outputs(ensemble):
    """An output for each node: whole numbers, so that sums are exact."""
    rng = np.random.default_rng(2)
    shape = (ensemble.child.size, N_OUTPUTS)
    return rng.integers(-1000, 1000, size=shape).astype(float)


def scores(ensemble, table, **options):
    score = np.zeros((table.n_rows, N_OUTPUTS))
    ensemble.add(table, whole_outputs(ensemble), score, **options)
    return score


def walk(ensemble, t, row):
    """The node of tree t in which a row of numbers and categories ends."""
    node = int(ensemble.start[t])
    while ensemble.child[node] >= 0:
        f = ensemble.feature[node]
        x, coding = row[f], ensemble.coding[f]
        left = ensemble.missing_left[node]
        if coding is None and not np.isnan(x):
            left = x <= ensemble.threshold[node]
        elif coding is not None and x in coding:
            code = coding[x]
            left = ensemble.sets[ensemble.which_set[node], code // 8] >> code % 8 & 1
        node = int(ensemble.child[node]) + (0 if left else 1)
    return node


# --------------------------------------------------------------------------- prediction


def test_apply_walks_down_the_trees(trees, data):
    _, _, new = data
    leaves = trees.apply(ArrayTable(new, MASK))
    expected = [[walk(trees, t, row) for t in range(N_TREES)] for row in new[:300]]
    np.testing.assert_array_equal(leaves[:300], expected)
    assert (trees.child[leaves] == -1).all()
    assert leaves[-1].tolist() == [walk(trees, t, new[-1]) for t in range(N_TREES)]


@pytest.mark.usefixtures("eager_threads")
@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_add_sums_the_outputs_of_leaves(trees, data, n_threads):
    table = ArrayTable(data[2], MASK)
    expected = whole_outputs(trees)[trees.apply(table)].sum(axis=1)
    np.testing.assert_array_equal(scores(trees, table, n_threads=n_threads), expected)


def test_add_adds(trees, data):
    table, output = ArrayTable(data[2], MASK), whole_outputs(trees)
    score = np.full((table.n_rows, N_OUTPUTS), 5.0)
    trees.add(table, output, score)
    np.testing.assert_array_equal(score, scores(trees, table) + 5)


NUMERIC_HOLDERS = {
    "float32": lambda X: X.astype(np.float32),
    "Fortran": np.asfortranarray,
    "part": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "pandas": pd.DataFrame,
    "polars": lambda X: pl.DataFrame(X, schema=list("abc")),
    "object": lambda X: X.astype(object),
}


@pytest.mark.parametrize("hold", NUMERIC_HOLDERS.values(), ids=NUMERIC_HOLDERS.keys())
@pytest.mark.parametrize("max_depth", [1, 3])
def test_holder_does_not_matter(data, hold, max_depth):
    X, y, new = data
    X, new = X[:, :3], np.round(new[:, :3])
    trees = grow_ensemble(X, y, 2, N_TREES, max_depth=max_depth)
    table = read_table(CARTClassifier(), hold(new), None, reset=True)
    expected = ArrayTable(new, None)
    np.testing.assert_array_equal(trees.apply(table), trees.apply(expected))
    np.testing.assert_array_equal(scores(trees, table), scores(trees, expected))
    if max_depth == 1:
        np.testing.assert_array_equal(tabled(trees, table), scores(trees, expected))


def test_whole_numbers(data):
    X, y, _ = data
    X = np.nan_to_num(X[:, :3]).astype(int)
    trees = grow_ensemble(X, y, 2, N_TREES)
    expected = trees.apply(ArrayTable(X.astype(float), None))
    np.testing.assert_array_equal(trees.apply(ArrayTable(X, None)), expected)


def test_matrix_of_predicts_the_same(trees, data):
    table = ArrayTable(data[2], MASK)
    matrix = trees.matrix_of(table)
    assert not matrix.is_categorical.any()
    np.testing.assert_array_equal(scores(trees, matrix), scores(trees, table))


# ------------------------------------------------------------------------- stump tables


def tabled(stumps, table, **options):
    score = np.zeros((table.n_rows, N_OUTPUTS))
    output = whole_outputs(stumps)
    tables = AdditiveTables.from_stumps(stumps, lambda nodes, t: output[nodes])
    tables.add(table, score, **options)
    return score


@pytest.mark.usefixtures("eager_threads")
@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_tables_equal_stumps(stumps, data, n_threads):
    assert stumps.is_stumps
    assert {True, False} == {stumps.coding[f] is None for f in stumps._features_used()}
    for X in data[::2]:
        table = ArrayTable(X, MASK)
        np.testing.assert_array_equal(
            tabled(stumps, table, n_threads=n_threads), scores(stumps, table)
        )


@pytest.mark.parametrize("n_cuts", [1, 2, 3, 8, 61, 200])
def test_tables_of_any_size(n_cuts):
    X = np.arange(n_cuts + 1.0)[:, None]
    one = grow_tree(X[:2], [0, 1], 2)
    stumps = TreeEnsemble(
        start=3 * np.arange(n_cuts + 1),
        feature=np.tile(one.feature, n_cuts),
        child=np.where(
            np.tile(one.child, n_cuts) > 0, 3 * np.repeat(np.arange(n_cuts), 3) + 1, -1
        ),
        threshold=np.repeat(np.random.default_rng(3).permutation(n_cuts) + 0.5, 3),
        missing_left=np.arange(3 * n_cuts) % 2 == 0,
        which_set=np.tile(one.which_set, n_cuts),
        sets=one.sets,
        value=np.tile(one.value, (n_cuts, 1)),
        gain=np.tile(one.gain, n_cuts),
        coding=[None],
        regression=False,
    )
    new = np.array([*np.arange(-1, n_cuts + 2, 0.5), NAN, 1e300, -1e300])[:, None]
    table = ArrayTable(new, None)
    np.testing.assert_array_equal(tabled(stumps, table), scores(stumps, table))


def test_tables_of_known_against_missing():
    X = np.array([[1.0], [2.0], [NAN], [NAN]])
    stumps = grow_ensemble(X, [0, 0, 1, 1], 2, 3, max_depth=1)
    assert np.isinf(stumps.threshold[0])
    table = ArrayTable(X, None)
    np.testing.assert_array_equal(tabled(stumps, table), scores(stumps, table))


def test_tables_of_trees_without_split():
    X = np.array([[1.0], [1.0], [NAN]])
    leaves = grow_ensemble(X[:2], [0, 1], 2, 3, max_depth=1)
    assert leaves.child.tolist() == [-1, -1, -1] and leaves.is_stumps
    table = ArrayTable(X, None)
    expected = np.tile(whole_outputs(leaves).sum(axis=0), (3, 1))
    np.testing.assert_array_equal(tabled(leaves, table), expected)
    np.testing.assert_array_equal(scores(leaves, table), expected)


# --------------------------------------------------------------------- parts of a whole


def test_slice(trees, data):
    table = ArrayTable(data[2], MASK)
    leaves = trees.apply(table)
    part = trees.slice(2, 5)
    assert part.n_trees == 3
    np.testing.assert_array_equal(part.apply(table), leaves[:, 2:5] - trees.start[2])
    for t in range(N_TREES):
        one = trees.tree(t)
        np.testing.assert_array_equal(
            one.apply(table)[:, 0], leaves[:, t] - trees.start[t]
        )
        assert one.depth() == 4
        assert_identical(trees.slice(0, N_TREES).tree(t), one)


def test_depth():
    X, y = np.arange(8.0)[:, None], np.arange(8) % 2
    assert grow_tree(X, y, 2, max_depth=2).depth() == 2
    assert grow_tree(np.zeros((8, 1)), y, 2).depth() == 0
    assert grow_ensemble(X, y, 2, 3, max_depth=1).is_stumps
    assert not grow_ensemble(X, y, 2, 3, max_depth=2).is_stumps


def test_importances_weigh_trees(trees):
    shares = [trees.tree(t).importances(5, np.ones(1)) for t in range(2)]
    assert not np.allclose(shares[0], shares[1])
    first = trees.slice(0, 2).importances(5, np.array([1.0, 0.0]))
    np.testing.assert_allclose(first, shares[0], rtol=1e-12)
    mixture = trees.slice(0, 2).importances(5, np.array([1.0, 1e3]))
    np.testing.assert_allclose(mixture, shares[1], atol=2e-3)
    assert mixture.sum() == pytest.approx(1)


def test_importances_without_split():
    tree = grow_tree(np.zeros((4, 2)), [0, 1, 0, 1], 2)
    assert tree.importances(2, np.ones(1)).tolist() == [0, 0]


def test_values_are_in_the_units_of_the_weights(trees, data):
    X, y, _ = data
    weight = np.random.default_rng(0).exponential(size=(N_TREES, len(y)))
    leaves = trees.apply(ArrayTable(X, MASK))
    for t in range(N_TREES):
        nodes = slice(trees.start[t], trees.start[t + 1])
        sums = np.zeros((trees.child.size, 2))
        np.add.at(sums, (leaves[:, t], y), weight[t])
        leaf = trees.child[nodes] < 0
        np.testing.assert_allclose(trees.value[nodes][leaf], sums[nodes][leaf])
    roots = np.array([weight[:, y == c].sum(axis=1) for c in (0, 1)]).T
    np.testing.assert_allclose(trees.value[trees.start[:-1]], roots)


def test_class_shares_forgive_rounding():
    weight = [0.1, 0.1, 0.1, 0.3]  # 0.1 + 0.1 + 0.1 > 0.3
    for y in ([0, 0, 0, 1], [1, 1, 1, 0]):
        tree = grow_tree(np.zeros((4, 1)), y, 2, weight)
        assert tree.class_shares().tolist() == [[0.5, 0.5]]
    tree = grow_tree(np.zeros((4, 1)), y, 2, [1, 1, 1, 3.0001])
    assert tree.class_shares().argmax() == 0
    assert tree.class_shares()[0, 0] == pytest.approx(3.0001 / 6.0001, rel=1e-12)


def test_categories_of_another_type_are_warned_of():
    frame = pd.DataFrame({"town": pd.Categorical([1, 2, 1, 2])})
    tree = CARTClassifier().fit(frame, [0, 1, 0, 1])
    with pytest.warns(UserWarning, match="'town' has no category.*holds str.* on int"):
        tree.predict(pd.DataFrame({"town": pd.Categorical(["1", "2"])}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree.predict(pd.DataFrame({"town": pd.Categorical([7, 8])}))


# --------------------------------------------------------------------------------- text


def test_text_of_numbers():
    X = pd.DataFrame(
        {"age": [1, 2, 3, NAN, 5, 6, 7], "size": [0, 1, 0, 0, 0, NAN, 0]}, dtype=float
    )
    tree = CARTRegressor().fit(X, [0, 1, 0, 0, 10, 11, 10])
    assert tree.to_text() == "\n".join(
        [
            "age <= 4 or missing",
            "├── yes: size <= 0.5 or missing",
            "│   ├── yes: 0 (weight 3)",
            "│   └── no: 1 (weight 1)",
            "└── no: size is known",
            "    ├── yes: 10 (weight 2)",
            "    └── no: 11 (weight 1)",
        ]
    )


def test_text_of_categories():
    X = pd.DataFrame({"town": pd.Categorical(["Ulm", "Bonn", "Köln", None, "Bonn"])})
    tree = CARTRegressor(max_depth=1).fit(X, [1.0, 5.0, 1.0, 1.0, 5.0])
    assert tree.to_text() == "\n".join(
        [
            "town in {Köln, Ulm} or missing",
            "├── yes: 1 (weight 3)",
            "└── no: 5 (weight 2)",
        ]
    )


def test_text_without_names_or_splits():
    tree = CARTClassifier().fit([[0, 1], [0, 2]], [5, 6], [1, 2.5])
    assert tree.to_text(digits=1).startswith("x1 <= 1.5\n")
    tree.fit([[0], [0]], [5, 6], [1, 2.5])
    assert tree.to_text(digits=3) == "class 6 (share 0.714, weight 3.5)"
    tree.fit([[1e-7], [4e-7]], [5, 6])
    assert tree.to_text().startswith("x0 <= 2.5e-07 or missing\n")
