"""Boosting that is not fooled by wrong labels."""

from importlib.metadata import version

from splboost.boosting import (
    AdaBoostClassifier,
    GentleBoostClassifier,
    LogitBoostClassifier,
    RBoostClassifier,
    RealAdaBoostClassifier,
    SavageBoostClassifier,
    SPLBoostClassifier,
)

__version__ = version("splboost")
__all__ = [
    "AdaBoostClassifier",
    "GentleBoostClassifier",
    "LogitBoostClassifier",
    "RBoostClassifier",
    "RealAdaBoostClassifier",
    "SPLBoostClassifier",
    "SavageBoostClassifier",
    "__version__",
]
