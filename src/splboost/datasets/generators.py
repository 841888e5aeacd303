"""Random classification problems whose best classifier is known.

All generators return ``X`` as float64 and ``y`` in {0, 1}, where 1 is the
positive class, in random row order. Labels are clean; `splboost.datasets.flip_labels`
makes some of them wrong.
"""

import numbers
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

_FloatArray: TypeAlias = NDArray[np.float64]
_LabelArray: TypeAlias = NDArray[np.int64]
_Seed: TypeAlias = int | np.random.RandomState | None

# The two Gaussians of the SPLBoost paper, section "Synthetic Gaussian Data Set";
# index 0 is the negative class.
_GAUSSIAN_MEANS = np.array([[2.0, -2.0], [-2.0, 2.0]])
_GAUSSIAN_COVARIANCES = np.array([[[2.5, 1.5], [1.5, 5.0]], [[2.3, -0.7], [-0.7, 2.3]]])

_KINDS = np.array(["large margin", "puller", "penaliser"])


def make_gaussians(
    n_per_class: int = 100, *, random_state: _Seed = None
) -> tuple[_FloatArray, _LabelArray]:
    """Draw the two overlapping Gaussians of the SPLBoost paper.

    Two features. The negative class is centred at (2, -2) with covariance
    [[2.5, 1.5], [1.5, 5]], the positive class at (-2, 2) with covariance
    [[2.3, -0.7], [-0.7, 2.3]]. The best possible classifier is the sign of
    `gaussians_log_odds`; it errs on 3.28 % of the samples.

    Parameters
    ----------
    n_per_class : int, default=100
        Number of samples of each class.
    random_state : int, RandomState instance or None, default=None
        Pass an int to get the same sample at every call.

    Returns
    -------
    X : ndarray of shape (2 * n_per_class, 2)
        The samples, in random order.
    y : ndarray of shape (2 * n_per_class,)
        The class of each sample, 0 or 1.

    See Also
    --------
    gaussians_log_odds : The exact log-odds of the two classes.
    flip_labels : Makes labels wrong; in the paper 15 of each class.

    Examples
    --------
    >>> from splboost.datasets import flip_labels, make_gaussians
    >>> X, y = make_gaussians(random_state=0)
    >>> X.shape
    (200, 2)
    >>> y_noisy, flipped = flip_labels(y, {0: 0.15, 1: 0.15}, random_state=0)
    >>> int(flipped.sum())
    30
    """
    _check_count("n_per_class", n_per_class)
    rng = check_random_state(random_state)
    y = rng.permutation(np.repeat(np.arange(2, dtype=np.int64), n_per_class))
    # x = mean + L z with covariance L L', one factor L per class
    factors = np.linalg.cholesky(_GAUSSIAN_COVARIANCES)
    z = rng.standard_normal((2 * n_per_class, 2))
    X = _GAUSSIAN_MEANS[y] + np.einsum("nij,nj->ni", factors[y], z)
    return X, y


def gaussians_log_odds(X: ArrayLike) -> _FloatArray:
    r"""Return the exact log-odds of the classes of `make_gaussians`.

    This is :math:`\log p(1 \mid x) - \log p(0 \mid x)` for classes that are
    equally frequent, a quadratic function of x. Its zero line is the Bayes
    boundary: no classifier errs less often than its sign.

    Parameters
    ----------
    X : array-like of shape (n_samples, 2)
        The points at which to evaluate.

    Returns
    -------
    log_odds : ndarray of shape (n_samples,)
        Positive where class 1 is the more probable.

    Examples
    --------
    >>> from splboost.datasets import gaussians_log_odds
    >>> gaussians_log_odds([[-2.0, 2.0], [2.0, -2.0]]).round(1).tolist()
    [8.6, -5.0]
    """
    points = np.asarray(X, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(
            f"X has shape {points.shape}; pass one row of two coordinates per "
            "point, that is shape (n_samples, 2)."
        )
    offsets = points[:, None, :] - _GAUSSIAN_MEANS
    precisions = np.linalg.inv(_GAUSSIAN_COVARIANCES)
    # log N(x; mean, covariance) up to a constant, one column per class
    distances = np.einsum("nci,cij,ncj->nc", offsets, precisions, offsets)
    log_densities = -0.5 * (distances + np.linalg.slogdet(_GAUSSIAN_COVARIANCES)[1])
    log_odds: _FloatArray = log_densities[:, 1] - log_densities[:, 0]
    return log_odds


def make_twonorm(
    n_samples: int, *, n_features: int = 20, random_state: _Seed = None
) -> tuple[_FloatArray, _LabelArray]:
    r"""Draw Breiman's twonorm problem: two unit Gaussians, side by side.

    Class 0 is centred at :math:`(a, \dots, a)` and class 1 at
    :math:`(-a, \dots, -a)` with :math:`a = 2 / \sqrt{n_{features}}`, both with
    the identity as covariance. Each class has probability 1/2. The best
    classifier is the sign of the sum of the features, a slanted plane that trees
    can only approach in steps; it errs on 2.3 % of the samples, whatever
    `n_features`.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    n_features : int, default=20
        Number of features; 20 is Breiman's choice.
    random_state : int, RandomState instance or None, default=None
        Pass an int to get the same sample at every call.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The samples.
    y : ndarray of shape (n_samples,)
        The class of each sample, 0 or 1.

    References
    ----------
    L. Breiman, "Bias, variance, and arcing classifiers", Technical Report 460,
    University of California, Berkeley, 1996. Which class lies where follows the
    file of the DELVE collection.

    Examples
    --------
    >>> from splboost.datasets import make_twonorm
    >>> X, y = make_twonorm(1000, random_state=0)
    >>> X.shape
    (1000, 20)
    >>> bool(0.95 < ((X.sum(axis=1) < 0) == y).mean() < 1)
    True
    """
    y, X = _coins_and_normals(n_samples, n_features, random_state)
    a = 2 / np.sqrt(n_features)
    return X + a * (1 - 2 * y[:, None]), y


def make_ringnorm(
    n_samples: int, *, n_features: int = 20, random_state: _Seed = None
) -> tuple[_FloatArray, _LabelArray]:
    r"""Draw Breiman's ringnorm problem: a small Gaussian inside a wide one.

    Class 0 is centred at the origin with covariance :math:`4 I`, class 1 at
    :math:`(a, \dots, a)` with the identity as covariance and
    :math:`a = 2 / \sqrt{n_{features}}`. Each class has probability 1/2. The best
    boundary is a sphere around class 1: no single feature tells the classes apart
    well, all together err, at best, on 1.2 % of the samples (20 features).

    Parameters
    ----------
    n_samples : int
        Number of samples.
    n_features : int, default=20
        Number of features; 20 is Breiman's choice.
    random_state : int, RandomState instance or None, default=None
        Pass an int to get the same sample at every call.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The samples.
    y : ndarray of shape (n_samples,)
        The class of each sample, 0 or 1.

    References
    ----------
    L. Breiman, "Bias, variance, and arcing classifiers", Technical Report 460,
    University of California, Berkeley, 1996. The value of a follows the file of
    the DELVE collection.

    Examples
    --------
    >>> from splboost.datasets import make_ringnorm
    >>> X, y = make_ringnorm(1000, random_state=0)
    >>> bool(X[y == 0].std() > 1.9 > 1.1 > X[y == 1].std())
    True
    """
    y, X = _coins_and_normals(n_samples, n_features, random_state)
    a = 2 / np.sqrt(n_features)
    inner = y[:, None] == 1
    return np.where(inner, X + a, 2 * X), y


def make_long_servedio(
    n_samples: int,
    *,
    random_state: _Seed = None,
    return_kind: bool = False,
) -> tuple[Any, ...]:
    """Draw the problem on which label noise defeats every convex booster.

    The 21 features are -1 or 1, and their majority is always the class: with
    clean labels a vote of stumps makes no error. Each class, written as a sign,
    has probability 1/2, and each sample is of one of three kinds:

    - *large margin* (1/4): all features equal the class;
    - *puller* (1/4): the first 11 features equal the class, the last 10 oppose it;
    - *penaliser* (1/2): 5 of the first 11 and 6 of the last 10, drawn at random,
      equal the class, the other 10 oppose it.

    With a tenth of the labels flipped, a booster of a convex loss concentrates on
    the flipped large-margin samples: it relies on the first 11 features, because of
    the pullers, and errs on about half of the penalisers.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    random_state : int, RandomState instance or None, default=None
        Pass an int to get the same sample at every call.
    return_kind : bool, default=False
        Whether to return the kind of each sample as well.

    Returns
    -------
    X : ndarray of shape (n_samples, 21)
        The samples, each value -1 or 1.
    y : ndarray of shape (n_samples,)
        The class of each sample, 0 or 1.
    kind : ndarray of shape (n_samples,)
        'large margin', 'puller' or 'penaliser'. Only if `return_kind` is true.

    References
    ----------
    P. M. Long and R. A. Servedio, "Random classification noise defeats all convex
    potential boosters", Machine Learning 78, 2010.

    Examples
    --------
    >>> from splboost.datasets import make_long_servedio
    >>> X, y, kind = make_long_servedio(1000, random_state=0, return_kind=True)
    >>> bool(((X.sum(axis=1) > 0) == y).all())
    True
    >>> sorted(set(kind.tolist()))
    ['large margin', 'penaliser', 'puller']
    """
    _check_count("n_samples", n_samples)
    rng = check_random_state(random_state)
    y = rng.randint(2, size=n_samples, dtype=np.int64)
    kind = rng.choice(3, size=n_samples, p=[0.25, 0.25, 0.5])
    # +1 where a feature agrees with the class, -1 where it opposes it
    agreement = np.ones((n_samples, 21))
    agreement[kind == 1, 11:] = -1
    penaliser = kind == 2
    n_penalisers = int(penaliser.sum())
    agreement[penaliser, :11] = _signs(rng, n_penalisers, n_plus=5, n_signs=11)
    agreement[penaliser, 11:] = _signs(rng, n_penalisers, n_plus=6, n_signs=10)
    X = agreement * (2 * y[:, None] - 1)
    return (X, y, _KINDS[kind]) if return_kind else (X, y)


def _signs(
    rng: np.random.RandomState, n_rows: int, *, n_plus: int, n_signs: int
) -> _FloatArray:
    """Rows of `n_signs` signs of which `n_plus`, at random places, are +1."""
    place = rng.random_sample((n_rows, n_signs)).argsort(axis=1)
    return np.where(place < n_plus, 1.0, -1.0)


def _coins_and_normals(
    n_samples: int, n_features: int, random_state: _Seed
) -> tuple[_LabelArray, _FloatArray]:
    """Classes of probability 1/2, and standard normal features independent of them."""
    _check_count("n_samples", n_samples)
    _check_count("n_features", n_features)
    rng = check_random_state(random_state)
    y = rng.randint(2, size=n_samples, dtype=np.int64)
    return y, rng.standard_normal((n_samples, n_features))


def _check_count(name: str, value: int) -> None:
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name}={value!r} is not a count; pass an int of at least 1.")
