"""What estimators of other libraries answer, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from splboost._data.table import names_of_categories

FloatArray = NDArray[np.float64]

SUM_ERROR = 0.01  # by which probabilities may miss 1


def predicted_numbers(estimator: Any, X: Any) -> FloatArray:
    """What a regressor predicts, a finite number for each row."""
    answer = _as_numbers(estimator, "predict", _ask(estimator, "predict", X))
    answer = _flat(estimator, answer, _count(X), "number")
    _check_rows(estimator, "predict", answer, np.isfinite(answer), "finite numbers")
    return answer


def predicted_shares(estimator: Any, X: Any, classes: NDArray[Any]) -> FloatArray:
    """The probabilities that a classifier predicts, in the order of the classes."""
    known = _positions(estimator, "classes_", estimator.classes_, classes)
    answer = _ask(estimator, "predict_proba", X)
    shares = np.zeros((_count(X), classes.size))
    shares[:, known] = check_shares(estimator, answer, _count(X), known.size)
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


def predicted_classes(
    estimator: Any, X: Any, classes: NDArray[Any]
) -> NDArray[np.int64]:
    """Predicted labels as class numbers."""
    labels = np.asarray(_ask(estimator, "predict", X))
    answer = _flat(estimator, labels, _count(X), "label")
    return _positions(estimator, "predict", answer, classes)


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


def _count(X: Any) -> int:
    n_rows: int = X.shape[0]
    return n_rows
