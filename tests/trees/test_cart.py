"""CART estimators: against scikit-learn, as scikit-learn wants them, and bad input."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from helpers import (
    CATEGORICAL,
    NAN,
    assert_identical,
    assert_same_nodes,
    list_nodes,
    mixed_data,
    read_data,
)
from splboost.trees import CARTClassifier, CARTRegressor
from splboost.trees.grower import advance

every_cart = pytest.mark.parametrize("CART", [CARTClassifier, CARTRegressor])


# ----------------------------------------------------------------- against scikit-learn


def numbers(n_classes, seed=0, n=600):
    """Whole numbers below 255, and a target that depends on them."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 255, size=(n, 4)).astype(float)
    X[:, 1] //= 16
    score = X[:, 0] / 64 + np.sin(X[:, 1]) + rng.normal(size=n)
    weight = rng.exponential(size=n)
    if n_classes:
        cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
        return X, np.searchsorted(cuts, score), weight
    return X, score, weight


@pytest.mark.parametrize("max_depth", [1, 2, 3, 4])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_equals_scikit_learn_classifier(n_classes, criterion, max_depth):
    X, y, weight = numbers(n_classes)
    options = {"criterion": criterion, "max_depth": max_depth}
    ours = CARTClassifier(**options).fit(X, y, weight)
    theirs = DecisionTreeClassifier(**options, random_state=0).fit(X, y, weight)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_)
    assert ours.get_depth() == theirs.get_depth()


@pytest.mark.parametrize(
    "options",
    [
        {"max_depth": 1},
        {"max_depth": 4},
        {"max_leaf_nodes": 11},
        {"max_depth": 4, "min_samples_leaf": 25},
        {"max_depth": 4, "min_weight_fraction_leaf": 0.07},
    ],
    ids=str,
)
def test_equals_scikit_learn_regressor(options):
    X, y, weight = numbers(0)
    ours = CARTRegressor(**options).fit(X, y, weight)
    theirs = DecisionTreeRegressor(**options, random_state=0).fit(X, y, weight)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_)


def test_nearly_equals_scikit_learn_beyond_255_values():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4000, 5))
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=4000) > 1).astype(int)
    train, test = slice(0, 2000), slice(2000, None)
    scores = [
        tree(max_depth=5, random_state=0)
        .fit(X[train], y[train])
        .score(X[test], y[test])
        for tree in (CARTClassifier, DecisionTreeClassifier)
    ]
    assert abs(scores[0] - scores[1]) < 0.02


# ------------------------------------------------------------------------------ weights


def mixed(CART, n=500):
    X, y = mixed_data(n, 3 if CART is CARTClassifier else 0)
    return X, np.round(y * 4) / 4


@every_cart
def test_weight_zero_is_no_row(CART):
    X, y = mixed(CART)
    X[:, 0] = np.random.default_rng(2).normal(size=len(y))  # by quantiles
    weight = np.random.default_rng(3).exponential(size=len(y))
    weight[::3] = 0
    kept = weight > 0
    tree = CART(categorical_features=CATEGORICAL)
    first = clone(tree).fit(X, y, weight)
    second = clone(tree).fit(X[kept], y[kept], weight[kept])
    assert_identical(first.tree_, second.tree_)
    np.testing.assert_array_equal(first.predict(X), second.predict(X))


@every_cart
@pytest.mark.parametrize("frame", [False, True])
def test_weight_is_number_of_copies(CART, frame):
    X, y = mixed(CART)
    X[:, 0] = np.random.default_rng(2).normal(size=len(y))
    copies = np.random.default_rng(4).integers(0, 4, size=len(y))
    rows = np.repeat(np.arange(len(y)), copies)
    hold = pd.DataFrame if frame else np.asarray
    tree = CART(categorical_features=CATEGORICAL, min_weight_fraction_leaf=0.01)
    first = clone(tree).fit(hold(X), y, copies)
    second = clone(tree).fit(hold(X[rows]), y[rows])
    np.testing.assert_allclose(
        first.predict(hold(X)), second.predict(hold(X)), atol=1e-12
    )


def test_tied_classes_do_not_depend_on_how_weights_add_up():
    X = np.array([[0.0]] * 4 + [[1.0]] * 9)
    y = np.array([0, 0, 0, 1] + [1] * 9)
    weight = np.ones(13)
    for heavy in np.arange(1, 40) / 10:
        weight[:4] = [heavy, heavy, heavy, heavy * 3]
        tree = CARTClassifier(max_depth=1).fit(X, y, weight)
        assert tree.predict([[0.0]]) == [0]
        assert tree.predict_proba([[0.0]]).tolist() == [[0.5, 0.5]]


def test_balanced_classes_have_equal_weight():
    X, y = mixed_data(300, 3)
    y[y == 2] = np.repeat([2, 3], [90, 10])
    weight = np.random.default_rng(5).exponential(size=len(y))
    tree = CARTClassifier(class_weight="balanced", max_depth=2).fit(X, y, weight)
    np.testing.assert_allclose(tree.tree_.value[0], weight.sum() / 4)
    factor = weight.sum() / (4 * np.bincount(y, weight))
    by_hand = CARTClassifier(class_weight=dict(enumerate(factor)), max_depth=2)
    for other in (
        by_hand.fit(X, y, weight),
        CARTClassifier(max_depth=2).fit(X, y, weight * factor[y]),
    ):
        assert_same_nodes(list_nodes(tree.tree_), list_nodes(other.tree_))


def test_class_weights_of_some_classes():
    X, y = mixed_data(300, 2)
    labels = np.array(["no", "yes"])[y]
    tree = CARTClassifier(class_weight={"yes": 3}, max_depth=3).fit(X, labels)
    other = CARTClassifier(max_depth=3).fit(X, labels, np.where(y == 1, 3, 1))
    assert_identical(tree.tree_, other.tree_)


def test_class_without_weight_leaves_no_trace():
    X, y = np.arange(600.0)[:, None], np.arange(600) % 3
    tree = CARTClassifier(class_weight={1: 0}).fit(X, y)
    other = CARTClassifier().fit(X[y != 1], y[y != 1])
    assert tree.classes_.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(tree.predict(X), other.predict(X))
    assert (tree.predict_proba(X)[:, 1] == 0).all()


# -------------------------------------------------------------------------- predictions


@pytest.mark.parametrize(
    ("factor", "shift"),
    [(1e-9, 0), (1e9, 0), (1, 1e6), (1e-200, 0), (1e200, 0), (1e-3, -1e5)],
)
def test_unit_of_target_does_not_matter(factor, shift):
    X, y, weight = numbers(0)
    tree = CARTRegressor(max_depth=4).fit(X, y, weight)
    other = CARTRegressor(max_depth=4).fit(X, factor * y + shift, weight)
    np.testing.assert_array_equal(tree.apply(X), other.apply(X))
    np.testing.assert_allclose(
        other.predict(X), factor * tree.predict(X) + shift, rtol=1e-9
    )


@pytest.mark.parametrize("value", [0.0, 1e-300, -7.5, 3e12])
def test_constant_target(value):
    X, _, _ = numbers(0)
    tree = CARTRegressor().fit(X, np.full(len(X), value))
    assert tree.get_depth() == 0 and tree.get_n_leaves() == 1
    np.testing.assert_allclose(tree.predict(X), value)


def test_one_row():
    assert CARTRegressor().fit([[1.0]], [3.0]).predict([[2.0], [NAN]]).tolist() == [
        3,
        3,
    ]


# --------------------------------------------------------------- kinds of input at once


@pytest.fixture(scope="module")
def adult():
    frame, target = read_data("adult")
    strings = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    assert len(strings) == 8
    return frame.astype(dict.fromkeys(strings, "category")), target, strings


@pytest.mark.filterwarnings("ignore:X (does not have|has) (valid )?feature names")
def test_adult_by_pandas_polars_and_codes(adult):
    frame, target, strings = adult
    polars = pl.from_pandas(frame.astype(dict.fromkeys(strings, "str"))).with_columns(
        [
            pl.Series(
                name, frame[name].astype(object).where(frame[name].notna(), None)
            ).cast(pl.Categorical)
            for name in strings
        ]
    )
    codes = frame.copy()
    for name in strings:
        codes[name] = frame[name].cat.codes.replace(-1, NAN)
    codes = codes.to_numpy(dtype=float)
    listed = [frame.columns.get_loc(name) for name in strings]

    tree = CARTClassifier(max_leaf_nodes=60)
    from_pandas = clone(tree).fit(frame, target)
    from_polars = clone(tree).fit(polars, target)
    from_codes = clone(tree).set_params(categorical_features=listed).fit(codes, target)
    assert from_pandas.score(frame, target) > 0.86
    expected = from_pandas.predict_proba(frame)
    np.testing.assert_array_equal(from_polars.predict_proba(polars), expected)
    np.testing.assert_array_equal(from_codes.predict_proba(codes), expected)
    np.testing.assert_array_equal(from_pandas.predict_proba(polars), expected)
    np.testing.assert_array_equal(from_polars.predict_proba(frame), expected)


# ------------------------------------------------------------------ scikit-learn's life


@pytest.mark.parametrize(
    ("max_features", "number"),
    [(None, 10), ("sqrt", 3), ("log2", 3), (4, 4), (40, 10), (0.25, 2), (0.01, 1)],
    ids=str,
)
def test_number_of_features(max_features, number):
    tree = CARTClassifier(max_features=max_features)
    assert tree.tree_options(10).max_features == number


@every_cart
def test_max_features_is_reproducible(CART):
    X, y = mixed(CART)
    trees = [CART(max_features=1, random_state=s).fit(X, y).tree_ for s in (0, 0, 1)]
    assert_identical(trees[0], trees[1])
    assert trees[0].feature.tolist() != trees[2].feature.tolist()
    whole = [CART(random_state=s).fit(X, y).tree_ for s in (0, 1)]
    assert_identical(*whole)


@every_cart
@pytest.mark.usefixtures("eager_threads")
@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_n_jobs_does_not_matter(CART, n_jobs):
    X, y = mixed(CART)
    tree = CART(categorical_features=CATEGORICAL).fit(X, y)
    assert_identical(clone(tree).set_params(n_jobs=n_jobs).fit(X, y).tree_, tree.tree_)


@every_cart
def test_pickle_and_clone(CART):
    X, y = mixed(CART)
    tree = CART(categorical_features=CATEGORICAL, n_jobs=2).fit(X, y)
    copy = pickle.loads(pickle.dumps(tree))
    np.testing.assert_array_equal(copy.predict(X), tree.predict(X))
    assert copy.to_text() == tree.to_text()
    assert clone(tree).get_params() == tree.get_params()
    with pytest.raises(NotFittedError):
        clone(tree).predict(X)


# ---------------------------------------------------------------------------- bad input

X_SMALL = np.array([[0.0], [1.0], [2.0], [3.0]])
Y_SMALL = np.array([0, 1, 0, 1])


@pytest.mark.parametrize(
    "options",
    [
        {"max_depth": 0},
        {"max_leaf_nodes": 1},
        {"min_samples_leaf": 0},
        {"min_weight_fraction_leaf": 0.6},
        {"max_features": 0},
        {"max_features": "all"},
        {"categorical_features": "x"},
        {"n_jobs": 1.5},
        {"random_state": "seed"},
    ],
    ids=str,
)
@every_cart
def test_bad_parameters(CART, options):
    (name,) = options
    with pytest.raises(ValueError, match=f"The '{name}' parameter of {CART.__name__}"):
        CART(**options).fit(X_SMALL, Y_SMALL)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": "mse"}, "The 'criterion' parameter of CARTClassifier"),
        ({"class_weight": "even"}, "The 'class_weight' parameter of CARTClassifier"),
        ({"class_weight": {7: 1}}, r"class_weight names \[7\]"),
        ({"class_weight": {0: -1}}, r"class_weight contains \{0: -1\}"),
        ({"class_weight": {0: NAN}}, r"class_weight contains \{0: nan\}"),
        ({"class_weight": {0: np.inf}}, r"class_weight contains \{0: inf\}"),
        ({"class_weight": {0: 0, 1: 0}}, "leaves fewer than two classes"),
        ({"n_jobs": 0}, "n_jobs=0 has no meaning"),
    ],
    ids=str,
)
def test_bad_parameters_of_the_classifier(options, message):
    with pytest.raises(ValueError, match=message):
        CARTClassifier(**options).fit(X_SMALL, Y_SMALL)


BAD_TARGETS = {
    "none": (None, "requires y to be passed"),
    "short": ([0, 1], "X has 4 rows and y has 2 values"),
    "NaN": ([0, 1, NAN, 1], "Input y contains NaN. Remove the rows"),
    "infinity": ([0, 1, np.inf, 1], "Input y contains infinity. Remove the rows"),
    "None": (np.array([0, 1, None, 1], dtype=object), "Input y contains NaN or None"),
    "NA": (pd.array([0, 1, None, 1], dtype="Int64"), "Input y contains NaN"),
    "complex": (np.ones(4, dtype=complex), "Complex data not supported"),
    "table": (np.ones((4, 2)), "y should be a 1d array"),
}


@every_cart
@pytest.mark.parametrize(("y", "message"), BAD_TARGETS.values(), ids=BAD_TARGETS.keys())
def test_bad_targets(CART, y, message):
    with pytest.raises(ValueError, match=message):
        CART().fit(X_SMALL, y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, 1, 1, 1], "y contains only one class, .*1.*needs at least two classes"),
        ([0.5, 1.5, 2.5, 0.1], "Unknown label type"),
        (
            pd.array(["a", "b", None, "a"], dtype="string"),
            "Input y contains NaN or None",
        ),
    ],
    ids=["one class", "continuous", "missing string"],
)
def test_bad_labels(y, message):
    with pytest.raises(ValueError, match=message):
        CARTClassifier().fit(X_SMALL, y)


def test_one_class_once_weights_are_counted():
    with pytest.raises(ValueError, match="among the samples of positive weight"):
        CARTClassifier().fit(X_SMALL, Y_SMALL, [1, 0, 1, 0])


def test_words_are_no_targets():
    with pytest.raises(ValueError, match="y must be numeric for regression"):
        CARTRegressor().fit(X_SMALL, ["a", "b", "c", "d"])


BAD_WEIGHTS = {
    "negative": ([1, 1, -0.5, 1], "Negative values .*the smallest is -0.5"),
    "zero": ([0, 0, 0, 0], "Sample weights are all zero"),
    "short": ([1, 1, 1], r"sample_weight.shape == \(3,\), expected \(4,\)"),
    "table": (np.ones((4, 1)), "Sample weights must be 1D array or scalar"),
    "NaN": ([1, NAN, 1, 1], "sample_weight contains NaN"),
    "infinity": ([1, np.inf, 1, 1], "sample_weight contains infinity"),
    "huge": ([1e308] * 4, "Sample weights sum to inf"),
    "tiny": ([1e-300] * 4, "Sample weights sum to 4e-300"),
    "words": (["a"] * 4, "could not convert string to float"),
}


@every_cart
@pytest.mark.parametrize(
    ("weight", "message"), BAD_WEIGHTS.values(), ids=BAD_WEIGHTS.keys()
)
def test_bad_weights(CART, weight, message):
    with pytest.raises(ValueError, match=message):
        CART().fit(X_SMALL, Y_SMALL, weight)


def test_scalar_weight_is_for_all_rows():
    tree = CARTClassifier().fit(X_SMALL, Y_SMALL, 2.5)
    assert tree.tree_.value[0].tolist() == [5, 5]


@pytest.mark.parametrize(
    "layout", ["read-only", "strided", "series", "float32", "list"]
)
def test_layout_of_weights_does_not_matter(layout):
    X, y, _ = numbers(2)
    weight = np.random.default_rng(6).integers(1, 9, size=len(y)).astype(float)
    tree = CARTClassifier(max_depth=2).fit(X, y, weight)
    n_compiled = len(advance.signatures)
    if layout == "read-only":
        weight.flags.writeable = False
    elif layout == "strided":
        weight = np.repeat(weight, 2)[::2]
    elif layout == "series":
        weight = pd.Series(weight)
    elif layout == "float32":
        weight = weight.astype(np.float32)
    else:
        weight = weight.tolist()
    other = CARTClassifier(max_depth=2).fit(X, y, weight)
    assert_identical(tree.tree_, other.tree_)
    assert len(advance.signatures) == n_compiled  # another would take half a minute


def test_values_beyond_those_fitted():
    X = np.linspace(0, 1, 2000)[:, None]
    tree = CARTClassifier().fit(X, X[:, 0] > 0.5)
    assert tree.predict([[1e300], [-1e300]]).tolist() == [True, False]


def test_regression_of_huge_targets():
    y = np.where(Y_SMALL == Y_SMALL[0], 1.7e308, 1.6e308)
    tree = CARTRegressor().fit(X_SMALL, y)
    np.testing.assert_allclose(tree.predict(X_SMALL), y, rtol=1e-12)
    with pytest.raises(ValueError, match="y contains infinity"):
        CARTRegressor().fit(X_SMALL, np.array([np.inf, *y[1:]], dtype=object))


@pytest.mark.parametrize("CART", [CARTClassifier, CARTRegressor])
def test_a_fit_that_fails_leaves_the_tree_as_it_was(CART):
    tree = CART().fit(X_SMALL, Y_SMALL)
    leaves = tree.apply(X_SMALL)
    with pytest.raises(ValueError):
        tree.fit(np.c_[X_SMALL, X_SMALL], Y_SMALL[:-1])
    np.testing.assert_array_equal(tree.apply(X_SMALL), leaves)


def test_too_many_classes():
    y = np.arange(70_000)
    with pytest.raises(ValueError, match=r"y has 70000 classes.*use a regressor"):
        CARTClassifier().fit(y[:, None], y)
