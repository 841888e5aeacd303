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
from splboost.selection import PaceSearchCV, SPLForestClassifier, spl_path

__version__ = version("splboost")
__all__ = [
    "AdaBoostClassifier",
    "BrownBoostClassifier",
    "GentleBoostClassifier",
    "L2BoostRegressor",
    "LogitBoostClassifier",
    "PaceSearchCV",
    "RBoostClassifier",
    "RealAdaBoostClassifier",
    "RobustBoostClassifier",
    "SPLBoostClassifier",
    "SPLForestClassifier",
    "SavageBoostClassifier",
    "__version__",
    "spl_path",
]
