"""Trees: fast weak learners, and scikit-learn estimators of their own."""

from splboost.trees.c45.c45_estimator import C45Classifier
from splboost.trees.estimators import CARTClassifier, CARTRegressor

__all__ = ["C45Classifier", "CARTClassifier", "CARTRegressor"]
