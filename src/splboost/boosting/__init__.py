"""Boosters, all over one loop.

loop.py is Algorithm 1: a state of scores and weights (state.py), weak learners that are
fitted to the weights (learners.py, c45_learner.py, estimator_learner.py), and a step
along them (steps.py, line_search.py). The boosters of a loss stand in one file, with
the working set that says what a round of them fits: adaboost.py, logit.py, savage.py,
l2.py, and robustboost.py with potentials.py; custom.py makes one from a loss of your
own. What they share is in booster.py and classifier.py: the data of a fit and the fit
under way (fitting.py), what is done after a round (validation.py, progress.py), how
another goes on from it (warm_start.py), what is left (model.py).
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
