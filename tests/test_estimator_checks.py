"""scikit-learn's own checks, of each public estimator once."""

import inspect
from importlib import import_module

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

from recorder import MODULES, GentleLogit
from splboost import (
    AdaBoostClassifier,
    BrownBoostClassifier,
    GentleBoostClassifier,
    L2BoostRegressor,
    LogitBoostClassifier,
    PaceSearchCV,
    RBoostClassifier,
    RealAdaBoostClassifier,
    RobustBoostClassifier,
    SavageBoostClassifier,
    SPLBoostClassifier,
    SPLForestClassifier,
)
from splboost.audit import LabelAudit
from splboost.boosting.custom import MarginLossBooster
from splboost.trees import C45Classifier, CARTClassifier, CARTRegressor

ESTIMATORS = [
    AdaBoostClassifier(n_estimators=10),
    SPLBoostClassifier(n_estimators=10),
    RealAdaBoostClassifier(n_estimators=10),
    GentleBoostClassifier(n_estimators=10),
    LogitBoostClassifier(n_estimators=10, z_clip="gradient", pace="linear"),
    SavageBoostClassifier(n_estimators=10, line_search=True),
    RBoostClassifier(n_estimators=10),
    RobustBoostClassifier(n_estimators=10),
    BrownBoostClassifier(n_estimators=10),
    L2BoostRegressor(n_estimators=10, pace="linear", warm_rounds=3),
    GentleLogit(n_estimators=10),
    CARTClassifier(),
    CARTRegressor(),
    C45Classifier(),
    PaceSearchCV(SPLBoostClassifier(n_estimators=5), grid=[2.0, 3.0], cv=2),
    PaceSearchCV(L2BoostRegressor(n_estimators=60, learning_rate=0.5), cv=2),
    SPLForestClassifier(n_bags=2, random_state=0),
    LabelAudit(quick=True, n_jobs=1, random_state=0),
]
RANDOM_ROWS = "bags are drawn at random; there is a statistical test of this"


@parametrize_with_checks(
    ESTIMATORS,
    expected_failed_checks=lambda estimator: (
        {"check_sample_weight_equivalence_on_dense_data": RANDOM_ROWS}
        if isinstance(estimator, SPLForestClassifier)
        else {}
    ),
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("module", MODULES)
def test_no_public_estimator_is_missed(module):
    """Those of the engines are compared with their parents in their own tests."""
    found = [getattr(import_module(module), n) for n in import_module(module).__all__]
    found = {
        kind
        for kind in found
        if inspect.isclass(kind) and issubclass(kind, BaseEstimator)
        if hasattr(kind, "fit") and not kind.__module__.startswith("splboost.engines")
    }
    assert found - {type(each) for each in ESTIMATORS} <= {MarginLossBooster}
