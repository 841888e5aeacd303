"""Naive reference: each algorithm once more, in plain NumPy.

They are written slowly and as close to the formulas as possible, so that the fast
engine can be compared with something that can be checked by reading. Nothing here
imports the package under test.
"""

from reference.boosting import (
    boost,
    boosted_score,
    boosting_weights,
    pace_loss,
    tree_learner,
)
from reference.brier import r_boost, savage_boost
from reference.c45 import (
    c45_extra_errors,
    c45_leaves,
    c45_to_tuple,
    c45_z,
    fit_c45,
    predict_c45,
    predict_proba_c45,
)
from reference.c45_gain import C45Node, c45_attribute_gains
from reference.engines import paced_gradient, sample_loss
from reference.exponential import gentle_boost, real_boost
from reference.logit import logit_boost
from reference.paces import age_from_plateau, pace_latent, pace_penalty, pace_weight
from reference.potentials import (
    BrownPotential,
    RobustPotential,
    brown_boost,
    robust_boost,
)
from reference.rivals import Rival, probability_learner, regression_learner, rival_score
from reference.squares import l2_boost, residual_scale, weighted_median
from reference.trees import (
    apply_tree,
    fit_tree,
    goes_left,
    predict_proba_tree,
    predict_tree,
    tree_leaves,
    tree_to_tuple,
)

__all__ = [
    "BrownPotential",
    "C45Node",
    "Rival",
    "RobustPotential",
    "age_from_plateau",
    "apply_tree",
    "boost",
    "boosted_score",
    "boosting_weights",
    "brown_boost",
    "c45_attribute_gains",
    "c45_extra_errors",
    "c45_leaves",
    "c45_to_tuple",
    "c45_z",
    "fit_c45",
    "fit_tree",
    "gentle_boost",
    "goes_left",
    "l2_boost",
    "logit_boost",
    "pace_latent",
    "pace_loss",
    "pace_penalty",
    "pace_weight",
    "paced_gradient",
    "predict_c45",
    "predict_proba_c45",
    "predict_proba_tree",
    "predict_tree",
    "probability_learner",
    "r_boost",
    "real_boost",
    "regression_learner",
    "residual_scale",
    "rival_score",
    "robust_boost",
    "sample_loss",
    "savage_boost",
    "tree_learner",
    "tree_leaves",
    "tree_to_tuple",
    "weighted_median",
]
