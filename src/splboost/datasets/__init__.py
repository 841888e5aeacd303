"""Problems whose truth is known: generators, and labels spoilt on purpose.

`generators` draws samples from distributions of which the best possible
classifier is known; `noise` then turns some of the labels and remembers which.
Together they answer the question that real data leave open: did the booster
give up the wrong labels, or the right ones?
"""

from splboost.datasets.generators import (
    gaussians_log_odds,
    make_gaussians,
    make_long_servedio,
    make_ringnorm,
    make_twonorm,
)
from splboost.datasets.noise import flip_labels

__all__ = [
    "flip_labels",
    "gaussians_log_odds",
    "make_gaussians",
    "make_long_servedio",
    "make_ringnorm",
    "make_twonorm",
]
