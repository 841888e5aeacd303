"""scikit-learn's own checks of every rival."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from splboost import (
    BrownBoostClassifier,
    GentleBoostClassifier,
    L2BoostRegressor,
    LogitBoostClassifier,
    RBoostClassifier,
    RealAdaBoostClassifier,
    RobustBoostClassifier,
    SavageBoostClassifier,
)


@parametrize_with_checks(
    [
        RealAdaBoostClassifier(n_estimators=10),
        GentleBoostClassifier(n_estimators=10),
        LogitBoostClassifier(n_estimators=10),
        LogitBoostClassifier(n_estimators=10, z_clip="gradient", pace="linear"),
        SavageBoostClassifier(n_estimators=10),
        SavageBoostClassifier(n_estimators=10, line_search=True),
        RBoostClassifier(n_estimators=10),
        RBoostClassifier(n_estimators=10, variant="fisher"),
        RBoostClassifier(n_estimators=10, variant="mm"),
        RBoostClassifier(n_estimators=10, variant="discrete"),
        RobustBoostClassifier(n_estimators=10),
        BrownBoostClassifier(n_estimators=10),
        L2BoostRegressor(n_estimators=10),
        L2BoostRegressor(n_estimators=10, pace="linear", warm_rounds=3),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
