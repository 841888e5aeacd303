"""Trees: fast weak learners, and scikit-learn estimators of their own."""

from splboost.trees.estimators import CARTClassifier, CARTRegressor

__all__ = ["CARTClassifier", "CARTRegressor"]
