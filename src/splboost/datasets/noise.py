"""Labels flipped at random, as in the experiments of the SPLBoost paper."""

import numbers
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from splboost._data.labels import check_labels, read_target


def flip_labels(
    y: ArrayLike,
    rate: float | Mapping[Any, float],
    *,
    mode: Literal["count", "probability"] = "count",
    random_state: int | np.random.RandomState | None = None,
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Give some of the samples a wrong label.

    A flipped label becomes one of the other classes, all equally likely, and
    never stays what it was.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The labels, numbers or strings, of at least two classes. Not modified.
    rate : float or dict {class: float}
        The share of labels to flip, between 0 and 1. A dict gives each class its
        own share; classes that it does not name keep all their labels.
    mode : {'count', 'probability'}, default='count'
        With 'count' the number of flipped labels is exact, ``round(rate * n)``,
        where n is the number of samples, or of samples of the class if `rate` is
        a dict. With 'probability' each label is flipped with probability `rate`,
        independently of the others.
    random_state : int, RandomState instance or None, default=None
        Pass an int to flip the same labels at every call.

    Returns
    -------
    y_noisy : ndarray of shape (n_samples,)
        The labels, some of them wrong.
    flipped : ndarray of bool of shape (n_samples,)
        True where the label was flipped.

    Notes
    -----
    With the same int as `random_state`, a label flipped at a lower rate is flipped
    to the same class at every higher rate. This makes curves over the noise level
    smoother.

    Examples
    --------
    >>> import numpy as np
    >>> from splboost.datasets import flip_labels
    >>> y = np.repeat(["cat", "dog"], 10)
    >>> y_noisy, flipped = flip_labels(y, 0.2, random_state=0)
    >>> int(flipped.sum())
    4
    >>> bool(((y_noisy != y) == flipped).all())
    True

    Noise in one class only:

    >>> y_noisy, flipped = flip_labels(y, {"cat": 0.5}, random_state=0)
    >>> [int(flipped[y == animal].sum()) for animal in ("cat", "dog")]
    [5, 0]
    """
    if mode not in ("count", "probability"):
        raise ValueError(f"mode={mode!r} is unknown; pass 'count' or 'probability'.")
    labels = read_target(y)
    check_labels(labels)
    if isinstance(y, list | tuple) and labels.dtype.kind == "U":
        # numpy turns a NaN or a number beside strings into a string
        check_labels(np.array(y, dtype=object))
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y holds the classes {classes.tolist()}; to flip a label there must be "
            "another class: pass labels of at least two."
        )
    rates = _rate_per_class(rate, classes)

    # Not the generator of the seed itself: a splitter of scikit-learn with that seed
    # draws the same permutation, and would put all wrong labels on one side.
    rng = np.random.RandomState(check_random_state(random_state).randint(2**31 - 1))
    # All samples are drawn for at any rate, so that the noise levels are nested.
    other_codes = (codes + rng.randint(1, len(classes), size=len(codes))) % len(classes)
    if mode == "probability":
        flipped = rng.random_sample(len(codes)) < rates[codes]
    else:
        order = rng.permutation(len(codes))
        groups = [(order, rates[0])]
        if isinstance(rate, Mapping):
            groups = [(order[codes[order] == c], r) for c, r in enumerate(rates)]
        flipped = np.zeros(len(codes), dtype=bool)
        for members, share in groups:
            flipped[members[: round(share * len(members))]] = True
    return np.where(flipped, classes[other_codes], labels), flipped


def _rate_per_class(
    rate: float | Mapping[Any, float], classes: NDArray[Any]
) -> NDArray[np.float64]:
    if not isinstance(rate, Mapping):
        return np.full(len(classes), check_rate("rate", rate))
    position = {label: code for code, label in enumerate(classes)}
    rates = np.zeros(len(classes))
    for label, share in rate.items():
        if label not in position:
            raise ValueError(
                f"rate names the class {label!r}, which y does not hold; "
                f"its classes are {classes.tolist()}."
            )
        rates[position[label]] = check_rate(f"rate[{label!r}]", share)
    return rates


def check_rate(name: str, value: float) -> float:
    if not isinstance(value, numbers.Real) or not 0 <= value <= 1:
        raise ValueError(
            f"{name}={value!r} is not a share; pass a number between 0 and 1, "
            "such as 0.1 to flip a tenth of the labels."
        )
    return float(value)
