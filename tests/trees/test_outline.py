"""Trees in words, and the text drawn from them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from helpers import CATEGORICAL, mixed_data
from splboost.trees import C45Classifier, CARTClassifier, CARTRegressor
from splboost.trees.outline import Wording, tree_text

WORDING = Wording(["age", "town"], ["no", "yes"], digits=3)


def leaf(share=0.75, weight=8):
    return WORDING.class_leaf(np.array([1 - share, share]), weight)


def towns():
    names = ["Aachen", "Bonn", "Celle", "Dresden", "Erfurt", "Fulda"]
    return pd.DataFrame({"town": pd.Categorical(names)})


# ------------------------------------------------------------------------------ outline


def test_outline_of_a_classifier():
    X = pd.DataFrame({"age": [1.0, 2.0, 3.0, 4.0]})
    root = CARTClassifier().fit(X, ["a", "a", "b", "c"], [2, 2, 3, 3]).outline()
    assert root.question == "age <= 2.5"
    assert root.prediction == "class a"
    assert root.note == "share 0.4, weight 10"
    assert root.weight == 10
    assert root.shares == (0.4, 0.3, 0.3)
    assert root.mean is None
    (yes, left), (no, right) = root.branches
    assert (yes, no) == ("yes", "no")
    assert (left.question, left.branches, left.shares) == (None, (), (1, 0, 0))
    assert [node.weight for node in root.nodes()] == [10, 4, 6, 3, 3]
    assert root.nodes()[3:] == [child for _, child in right.branches]


def test_outline_of_a_regressor():
    root = CARTRegressor(max_depth=1).fit([[1.0], [2.0]], [10, 13], [2, 1]).outline()
    assert (root.shares, root.mean, root.weight) == (None, 11, 3)
    assert (root.prediction, root.note) == ("11", "weight 3")
    assert [child.prediction for _, child in root.branches] == ["10", "13"]


def test_leaves_of_the_outline_predict_as_the_tree_does():
    X, y = mixed_data(300, 4)
    tree = CARTClassifier(max_depth=5, categorical_features=CATEGORICAL).fit(X, y)
    leaves = [node for node in tree.outline().nodes() if node.question is None]
    assert len(leaves) == tree.get_n_leaves()
    rows = np.repeat(
        [node.shares for node in leaves],
        [round(node.weight) for node in leaves],
        axis=0,
    )
    expected = tree.predict_proba(X)
    np.testing.assert_array_equal(
        rows[np.lexsort(rows.T)], expected[np.lexsort(expected.T)]
    )


def test_names_replace_those_of_fit():
    tree = CARTClassifier().fit(towns(), [0, 0, 1, 1, 1, 1])
    root = tree.outline(feature_names=["place"], class_names=["small", "large"])
    assert root.question.startswith("place in {")
    assert {child.prediction for _, child in root.branches} == {
        "class small",
        "class large",
    }


def test_long_lists_of_categories_are_counted():
    tree = CARTClassifier().fit(towns(), [0, 0, 0, 0, 1, 1])
    question = tree.outline(most_categories=2).question
    assert question.removesuffix(" or missing") == "town in {Aachen, Bonn, +2}"
    question = tree.outline(most_categories=3).question
    assert question.removesuffix(" or missing") == (
        "town in {Aachen, Bonn, Celle, Dresden}"
    )
    assert tree.to_text().splitlines()[0] == tree.outline().question


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"feature_names": ["a"]}, r"feature_names=\['a'\].* 5 features; give a list"),
        ({"class_names": ["a"]}, r"class_names=\['a'\].* 2 classes"),
        ({"feature_names": "abcde"}, "feature_names='abcde'"),
    ],
)
def test_names_must_fit(names, message):
    tree = CARTClassifier(max_depth=1).fit(*mixed_data(50, 2))
    with pytest.raises(ValueError, match=message):
        tree.outline(**names)


def test_outline_needs_a_fitted_tree():
    with pytest.raises(NotFittedError):
        CARTClassifier().outline()
    with pytest.raises(NotFittedError):
        CARTRegressor().to_text()


# --------------------------------------------------------------------------------- text


def test_text_of_a_very_deep_tree():
    node = leaf()
    for _ in range(3000):
        node = replace(leaf(), question="?", branches=(("yes", leaf()), ("no", node)))
    assert len(node.nodes()) == 6001
    assert len(tree_text(node).splitlines()) == 6001


def test_thresholds_are_not_rounded_to_the_other_side():
    years = np.arange(1990, 2024)[:, None]
    tree = CARTClassifier(max_depth=1).fit(years, years[:, 0] > 2005)
    assert tree.to_text().startswith("x0 <= 2005.5")
    dates = 20_200_000 + np.arange(100)[:, None]
    tree = C45Classifier().fit(dates, np.arange(100) > 50)
    assert tree.to_text().startswith("x0 <= 20200050\n")


def test_categories_that_would_not_be_seen_are_quoted():
    group = np.array(["", "a\nb", "c"], dtype=object)[np.arange(30) % 3]
    tree = C45Classifier(categorical_features=[0]).fit(group[:, None], group)
    assert "── '': class" in tree.to_text()
    assert "── 'a\\nb': class" in tree.to_text()
    assert "── c: class" in tree.to_text()
