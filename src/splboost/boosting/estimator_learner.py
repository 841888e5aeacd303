"""Estimators of scikit-learn as weak learners, and the model of a booster of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from splboost._data.table import Table, names_of_categories
from splboost.boosting.loop import MEANS, SHARES, VOTES, Learner, Weak, coded
from splboost.boosting.model import Model
from splboost.boosting.steps import NEGLIGIBLE

FloatArray = NDArray[np.float64]

SUM_ERROR = 0.01  # by which probabilities may miss 1


@dataclass(eq=False)
class EstimatorLearner(Learner):
    """Fits clones of any estimator that takes ``sample_weight``.

    Parameters
    ----------
    estimator : the weak learner
    X : the training samples
    codes : class numbers, for classifiers
    classes : what to call these
    sample_weight : the samples' own weights
    answers : what counts of it
    rng : seeds the learners
    """

    estimator: Any
    X: Any
    codes: NDArray[np.integer]
    classes: NDArray[Any]
    sample_weight: FloatArray
    answers: str
    rng: np.random.RandomState

    def can_fit(self, weight: FloatArray) -> bool:
        """Whether there are samples; two classes of them, if these are to be told."""
        if self.answers == MEANS:
            return bool(weight.any())
        return np.unique(self.codes[weight > 0]).size > 1

    def fit(self, weight: FloatArray, target: FloatArray | None = None) -> Weak:
        of_classes = self.answers != MEANS
        estimator = fit_clone(
            self.estimator,
            self.X,
            self.classes[self.codes] if of_classes else np.asarray(target),
            weight,
            self.sample_weight,
            self.rng,
            of_classes=of_classes,
        )
        leaf, answers = answer(estimator, self.X, self.answers, self.classes)
        weak = Weak(estimator, leaf, answers)
        if self.answers == VOTES:
            weak.error = weak.missed(weight, self.codes) / float(weight.sum())
        return weak

    def model(self, learners: list[Weak], counts: FloatArray) -> EstimatorModel:
        factors = counts * [weak.factor for weak in learners]
        links: list[Any] = [weak.link for weak in learners]
        if self.answers == VOTES:  # outputs lie on the grid
            factors = counts * [weak.move for weak in learners]
            links = [partial(coded, n_classes=self.classes.size)] * len(learners)
        return EstimatorModel(
            [weak.fitted for weak in learners],
            factors,
            links,
            self.answers,
            self.classes,
        )

    def read(self, table: Table, X: Any) -> Any:
        return table.native(X)

    def on_rows(self, weak: Weak, rows: Any) -> Weak:
        return weak.on_rows(*answer(weak.fitted, rows, self.answers, self.classes))

    @property
    def state(self) -> Any:
        return self.rng.get_state()

    @state.setter
    def state(self, state: Any) -> None:
        self.rng.set_state(state)


@dataclass(eq=False)
class EstimatorModel(Model):
    """Fitted scikit-learn estimators.

    Parameters
    ----------
    estimators : list
    factors : (n_estimators,) of what each adds
    links : list of callables
        Of each, from its answers to what these add to the scores.
    answers : what counts of them, as learners have it
    classes : what they call the classes
    """

    estimators: list[Any]
    factors: FloatArray
    links: Sequence[Callable[[Any], FloatArray]]
    answers: str
    classes: NDArray[Any]

    def first(self, n: int) -> EstimatorModel:
        kept = self.estimators[:n], self.factors[:n], self.links[:n]
        return EstimatorModel(*kept, self.answers, self.classes)

    def joined(self, later: EstimatorModel) -> EstimatorModel:
        return EstimatorModel(
            self.estimators + later.estimators,
            np.concatenate([self.factors, later.factors]),
            [*self.links, *later.links],
            self.answers,
            self.classes,
        )

    def stages(self, table: Table, X: Any, score: FloatArray) -> Iterator[None]:
        X = table.native(X)
        for estimator, factor, link in zip(
            self.estimators, self.factors, self.links, strict=True
        ):
            leaf, answers = answer(estimator, X, self.answers, self.classes)
            output = factor * link(answers)
            score += output if leaf is None else output[leaf]
            yield

    def importances(self, n_features: int, share: FloatArray) -> FloatArray:
        """Mean of the estimators' own importances, weighted by ``share``."""
        if not hasattr(self.estimators[0], "feature_importances_"):
            raise AttributeError(
                f"{type(self.estimators[0]).__name__} has no feature_importances_, so "
                "the booster has none either."
            )
        each = [estimator.feature_importances_ for estimator in self.estimators]
        return np.average(each, axis=0, weights=share if share.any() else None)

    def learners(
        self, classes: NDArray[Any] | None, n_features: int, names: NDArray[Any] | None
    ) -> list[Any]:
        return list(self.estimators)


# ------------------------------------------------ a fit, and what is answered to it


def fit_clone(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    weight: FloatArray,
    sample_weight: FloatArray,
    rng: np.random.RandomState,
    *,
    of_classes: bool,
) -> Any:
    """A fitted copy of a weak learner of scikit-learn, seeded anew.

    Weights that are next to nothing beside the largest are left out, unless a class
    would go with them; the others are scaled to sum to the samples' own.
    """
    rows = np.flatnonzero(weight > NEGLIGIBLE * weight.max())
    if of_classes and np.unique(y[rows]).size < 2:
        rows = np.flatnonzero(weight)
    copied = clone(estimator)
    seeds = {
        key: rng.randint(np.iinfo(np.int32).max)
        for key in sorted(copied.get_params(deep=True))
        if key == "random_state" or key.endswith("__random_state")
    }
    copied.set_params(**seeds)
    kept = weight[rows] * (sample_weight[rows].sum() / weight[rows].sum())
    try:
        return copied.fit(_safe_indexing(X, rows), y[rows], sample_weight=kept)
    except (TypeError, ValueError) as why:
        raise explain_refusal(estimator, X, why) from why


# ------------------------------------------- answers of other libraries' estimators


def answer(
    estimator: Any, X: Any, answers: str, classes: NDArray[Any]
) -> tuple[NDArray[np.int32] | None, NDArray[Any]]:
    """Leaves of rows, and answers of the leaves, of an estimator of scikit-learn.

    A classifier that votes has a leaf for each class.
    """
    if answers == SHARES:
        return None, predicted_shares(estimator, X, classes)
    predicted = _ask(estimator, "predict", X)
    if answers == VOTES:
        labels = _flat(estimator, np.asarray(predicted), X.shape[0], "label")
        votes = _positions(estimator, "predict", labels, classes)
        return votes.astype(np.int32), np.arange(classes.size)
    numbers = _as_numbers(estimator, "predict", predicted)
    numbers = _flat(estimator, numbers, X.shape[0], "number")
    _check_rows(estimator, "predict", numbers, np.isfinite(numbers), "finite numbers")
    return None, numbers[:, None]


def predicted_shares(estimator: Any, X: Any, classes: NDArray[Any]) -> FloatArray:
    """The probabilities that a classifier predicts, in the order of the classes."""
    known = _positions(estimator, "classes_", estimator.classes_, classes)
    answer = _ask(estimator, "predict_proba", X)
    shares = np.zeros((X.shape[0], classes.size))
    shares[:, known] = check_shares(estimator, answer, X.shape[0], known.size)
    return shares


def check_shares(
    estimator: Any, answer: Any, n_rows: int, n_classes: int
) -> FloatArray:
    """What ``predict_proba`` has answered, if these are probabilities."""
    method = "predict_proba"
    shares = _as_numbers(estimator, method, answer)
    if shares.shape != (n_rows, n_classes):
        held = f"an array of shape {shares.shape} for {n_rows} rows"
        wanted = f"a probability for each row and each of {n_classes} classes"
        raise _odd_answer(estimator, method, held, wanted)
    with np.errstate(invalid="ignore"):
        right = (shares >= -SUM_ERROR).all(axis=1)
        right &= np.abs(shares.sum(axis=1) - 1) <= SUM_ERROR  # false for NaN
    wanted = "probabilities of the classes, which sum to 1"
    _check_rows(estimator, method, shares, right, wanted)
    return shares


def _ask(estimator: Any, method: str, X: Any) -> Any:
    try:
        return getattr(estimator, method)(X)
    except (TypeError, ValueError) as why:
        raise explain_refusal(estimator, X, why) from why


def explain_refusal(estimator: Any, X: Any, why: Exception) -> Exception:
    """What an estimator has raised; a better error where it cannot read categories."""
    columns = names_of_categories(X)
    if not columns or not any(word in str(why) for word in ("convert", "cast")):
        return why
    return ValueError(
        f"estimator={estimator!r} cannot read the categories of X in "
        f"{', '.join(map(repr, columns))} ({why}). Encode them, for instance with "
        "sklearn.preprocessing.OneHotEncoder, or boost a tree of splboost.trees, "
        "which takes categories as they are."
    )


def _flat(estimator: Any, answer: NDArray[Any], n_rows: int, each: str) -> NDArray[Any]:
    if answer.shape not in ((n_rows,), (n_rows, 1)):
        held = f"an array of shape {answer.shape} for {n_rows} rows"
        raise _odd_answer(estimator, "predict", held, f"one {each} for each row")
    return answer.ravel()


def _positions(
    estimator: Any, method: str, labels: Any, classes: NDArray[Any]
) -> NDArray[np.int64]:
    """Where labels are among the classes, which are in order."""
    labels = np.asarray(labels)
    try:
        found = np.searchsorted(classes, labels).clip(max=classes.size - 1)
        wrong = labels[classes[found] != labels]
    except TypeError:  # of texts beside numbers
        wrong = labels
    if wrong.size:
        raise _odd_answer(
            estimator, method, repr(wrong.tolist()[0]), f"labels of {classes.tolist()}"
        )
    return found


def _as_numbers(estimator: Any, method: str, answer: Any) -> FloatArray:
    try:
        return np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        held = f"an object of type {type(answer).__name__}"
        raise _odd_answer(estimator, method, held, "an array of numbers") from None


def _check_rows(
    estimator: Any, method: str, answer: FloatArray, right: Any, wanted: str
) -> None:
    wrong = np.flatnonzero(~right)
    if wrong.size:
        row = int(wrong[0])
        more = f", and in {wrong.size - 1} more rows" if wrong.size > 1 else ""
        held = f"{answer[row].tolist()} for row {row}{more}"
        raise _odd_answer(estimator, method, held, wanted)


def _odd_answer(estimator: Any, method: str, held: str, wanted: str) -> ValueError:
    return ValueError(
        f"{type(estimator).__name__} answers {method} with {held}, and not with "
        f"{wanted}. Look at X, where constant columns or very large numbers can lead "
        "to that, or choose another estimator, for instance one of splboost.trees."
    )
