"""Self-paced regularisers: how much of each sample's loss to believe.

Each sample hurts a booster by its ``loss``. A regulariser decides which share v of
that hurt to count, from 0 to 1, by trading the loss against a penalty on v::

    v* = weight(loss)   = argmin over v of  v * loss + penalty(v)
         latent(loss)   = min over v of v * loss + penalty(v), less its value at loss 0
                        = integral of weight from 0 to loss

Weighting by v* is therefore the same as minimising the latent loss, which follows the
loss while it is small and goes flat when it is large: a sample with a hopeless label
stops pulling. Where it goes flat is set by one of two scales. The *age* λ is the one
of the literature, with another strength for each regulariser; the *plateau* κ is the
height of the flat part, and compares between regularisers.

============ ================================== ==================================
regulariser  weight, 0 beyond the cut           plateau κ from the age λ
============ ================================== ==================================
Hard         1 below λ                          λ
Linear       1 - loss/λ                         λ/2
Polynomial   (1 - loss/λ)**(1/(t-1))            λ(t-1)/t
Mixture      γ(1/√loss - 1/λ), at most 1        λ²γ/(λ+γ), the cut being λ²
Logarithmic  log(ζ + (1-ζ)loss/λ) / log ζ       λ(-1/log ζ - ζ/(1-ζ))
============ ================================== ==================================

An infinite plateau is the plain booster: v = 1, whatever the regulariser.

Where a class is rare, its samples are improbable at first whatever their features say,
and a pace takes them for wrong labels. ``prior_corrected=True`` gives each class c of K
a cut of its own: if p is the probability of a label at the cut, labels of class c are
dropped below p * K * (share of the class in the training data) instead. With equal
shares nothing changes. The share is that of the weights which the booster works with,
so ``class_weight="balanced"`` undoes the correction: it already is one. A class so
common that its loss of greatest influence would fall to that of an undecided sample
keeps half of the distance between the two, on a logarithmic scale.
"""

from splboost.pace.base import Curves, Pace
from splboost.pace.by_class import resolve_pace
from splboost.pace.checks import check_pace
from splboost.pace.regularisers import (
    DEFAULT_PLATEAU,
    Hard,
    Linear,
    Logarithmic,
    Mixture,
    Polynomial,
)

__all__ = [
    "DEFAULT_PLATEAU",
    "Curves",
    "Hard",
    "Linear",
    "Logarithmic",
    "Mixture",
    "Pace",
    "Polynomial",
    "check_pace",
    "resolve_pace",
]
