"""QuickForest: a forest in a hurry."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from splboost.datasets import make_twonorm
from splboost.selection.quick_forest import QuickForest


def test_means_what_it_says():
    """As often right as it is sure, in bags and on new rows."""
    X, y = make_twonorm(500, random_state=0)
    X_new, y_new = make_twonorm(2000, random_state=1)
    forest = QuickForest(random_state=0, n_jobs=1).fit(X, y)
    assert forest.feature_importances_.sum() == pytest.approx(1)
    for sure, labels, error in (
        (forest.oob_decision_function_, y, 0.04),
        (forest.predict_proba(X_new), y_new, 0.012),
    ):
        assert_allclose(sure.sum(axis=1), 1)
        right = (sure.argmax(axis=1) == labels).mean()
        assert right > 0.93
        assert sure.max(axis=1).mean() == pytest.approx(right, abs=error)
    assert_array_equal(
        forest.predict(X_new), forest.predict_proba(X_new).argmax(axis=1)
    )


def test_columns_are_checked_by_name():
    X, y = make_twonorm(100, random_state=0)
    frame = pd.DataFrame(X).add_prefix("c")
    forest = QuickForest(random_state=0, n_jobs=1).fit(frame, np.where(y, "b", "a"))
    assert set(forest.predict(frame)) == {"a", "b"}
    with pytest.raises(ValueError, match="feature names"):
        forest.predict(frame[frame.columns[::-1]])
