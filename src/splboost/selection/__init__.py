"""Choosing pace, depth and rounds."""

from splboost.selection.bags import StratifiedBags
from splboost.selection.forest import SPLForestClassifier
from splboost.selection.path import PacePath, spl_path
from splboost.selection.search import PaceSearchCV

__all__ = [
    "PacePath",
    "PaceSearchCV",
    "SPLForestClassifier",
    "StratifiedBags",
    "spl_path",
]
