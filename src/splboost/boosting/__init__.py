"""Boosters, all over one loop."""

from splboost.boosting.ada import AdaBoostClassifier
from splboost.boosting.progress import Progress
from splboost.boosting.spl import SPLBoostClassifier

__all__ = ["AdaBoostClassifier", "Progress", "SPLBoostClassifier"]
