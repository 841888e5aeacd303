"""Boosters, all over one loop."""

from splboost.boosting.ada import AdaBoostClassifier
from splboost.boosting.gentle import GentleBoostClassifier
from splboost.boosting.logit import LogitBoostClassifier
from splboost.boosting.progress import Progress
from splboost.boosting.rboost import RBoostClassifier
from splboost.boosting.real import RealAdaBoostClassifier
from splboost.boosting.savage import SavageBoostClassifier
from splboost.boosting.spl import SPLBoostClassifier

__all__ = [
    "AdaBoostClassifier",
    "GentleBoostClassifier",
    "LogitBoostClassifier",
    "Progress",
    "RBoostClassifier",
    "RealAdaBoostClassifier",
    "SPLBoostClassifier",
    "SavageBoostClassifier",
]
