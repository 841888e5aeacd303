"""Boosting that is not fooled by wrong labels."""

from importlib.metadata import version

from splboost.boosting import AdaBoostClassifier, SPLBoostClassifier

__version__ = version("splboost")
__all__ = ["AdaBoostClassifier", "SPLBoostClassifier", "__version__"]
