"""Wrong labels: flipped at random, as in the SPLBoost paper, or for a cause."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state

from splboost._data.labels import check_labels, read_target
from splboost._data.table import Table, read_table

FloatArray = NDArray[np.float64]
Codes = NDArray[np.intp]
Kind = Literal[
    "boundary", "region", "annotator", "rules", "old model", "missed", "confusion"
]

MOST_CATEGORIES = 20  # of a column that get an indicator
MOST_NEIGHBOURS = 50
WRONG_IN_REGION = 0.4  # share of its labels, unless the rate asks for more
N_RULES, SEEN_BY_RULE = 5, 0.1
SEEN_BY_MODEL, FEWEST_SEEN = 0.02, 10


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
    if isinstance(y, list | tuple) and labels.dtype.kind == "U":
        # numpy turns a NaN or a number beside strings into a string
        check_labels(np.array(y, dtype=object))
    classes, codes, rng = _classes_and_generator(labels, random_state)
    rates = _rate_per_class(rate, classes)
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


def _classes_and_generator(
    labels: NDArray[Any], random_state: Any
) -> tuple[NDArray[Any], Codes, Any]:
    """The classes, their numbers, and a generator of random numbers."""
    check_labels(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    if classes.size < 2:
        raise ValueError(
            f"y holds the classes {classes.tolist()}; for a wrong label there must be "
            "another class: pass labels of at least two."
        )
    # Not the generator of the seed itself: a splitter of scikit-learn with that seed
    # draws the same permutation, and would put all wrong labels on one side.
    seed = check_random_state(random_state).randint(2**31 - 1)
    return classes, codes, np.random.RandomState(seed)


def _rate_per_class(
    rate: float | Mapping[Any, float], classes: NDArray[Any]
) -> NDArray[np.float64]:
    if not isinstance(rate, Mapping):
        return np.full(len(classes), _check_rate("rate", rate))
    position = {label: code for code, label in enumerate(classes)}
    rates = np.zeros(len(classes))
    for label, share in rate.items():
        if label not in position:
            raise ValueError(
                f"rate names the class {label!r}, which y does not hold; "
                f"its classes are {classes.tolist()}."
            )
        rates[position[label]] = _check_rate(f"rate[{label!r}]", share)
    return rates


def _check_rate(name: str, value: float) -> float:
    if not isinstance(value, numbers.Real) or not 0 <= value <= 1:
        raise ValueError(
            f"{name}={value!r} is not a share; pass a number between 0 and 1, "
            "such as 0.1 to flip a tenth of the labels."
        )
    return float(value)


def corrupt_labels(
    X: Any,
    y: ArrayLike,
    kind: Kind,
    rate: float = 0.2,
    *,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Give some of the samples a wrong label, in a way that depends on the features.

    Labels flipped at random (:func:`flip_labels`) are the easy case: nothing in the
    features says which are wrong. Real mistakes have a cause. Each kind here copies one
    that the literature describes. None uses boosting or a forest, so that no model that
    is compared has made the labels by which it is judged.

    Parameters
    ----------
    X : array-like or frame of shape (n_samples, n_features)
        Missing values are filled in, categories become indicators.
    y : array-like of shape (n_samples,)
        The labels, numbers or strings, of at least two classes. Not modified.
    kind : str
        Why labels are wrong:

        * ``"boundary"``: the sample is hard to tell, for somebody who goes by the 50
          most similar rows. The harder, the likelier the label is wrong; it is the
          second guess (Menon et al. 2018).
        * ``"region"``: two labels in five are wrong at random among the rows nearest to
          one that is drawn, and none elsewhere (Inouye et al. 2017).
        * ``"annotator"``: one of two annotators, who sees the rows on one side of a
          feature's median, is biased towards the class that is rarest there (Raykar et
          al. 2010).
        * ``"rules"``: labels are the vote of five simple rules, each a tree of depth 2
          on two features that has seen a tenth of the rows (Ratner et al. 2017).
        * ``"old model"``: labels are the answers of a naive Bayes model that knows half
          of the features and 2% of the rows (Chen et al. 2021).
        * ``"missed"``: samples of the rarest class pass for the most common one (Elkan
          and Noto 2008).
        * ``"confusion"``: each class is taken for the class most like it (Patrini et
          al. 2017). Two classes are confused at random.
    rate : float, default=0.2
        The share of wrong labels, between 0 and 1: of all labels; for ``"missed"`` of
        those of the rarest class; for ``"annotator"`` of those that the biased one
        sees, but for that class. Exactly so many are wrong: where rules or the old
        model are wrong less often, labels of which they are least sure are, too; where
        they are wrong more often, some of their mistakes were found and put right.
    random_state : int, RandomState instance or None, default=None
        Pass an int to get the same labels at every call.

    Returns
    -------
    y_noisy : ndarray of shape (n_samples,)
        The labels, some of them wrong.
    changed : ndarray of bool of shape (n_samples,)
        True where the label is wrong.

    References
    ----------
    A. K. Menon, B. van Rooyen and N. Natarajan, "Learning from binary labels with
    instance-dependent noise", Machine Learning 107 (2018).

    D. I. Inouye, P. Ravikumar, P. Das and A. Dutta, "Hyperparameter selection under
    localized label noise via corrupt validation", LLD workshop (2017).

    V. C. Raykar et al., "Learning from crowds", JMLR 11 (2010).

    A. Ratner et al., "Snorkel: rapid training data creation with weak supervision",
    VLDB 11 (2017).

    P. Chen, J. Ye, G. Chen, J. Zhao and P.-A. Heng, "Beyond class-conditional
    assumption: a primary attempt to combat instance-dependent label noise", AAAI
    (2021).

    C. Elkan and K. Noto, "Learning classifiers from only positive and unlabeled data",
    KDD (2008).

    G. Patrini et al., "Making deep neural networks robust to label noise: a loss
    correction approach", CVPR (2017).

    Examples
    --------
    >>> from splboost.datasets import corrupt_labels, make_gaussians
    >>> X, y = make_gaussians(random_state=0)
    >>> y_noisy, changed = corrupt_labels(X, y, "boundary", 0.1, random_state=0)
    >>> float(changed.mean()), bool(((y_noisy != y) == changed).all())
    (0.1, True)
    """
    if kind not in _KINDS:
        raise ValueError(
            f"kind={kind!r} is unknown; pass one of {', '.join(map(repr, _KINDS))}."
        )
    rate = _check_rate("rate", rate)
    reader = BaseEstimator()
    table = read_table(reader, X, reset=True)
    labels = read_target(y, reader, table.n_rows)
    classes, codes, rng = _classes_and_generator(labels, random_state)
    changed = np.zeros(codes.size, dtype=bool)
    wrong = codes.copy()
    among, weight, other = _KINDS[kind](_as_numbers(table), codes, rate, rng)
    of_some = kind in ("missed", "annotator")
    n_wrong = round(rate * (among.size if of_some else codes.size))
    # Drawn one after the other by weight: the smallest of exponential variates.
    with np.errstate(divide="ignore"):
        turn = rng.standard_exponential(among.size) / weight
    rows = among[np.argsort(turn, kind="stable")[:n_wrong]]
    changed[rows] = True
    wrong[rows] = other[rows]
    return classes[wrong], changed


# Each kind answers with the rows whose labels may be wrong, how likely each of them is
# to be so (0: after all others), and what the label of every row would be then.
Answer = tuple[NDArray[np.intp], FloatArray, Codes]


def _boundary(Z: FloatArray, codes: Codes, rate: float, rng: Any) -> Answer:
    n = codes.size
    k = max(1, min(MOST_NEIGHBOURS, n // 4))
    model = KNeighborsClassifier(k).fit(Z, codes)
    neighbours = codes[model.kneighbors(return_distance=False)]  # without the row
    share = (neighbours[:, :, None] == np.arange(codes.max() + 1)).mean(axis=1)
    doubt, other = _against_own(share, codes)
    return np.arange(n), np.exp(4 * np.minimum(doubt, 0.0)), other


def _region(Z: FloatArray, codes: Codes, rate: float, rng: Any) -> Answer:
    n = codes.size
    size = min(n, round(n * rate / WRONG_IN_REGION))
    distance = ((Z - Z[rng.randint(n)]) ** 2).sum(axis=1)
    inside = np.argsort(distance, kind="stable")[:size]
    n_classes = int(codes.max()) + 1
    other = (codes + rng.randint(1, n_classes, size=n)) % n_classes
    return inside, np.ones(inside.size), other


def _annotator(Z: FloatArray, codes: Codes, rate: float, rng: Any) -> Answer:
    feature = Z[:, rng.randint(Z.shape[1])] * rng.choice([-1, 1])
    seen = np.argsort(feature + 1e-9 * rng.random_sample(codes.size))
    seen = seen[: (codes.size + 1) // 2]
    favourite = _rarest(codes[seen])
    among = seen[codes[seen] != favourite]
    return among, np.ones(among.size), np.full(codes.size, favourite)


def _rules(Z: FloatArray, codes: Codes, rate: float, rng: Any) -> Answer:
    n, votes = codes.size, np.zeros((codes.size, codes.max() + 1))
    for _ in range(N_RULES):
        columns = rng.permutation(Z.shape[1])[:2]
        rule = DecisionTreeClassifier(max_depth=2, random_state=rng.randint(2**31 - 1))
        rows = _few(codes, SEEN_BY_RULE, rng)
        rule.fit(Z[np.ix_(rows, columns)], codes[rows])
        votes[np.arange(n), rule.predict(Z[:, columns])] += 1
    return _by_answers(votes / N_RULES, codes)


def _old_model(Z: FloatArray, codes: Codes, rate: float, rng: Any) -> Answer:
    columns = rng.permutation(Z.shape[1])[: (Z.shape[1] + 1) // 2]
    rows = _few(codes, SEEN_BY_MODEL, rng)
    model = GaussianNB(var_smoothing=0.1).fit(Z[np.ix_(rows, columns)], codes[rows])
    return _by_answers(model.predict_proba(Z[:, columns]), codes)


def _missed(Z: FloatArray, codes: Codes, rate: float, rng: Any) -> Answer:
    among = np.flatnonzero(codes == _rarest(codes))
    return among, np.ones(among.size), np.full(codes.size, np.bincount(codes).argmax())


def _confusion(Z: FloatArray, codes: Codes, rate: float, rng: Any) -> Answer:
    centre = np.array([Z[codes == k].mean(axis=0) for k in range(codes.max() + 1)])
    apart = ((centre[:, None] - centre) ** 2).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    return np.arange(codes.size), np.ones(codes.size), apart.argmin(axis=1)[codes]


_KINDS: dict[str, Callable[[FloatArray, Codes, float, Any], Answer]] = {
    "boundary": _boundary,
    "region": _region,
    "annotator": _annotator,
    "rules": _rules,
    "old model": _old_model,
    "missed": _missed,
    "confusion": _confusion,
}


def _against_own(share: FloatArray, codes: Codes) -> tuple[FloatArray, Codes]:
    """How far ahead of its label the likeliest other class of a row is, and that."""
    rest, rows = share.copy(), np.arange(codes.size)
    rest[rows, codes] = -np.inf
    other = rest.argmax(axis=1)
    return rest[rows, other] - share[rows, codes], other


def _by_answers(share: FloatArray, codes: Codes) -> Answer:
    """Labels by answers: wrong ones first, then those that are right by the least."""
    ahead, other = _against_own(share, codes)
    return np.arange(codes.size), np.where(ahead > 0, 1.0, 1e-100 * 1e3**ahead), other


def _rarest(codes: Codes) -> int:
    """The rarest class there is; of two as rare the later one, as positives are."""
    size = np.bincount(codes)
    return int(size.size - 1 - np.where(size > 0, size, np.inf)[::-1].argmin())


def _few(codes: Codes, share: float, rng: Any) -> NDArray[np.intp]:
    """Some rows drawn at random, at least one of each class."""
    order = rng.permutation(codes.size)
    first = np.unique(codes[order], return_index=True)[1]
    n_few = max(FEWEST_SEEN, round(share * codes.size))
    return np.unique(np.concatenate([order[first], order[:n_few]]))


def _as_numbers(table: Table) -> FloatArray:
    """Columns of mean 0 and variance 1; categories as indicators of that variance."""
    columns = []
    for j in range(table.n_features):
        if not table.is_categorical[j]:
            values = np.array(table.numeric(j), dtype=np.float64)
            known = np.isfinite(values)
            values[~known] = np.median(values[known]) if known.any() else 0.0
            columns.append(values)
            continue
        categories, index = table.category(j)
        size = np.bincount(index[index >= 0], minlength=len(categories))
        for k in np.argsort(-size, kind="stable")[:MOST_CATEGORIES]:
            columns.append((index == k).astype(np.float64))
    Z = np.column_stack(columns)
    spread = Z.std(axis=0)
    return (Z - Z.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
