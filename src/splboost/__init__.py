"""Boosting that is not fooled by wrong labels."""

from importlib.metadata import version

from splboost.boosting import (
    AdaBoostClassifier,
    BrownBoostClassifier,
    GentleBoostClassifier,
    L2BoostRegressor,
    LogitBoostClassifier,
    RBoostClassifier,
    RealAdaBoostClassifier,
    RobustBoostClassifier,
    SavageBoostClassifier,
    SPLBoostClassifier,
)

__version__ = version("splboost")
__all__ = [
    "AdaBoostClassifier",
    "BrownBoostClassifier",
    "GentleBoostClassifier",
    "L2BoostRegressor",
    "LogitBoostClassifier",
    "RBoostClassifier",
    "RealAdaBoostClassifier",
    "RobustBoostClassifier",
    "SPLBoostClassifier",
    "SavageBoostClassifier",
    "__version__",
]
