"""What several test files share: pairwise designs, comparable trees, data."""

import itertools
import os
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from reference import goes_left
from splboost._data.table import ArrayTable
from splboost.trees.binning import bin_table
from splboost.trees.ensemble import TreeEnsemble
from splboost.trees.grower import TreeGrower
from splboost.trees.workspace import TreeOptions

NAN = np.nan
N_CATEGORIES = 5


def pairwise(options, allowed=None):
    """Sets of options, as dicts, in which each pair of their values occurs.

    ``allowed`` says whether there may be a set; pairs that are in none are left out.
    """
    draw = random.Random(0)

    def pairs(case):
        return set(itertools.combinations(case.items(), 2))

    if allowed is None:
        missing = {
            ((a, x), (b, y))
            for a, b in itertools.combinations(options, 2)
            for x in options[a]
            for y in options[b]
        }
    else:
        every = itertools.product(*options.values())
        cases = (dict(zip(options, values, strict=True)) for values in every)
        missing = set().union(*map(pairs, filter(allowed, cases)))
    while missing:
        best, covered = None, set()
        first = sorted(missing, key=repr)[:200]
        for _ in range(60):
            (a, x), (b, y) = draw.choice(first)
            case = {name: draw.choice(values) for name, values in options.items()}
            case |= {a: x, b: y}
            found = missing & pairs(case)
            if len(found) > len(covered) and (allowed is None or allowed(case)):
                best, covered = case, found
        missing -= covered
        if best is not None:
            yield best


def parametrize_pairs(allowed=None, **options):
    """Parametrize a test with a pairwise design of options."""
    cases = [tuple(case.values()) for case in pairwise(options, allowed)]
    return pytest.mark.parametrize(tuple(options), sorted(cases, key=repr))


def parametrize_by_turns(**options):
    """Parametrize a test with each value of the first option; the others take turns."""
    (first, values), *rest = options.items()
    cases = [
        (value, *(others[k % len(others)] for _, others in rest))
        for k, value in enumerate(values)
    ]
    return pytest.mark.parametrize((first, *(name for name, _ in rest)), cases)


def make_grower(X, y, n_classes, *, categorical=(), n_threads=1, seed=0, **options):
    """A grower over a matrix, all of whose rows are binned."""
    table = ArrayTable(X, np.isin(np.arange(X.shape[1]), categorical))
    binned = bin_table(table, np.ones(len(X)), n_threads=n_threads)
    codes = np.asarray(y).astype(np.uint8)
    if not n_classes:
        options["criterion"] = "squared_error"
    options = TreeOptions(**options)
    return TreeGrower(binned, codes, n_classes, options, n_threads=n_threads, seed=seed)


def grow(grower, weight, y=None):
    """The next tree of a grower, as an ensemble of one; y only for regression."""
    grown = grower.grow(weight, y)
    n_classes = 0 if grower.regression else grower.work.n_classes
    return TreeEnsemble.from_grown([grown], n_classes, grower.binned.categories)


def grow_tree(X, y, n_classes, weight=None, **options):
    """One tree over a matrix; n_classes is 0 for regression."""
    weight = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=float)
    grower = make_grower(X, y, n_classes, **options)
    return grow(grower, weight, None if n_classes else np.asarray(y, dtype=float))


def grow_ensemble(X, y, n_classes, n_trees, *, seed=0, **options):
    """Trees over one matrix, each with weights of its own."""
    weights = np.random.default_rng(seed).exponential(size=(n_trees, len(X)))
    grower = make_grower(X, y, n_classes, **options)
    target = None if n_classes else np.asarray(y, dtype=float)
    grown = [grower.grow(weight, target) for weight in weights]
    return TreeEnsemble.from_grown(grown, n_classes, grower.binned.categories)


def list_nodes(tree, node=0):
    """Nodes from the root, left before right: the split (None in a leaf) and values.

    A split is its feature, threshold or categories that go left, and whether missing
    cells go left. The values are the gain and what the ensemble stores.
    """
    values = [tree.gain[node], *tree.value[node]]
    child = tree.child[node]
    if child < 0:
        return [(None, values)]
    f = int(tree.feature[node])
    cut = float(tree.threshold[node])
    if tree.coding[f] is not None:
        bits = np.unpackbits(tree.sets[tree.which_set[node]], bitorder="little")
        cut = tuple(sorted(c for c, code in tree.coding[f].items() if bits[code]))
    split = (f, cut, bool(tree.missing_left[node]))
    below = list_nodes(tree, child) + list_nodes(tree, child + 1)
    return [(split, values), *below]


def list_reference(node, coding):
    """The same of a reference tree; coding names the categories of each feature."""
    value = node.value
    if np.ndim(value) == 0:
        value = [node.weight, node.weight * value]
    values = [node.gain, *value]
    if node.left is None:
        return [(None, values)]
    cut = node.threshold
    if node.left_categories is not None:
        known = np.array(sorted(coding[node.feature]))
        cut = tuple(known[goes_left(node, known)].tolist())
    split = (node.feature, cut, bool(node.missing_left))
    below = list_reference(node.left, coding) + list_reference(node.right, coding)
    return [(split, values), *below]


def assert_same_nodes(nodes, others):
    """Equal splits; equal values but for rounding."""
    assert [split for split, _ in nodes] == [split for split, _ in others]
    np.testing.assert_allclose(
        [values for _, values in nodes],
        [values for _, values in others],
        rtol=1e-9,
        atol=1e-12,
    )


def assert_identical(tree, other):
    """Equal trees bit for bit."""
    for name in ("start", "feature", "child", "threshold", "missing_left", "which_set"):
        np.testing.assert_array_equal(getattr(tree, name), getattr(other, name), name)
    for name in ("sets", "value", "gain"):
        np.testing.assert_array_equal(getattr(tree, name), getattr(other, name), name)


def mixed_data(n, n_classes, *, seed=0, n_values=40):
    """Columns 0 to 2 numeric, 3 and 4 categorical, a tenth of the cells missing.

    The target depends on all of them; n_classes=0 makes it real.
    """
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, n_values, size=(n, 3)) / 4
    groups = rng.integers(0, N_CATEGORIES, size=(n, 2))
    X = np.column_stack([numbers, groups]).astype(float)
    X[rng.random(X.shape) < 0.1] = NAN
    known = np.nan_to_num(X, nan=n_values / 6)
    score = known[:, 0] / n_values + np.sin(known[:, 1]) + (known[:, 3] % 2)
    score += rng.normal(size=n)
    if not n_classes:
        return X, score
    cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
    return X, np.searchsorted(cuts, score)


CATEGORICAL = (3, 4)


def name_columns(X):
    """Mixed data as a frame, with categories by name."""
    frame = pd.DataFrame(X[:, :3], columns=["age", "income per month", "$size$"])
    names = ["Aachen", "Bonn", "Celle, on the river Aller", "a" * 40, "Erfurt"]
    for name, column in (("town", X[:, 3]), ("birthplace", X[:, 4])):
        codes = np.nan_to_num(column, nan=-1).astype(int)
        frame[name] = pd.Categorical.from_codes(codes, names)
    return frame


def read_data(name):
    """A real data set as a pandas frame and its target; skips where there is none."""
    folder = os.environ.get("SPLBOOST_DATA")
    if not folder:
        pytest.skip("SPLBOOST_DATA is not set")
    path = Path(folder) / f"{name}.csv.gz"
    frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
    return frame.drop(columns="target"), frame["target"].to_numpy()


# With fixed seeds a bound of five standard errors fails for wrong code only.
N_STANDARD_ERRORS = 5


def assert_close_mean(values, expected, axis=0):
    """The mean of `values` lies within the noise of its expected value."""
    standard_error = np.std(values, axis=axis) / np.sqrt(np.shape(values)[axis])
    difference = np.abs(np.mean(values, axis=axis) - expected)
    assert (difference <= N_STANDARD_ERRORS * standard_error).all()


def assert_apart(extents, figure):
    """No box on a figure covers another, and none is cut off."""
    for i, one in enumerate(extents):
        assert one.x0 >= 0 and one.x1 <= figure.bbox.x1
        assert one.y0 >= 0 and one.y1 <= figure.bbox.y1
        for other in extents[:i]:
            across = min(one.x1, other.x1) - max(one.x0, other.x0)
            down = min(one.y1, other.y1) - max(one.y0, other.y0)
            assert across <= 1 or down <= 1
