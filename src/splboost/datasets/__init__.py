"""Data to try boosters on: the SPLBoost paper's sets, and problems of known truth.

`uci` loads the data sets of the paper; what is known of each stands in `catalogue`.

`generators` draws samples from distributions whose best possible classifier is
known; `noise` makes some of the labels wrong, at random or as people and tools do, and
says which. With these it is known which samples a booster should have given up, as it
is not with real data.
"""

from splboost.datasets.catalogue import UCI_CATALOGUE
from splboost.datasets.generators import (
    gaussians_log_odds,
    make_gaussians,
    make_long_servedio,
    make_ringnorm,
    make_twonorm,
)
from splboost.datasets.noise import corrupt_labels, flip_labels
from splboost.datasets.uci import load_uci

__all__ = [
    "UCI_CATALOGUE",
    "corrupt_labels",
    "flip_labels",
    "gaussians_log_odds",
    "load_uci",
    "make_gaussians",
    "make_long_servedio",
    "make_ringnorm",
    "make_twonorm",
]
