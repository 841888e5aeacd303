"""Boosters, all over one loop.

A module for each booster or pair of them; beside them loop.py (the rounds), model.py
and prediction.py (what is left of a fit), progress.py (what callbacks see), custom.py
(a booster from a loss of one's own), potentials.py and potential_kernels.py (the
equations of RobustBoost and BrownBoost). The folders hold what they are made of:
families, learners, scores, steps, fit.
"""

from splboost.boosting.adaboost import (
    AdaBoostClassifier,
    GentleBoostClassifier,
    RealAdaBoostClassifier,
    SPLBoostClassifier,
)
from splboost.boosting.l2 import L2BoostRegressor
from splboost.boosting.logit import LogitBoostClassifier
from splboost.boosting.progress import Progress
from splboost.boosting.robustboost import BrownBoostClassifier, RobustBoostClassifier
from splboost.boosting.savage import RBoostClassifier, SavageBoostClassifier

__all__ = [
    "AdaBoostClassifier",
    "BrownBoostClassifier",
    "GentleBoostClassifier",
    "L2BoostRegressor",
    "LogitBoostClassifier",
    "Progress",
    "RBoostClassifier",
    "RealAdaBoostClassifier",
    "RobustBoostClassifier",
    "SPLBoostClassifier",
    "SavageBoostClassifier",
]
