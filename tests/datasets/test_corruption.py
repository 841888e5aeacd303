"""Labels that are wrong for a cause: how many, which, and what they become."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from splboost.datasets import corrupt_labels, make_gaussians, make_twonorm

KINDS = "boundary", "region", "annotator", "rules", "old model", "missed", "confusion"
COUNTED = [kind for kind in KINDS if kind not in ("annotator", "missed")]


@pytest.fixture
def three_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    # "b" lies between "a" and "c", nearer to "c".
    y = np.repeat(["a", "b", "c"], [150, 100, 50])
    X[:, 0] += np.repeat([0.0, 3.0, 5.0], [150, 100, 50])
    return X, y


@pytest.mark.parametrize("kind", KINDS)
def test_changed_is_where_labels_differ_and_repeats(kind, three_classes):
    X, y = three_classes
    before = y.copy()
    y_noisy, changed = corrupt_labels(X, y, kind, 0.2, random_state=3)
    np.testing.assert_array_equal(y, before)
    np.testing.assert_array_equal(y_noisy != y, changed)
    assert changed.any()
    assert set(y_noisy) <= set(y)
    again = corrupt_labels(X, y, kind, 0.2, random_state=3)[0]
    np.testing.assert_array_equal(y_noisy, again)
    other = corrupt_labels(X, y, kind, 0.2, random_state=4)[0]
    assert (other != y_noisy).any()


@pytest.mark.parametrize("kind", COUNTED)
@pytest.mark.parametrize("rate", [0.0, 0.05, 0.3, 1.0])
def test_exactly_so_many(kind, rate, three_classes):
    X, y = three_classes
    assert corrupt_labels(X, y, kind, rate, random_state=0)[1].sum() == round(
        rate * 300
    )


def test_boundary_is_where_a_linear_model_is_unsure():
    X, y = make_twonorm(2000, random_state=0)
    changed = corrupt_labels(X, y, "boundary", 0.1, random_state=0)[1]
    doubt = -np.abs(LogisticRegression().fit(X, y).decision_function(X))
    assert np.mean(doubt[changed] > np.quantile(doubt, 0.7)) > 0.6


def test_region_is_one_ball():
    X, y = make_twonorm(1000, random_state=0)
    changed = corrupt_labels(X, y, "region", 0.1, random_state=0)[1]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    # Around the row at the centre, the nearest quarter holds all that is wrong.
    distance = ((Z[:, None] - Z) ** 2).sum(axis=2)
    nearest = np.argsort(distance, axis=1, kind="stable")[:, :250]
    inside = changed[nearest].sum(axis=1)
    assert inside.max() == changed.sum() == 100


def test_annotator_has_half_of_a_feature_and_one_class():
    X, y = make_twonorm(1000, random_state=1)
    y_noisy, changed = corrupt_labels(X, y, "annotator", 0.5, random_state=1)
    assert len(set(y_noisy[changed])) == 1
    below = X[changed] < np.median(X, axis=0)
    one_sided = np.minimum(below.mean(axis=0), 1 - below.mean(axis=0))
    assert one_sided.min() == 0.0


@pytest.mark.parametrize("kind", ["rules", "old model"])
def test_answers_of_a_poor_model_can_be_learned(kind):
    """Unlike flips: a model predicts which labels are wrong from the features."""
    X, y = make_gaussians(2000, random_state=0)
    changed = corrupt_labels(X, y, kind, 0.15, random_state=0)[1]
    Z = np.column_stack([X, X**2, y == y.max()])
    found = LogisticRegression(max_iter=1000).fit(Z[::2], changed[::2])
    score = found.decision_function(Z[1::2])
    pairs = score[changed[1::2]][:, None] - score[~changed[1::2]]
    assert np.mean(pairs > 0) > 0.65


def test_missed_are_of_the_rarest_class(three_classes):
    X, y = three_classes
    y_noisy, changed = corrupt_labels(X, y, "missed", 0.3, random_state=0)
    assert changed.sum() == 15
    assert set(y[changed]) == {"c"}
    assert set(y_noisy[changed]) == {"a"}


def test_confusion_is_with_the_nearest_class(three_classes):
    X, y = three_classes
    y_noisy, changed = corrupt_labels(X, y, "confusion", 0.5, random_state=0)
    taken = dict(zip(y[changed], y_noisy[changed], strict=True))
    assert taken == {"a": "b", "b": "c", "c": "b"}


def test_frames_with_categories_and_missing_values():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(
        {
            "number": np.where(rng.random(200) < 0.2, np.nan, rng.normal(size=200)),
            "word": pandas.Categorical(rng.choice(["x", "y", None], size=200)),
            "constant": 1.0,
        }
    )
    y = rng.integers(2, size=200)
    for kind in KINDS:
        assert corrupt_labels(X, y, kind, 0.1, random_state=0)[1].any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "odd"}, "kind='odd' is unknown; pass one of 'boundary'"),
        ({"rate": 1.5}, "rate=1.5 is not a share"),
        ({"y": [0] * 10}, "there must be another class"),
        ({"y": [0, 1]}, "X has 10 rows and y has 2"),
        ({"y": np.linspace(0, 1, 10)}, "continuous"),
    ],
)
def test_refused(change, message):
    given = {"X": np.arange(20.0).reshape(10, 2), "y": [0, 1] * 5, "kind": "region"}
    with pytest.raises(ValueError, match=message):
        corrupt_labels(**given | change)
