"""Pictures of trees and boosters, with matplotlib (pip install 'splboost[plot]')."""

from splboost.display.loss_curves import LossDisplay, WeightDisplay
from splboost.display.pace_search import PaceSearchDisplay
from splboost.display.shape_functions import ShapeFunctionsDisplay
from splboost.display.tree import plot_tree

__all__ = [
    "LossDisplay",
    "PaceSearchDisplay",
    "ShapeFunctionsDisplay",
    "WeightDisplay",
    "plot_tree",
]
