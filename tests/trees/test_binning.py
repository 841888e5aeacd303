"""Bins hold what they say, and codes agree with every threshold made of them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from helpers import NAN, list_nodes
from splboost._data.table import ArrayTable, read_table
from splboost.trees import binning
from splboost.trees.binning import CATEGORICAL, EXACT, MAX_BINS, QUANTILE, bin_table
from splboost.trees.ensemble import TreeEnsemble
from splboost.trees.estimators import CARTClassifier
from splboost.trees.grower import TreeGrower
from splboost.trees.workspace import TreeOptions

TINY = 5e-324  # the least positive float


def bin_array(X, weight=None, categorical=None, n_threads=1):
    table = read_table(CARTClassifier(), X, categorical, reset=True)
    weight = np.ones(table.n_rows) if weight is None else np.asarray(weight, float)
    return bin_table(table, weight, n_threads=n_threads)


def points(binned, j=0):
    return binned.points[binned.offset[j] : binned.offset[j + 1] - 1]


def assert_same_binning(binned, other):
    for name in ("codes", "n_bins", "kind", "offset", "points"):
        np.testing.assert_array_equal(getattr(binned, name), getattr(other, name), name)


@pytest.fixture
def few_bins(monkeypatch):
    monkeypatch.setattr(binning, "MAX_BINS", 4)


# ------------------------------------------------------------------------ exact columns


def test_up_to_255_values_are_exact():
    x = np.random.default_rng(0).permutation(np.repeat(np.arange(MAX_BINS) / 7, 3))
    binned = bin_array(np.c_[x])
    assert binned.kind[0] == EXACT
    np.testing.assert_array_equal(points(binned), np.unique(x))
    np.testing.assert_array_equal(points(binned)[binned.codes[0]], x)


def test_256_values_are_not():
    binned = bin_array(np.c_[np.arange(MAX_BINS + 1.0)])
    assert binned.kind[0] == QUANTILE
    assert binned.n_bins[0] == MAX_BINS


def test_missing_has_the_code_after_the_last_bin():
    binned = bin_array(np.array([[2.0], [NAN], [1.0]]))
    assert binned.codes[0].tolist() == [1, 2, 0]
    full = bin_array(np.c_[np.append(np.arange(MAX_BINS), NAN)])
    assert full.kind[0] == EXACT
    assert full.codes[0, -1] == 255


@pytest.mark.parametrize(
    ("x", "codes"),
    [
        ([0.0, -0.0, 1.0], [0, 0, 1]),
        ([-0.0, 0.0, -1.0], [1, 1, 0]),
        ([1e308, -1.7e308, 1.7e308], [1, 0, 2]),
        ([TINY, 0.0, -TINY, 2 * TINY, 3 * TINY], [2, 1, 0, 3, 4]),
        ([1.0, np.nextafter(1, 2), np.nextafter(1, 0)], [1, 2, 0]),
        ([7.0, 7.0, 7.0], [0, 0, 0]),
        ([NAN, NAN], [0, 0]),
    ],
    ids=["-0 second", "-0 first", "huge", "tiny", "close", "constant", "missing"],
)
def test_special_values(x, codes):
    assert bin_array(np.c_[np.array(x)]).codes[0].tolist() == codes


SAME = np.random.default_rng(1).integers(-100, 100, size=(300, 3)) // [1, 9, 150]
HOLDERS = {
    "Fortran": np.asfortranarray(SAME, dtype=float),
    "every second column": np.repeat(SAME.astype(float), 2, axis=1)[:, ::2],
    "backwards": SAME.astype(float)[::-1][::-1],
    "float32": SAME.astype(np.float32),
    "float16": SAME.astype(np.float16),
    "int64": SAME,
    "int8": SAME.astype(np.int8),
    "read-only": np.frombuffer(SAME.astype(float).tobytes()).reshape(SAME.shape),
    "pandas": pd.DataFrame(SAME, columns=list("abc")),
    "pandas Int64": pd.DataFrame(SAME, columns=list("abc")).astype("Int64"),
    "polars": pl.DataFrame(SAME.astype(np.float32), schema=list("abc")),
}


@pytest.mark.parametrize("X", HOLDERS.values(), ids=HOLDERS.keys())
def test_holder_does_not_matter(X):
    assert_same_binning(bin_array(X), bin_array(SAME.astype(float)))


def test_long_whole_numbers_are_read_block_by_block():
    x = np.arange(150_000) % 199
    binned = bin_array(np.c_[x, x[::-1]])
    np.testing.assert_array_equal(binned.codes, [x, x[::-1]])


# ---------------------------------------------------------------------------- quantiles


@pytest.mark.usefixtures("few_bins")
@pytest.mark.parametrize(
    ("x", "edges"),
    [
        (np.arange(8), [1.5, 3.5, 5.5, np.inf]),
        ([0] * 6 + [1, 2, 3, 4, 5, 6], [0.5, 2.5, 4.5, np.inf]),
        ([1, 2, NAN, 3, 4, 5, NAN, 6, 7, 8], [2.5, 4.5, 6.5, np.inf]),
    ],
    ids=["even", "heavy first", "missing"],
)
def test_small_quantiles(x, edges):
    binned = bin_array(np.c_[np.array(x, dtype=float)])
    assert binned.kind[0] == QUANTILE
    assert points(binned).tolist() == edges


def test_bins_are_of_about_equal_weight():
    rng = np.random.default_rng(2)
    x, weight = rng.normal(size=20_000), rng.exponential(size=20_000)
    weight[x > 1] *= 10
    binned = bin_array(np.c_[x], weight)
    mass = np.bincount(binned.codes[0], weight)
    assert mass.size == MAX_BINS
    assert abs(mass - mass.mean()).max() < 2 * weight.max()


@settings(max_examples=100)
@given(
    arrays(np.int8, 30, elements=st.integers(0, 20)),
    arrays(np.int8, 30, elements=st.integers(1, 4)),
)
def test_weight_is_number_of_copies(x, copies):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(binning, "MAX_BINS", 4)
        weighted = bin_array(np.c_[x.astype(float)], copies)
        copied = bin_array(np.c_[np.repeat(x.astype(float), copies)])
    assert points(weighted).tolist() == points(copied).tolist()


def test_equal_weights_do_not_matter():
    X = np.random.default_rng(3).normal(size=(900, 2))
    assert_same_binning(bin_array(X), bin_array(X, np.full(900, 0.3)))


@pytest.mark.usefixtures("eager_threads")
@pytest.mark.parametrize("n_threads", [3, 50])  # of 35 columns
@pytest.mark.parametrize("holder", [np.asarray, pd.DataFrame, np.asfortranarray])
def test_threads_do_not_matter(n_threads, holder):
    X = np.random.default_rng(4).normal(size=(5000, 35))
    X[:, ::3] = np.round(X[:, ::3])
    X[::50] = NAN
    X = holder(X)
    assert_same_binning(bin_array(X, n_threads=n_threads), bin_array(X))


# ----------------------------------------------------------------------------- sampling

LONG = 2 * binning.SAMPLE_ROWS + 11


RARE = np.linspace(0, LONG - 1, 250).astype(int)  # rows, half of them not in the sample


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_values_missed_by_the_sample_are_found(dtype):
    x = np.arange(LONG) % 5
    x[RARE] = 10 + np.arange(RARE.size)
    binned = bin_array(np.c_[x.astype(dtype)])
    assert binned.kind[0] == EXACT
    assert points(binned).tolist() == [0, 1, 2, 3, 4, *x[RARE]]
    np.testing.assert_array_equal(points(binned)[binned.codes[0]], x)


def test_one_value_too_many_missed_by_the_sample():
    x = np.arange(LONG) % 6 / 1.0
    x[RARE] = 10 + np.arange(RARE.size)
    binned = bin_array(np.c_[x])
    assert binned.kind[0] == QUANTILE
    assert (
        np.diff(binned.codes[0][np.argsort(x, kind="stable")].astype(int)) >= 0
    ).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_bins_do_not_depend_on_the_order_of_rows(dtype, weighted):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(LONG, 3)).astype(dtype)
    X[:, 0] = X[:, 0].round(1)
    X[rng.random(LONG) < 0.1, 1] = NAN
    X[: LONG // 3] = X[0]  # copies, of which some are in the sample
    weight = rng.choice([1.0, 2.0], size=LONG) if weighted else np.ones(LONG)
    order = rng.permutation(LONG)
    binned = bin_table(ArrayTable(X, None), weight)
    again = bin_table(ArrayTable(X[order], None), weight[order])
    np.testing.assert_array_equal(again.points, binned.points)
    np.testing.assert_array_equal(again.codes, binned.codes[:, order])
    frame = pd.DataFrame(X, columns=list("abc"))
    assert_same_binning(bin_array(frame), bin_array(X))


def test_copies_of_a_row_are_in_the_sample_by_their_number():
    x = np.random.default_rng(9).normal(size=LONG)
    x[: LONG // 2] = 7.0
    binned = bin_array(np.c_[x])
    below = np.bincount(binned.codes[0])[: binned.codes[0, 0]]
    assert abs(below * MAX_BINS / LONG - 1).max() < 0.35


def test_quantiles_of_a_long_column():
    x = np.random.default_rng(5).normal(size=LONG)
    mass = np.bincount(bin_array(np.c_[x]).codes[0])
    assert mass.size == MAX_BINS
    assert abs(mass * MAX_BINS / LONG - 1).max() < 0.25


@pytest.mark.usefixtures("eager_threads")
@pytest.mark.parametrize("n_threads", [1, 2])
def test_long_column_of_which_the_sample_knows_little(n_threads):
    x = np.full(LONG, NAN)
    x[np.linspace(0, LONG - 1, 1000).astype(int)] = np.arange(1000.0)
    binned = bin_array(np.c_[x, x], n_threads=n_threads)
    assert binned.kind.tolist() == [QUANTILE, QUANTILE]
    mass = np.bincount(binned.codes[0])
    assert mass.size == MAX_BINS + 1 and mass[:-1].max() == 4
    assert mass[-1] == LONG - 1000


# ------------------------------------------------------------- codes against thresholds

columns = arrays(
    np.float64,
    st.integers(2, 40),
    elements=st.one_of(
        st.floats(allow_infinity=False, width=64),
        st.integers(-4, 4).map(float),
        st.integers(0, 9).map(lambda k: k * TINY),
    ),
)


@pytest.mark.parametrize("max_bins", [3, 255])
@settings(max_examples=120)
@given(columns, st.integers(0, 2**32 - 1))
@example(np.array([1.5e308, 1.6e308, 1.7e308, -1.7e308]), 1)
def test_codes_agree_with_thresholds(max_bins, x, seed):
    rng = np.random.default_rng(seed)
    weight = rng.choice([0.0, 1.0, 1.0, 2.0], size=x.size)
    weight[0] = 1.0
    table = ArrayTable(np.c_[x], None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(binning, "MAX_BINS", max_bins)
        binned = bin_table(table, np.ones(x.size))
    y = rng.integers(0, 2, size=x.size).astype(np.uint8)
    grower = TreeGrower(binned, y, 2, TreeOptions())
    tree = TreeEnsemble.from_grown([grower.grow(weight)], 2, [None])
    np.testing.assert_array_equal(tree.apply(table)[:, 0], grower.leaf)
    for split, _ in list_nodes(tree):
        if split is not None and np.isfinite(split[1]):
            left = x <= split[1]
            codes = binned.codes[0].astype(int)
            assert codes[left].max(initial=-1) < codes[~left].min(initial=256)
            assert x[~np.isnan(x)].min() <= split[1] < np.nanmax(x)


NORMAL = np.random.default_rng(5).normal(size=4000)
SHAPES = {
    "normal": NORMAL,
    "heavy tails": NORMAL**15,
    "one outlier": np.append(NORMAL, 1e308),
    "both ends": np.concatenate([NORMAL, [-1.7e308, 1.7e308]]),
    "tiny range": NORMAL * 1e-310,
    "far away": 1e15 + np.round(NORMAL * 1000),
    "missing": np.where(NORMAL > 1, NAN, NORMAL),
}


@pytest.mark.parametrize("x", SHAPES.values(), ids=SHAPES.keys())
def test_code_is_the_number_of_edges_below(x):
    binned = bin_array(np.c_[x])
    assert binned.kind[0] == QUANTILE
    edges = points(binned)
    codes = np.where(np.isnan(x), edges.size, np.searchsorted(edges, x, side="left"))
    np.testing.assert_array_equal(binned.codes[0], codes)


@pytest.mark.usefixtures("few_bins")
def test_cut_lies_midway_across_empty_bins():
    x = np.arange(8.0)  # edges 1.5, 3.5 and 5.5
    binned = bin_array(np.c_[x])
    grower = TreeGrower(binned, (x > 3).astype(np.uint8), 2, TreeOptions())
    grown = grower.grow(np.where((x < 2) | (x > 5), 1.0, 0.0))
    tree = TreeEnsemble.from_grown([grown], 2, [None])
    assert tree.threshold[0] == 3.5
    assert grower.leaf.tolist() == [1, 1, 1, 1, 2, 2, 2, 2]


# --------------------------------------------------------------------------- categories


def test_categories_are_coded_in_order_of_value():
    binned = bin_array(np.array([["b"], ["a"], [None], ["c"]], dtype=object), None, [0])
    assert binned.kind[0] == CATEGORICAL
    assert binned.categories[0] == {"a": 0, "b": 1, "c": 2}
    assert binned.codes[0].tolist() == [1, 0, 3, 2]


def test_categories_without_an_order():
    X = np.array([["b"], [1], [None], [(2,)], [1]], dtype=object)
    binned = bin_array(X, None, [0])
    codes = binned.codes[0].tolist()
    assert sorted(set(codes)) == [0, 1, 2, 3]
    assert codes[1] == codes[4] and codes[2] == 3


def test_categories_without_a_row_have_no_code():
    frame = pd.DataFrame({"a": pd.Categorical(["b", "d"], categories=list("abcd"))})
    assert bin_array(frame).categories[0] == {"b": 0, "d": 1}


def test_only_missing_categories():
    X = pl.DataFrame({"a": pl.Series([None, None], dtype=pl.Categorical)})
    binned = bin_array(X)
    assert binned.n_bins[0] == 0
    assert binned.codes[0].tolist() == [0, 0]
    assert CARTClassifier().fit(X, [0, 1]).predict(X).tolist() == [0, 0]


@pytest.mark.filterwarnings("error")
def test_255_categories_all_have_a_code():
    x = np.arange(255.0)
    assert (bin_array(np.c_[x], None, [0]).codes[0] == x).all()


def test_more_than_255_categories_are_pooled():
    labels = [f"c{k:03}" for k in range(300)]
    copies = np.where(np.arange(300) < 46, 1, 2)  # the 46 first are the rarest
    frame = pd.DataFrame({"town": pd.Categorical(np.repeat(labels, copies))})
    with pytest.warns(
        UserWarning, match=r"255 categories: 'town' \(300\)\. The 254 heav"
    ):
        binned = bin_array(frame)
    coding = binned.categories[0]
    assert {coding[label] for label in labels[:46]} == {254}
    assert [coding[label] for label in labels[46:]] == list(range(254))
    assert binned.n_bins[0] == 255
    with pytest.warns(UserWarning, match="town"):
        weighted = bin_array(pd.DataFrame({"town": pd.Categorical(labels)}), copies)
    assert weighted.categories[0] == coding
