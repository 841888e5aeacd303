"""Estimators: what they give, and what is left of them when something goes wrong."""

import pickle
import traceback
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.base import clone

from fuzz.models import is_engine, is_regressor, make_model
from fuzz.tables import make_data, numpy_rng

CHECKERS = "/splboost/", "/sklearn/"  # packages whose errors are meant for users
ENGINES = "/xgboost/", "/lightgbm/"


class Stop(Exception):
    """What a callback raises."""


def refuses(call, model=None):
    """Whether a call raises an error for users; any other goes through.

    What XGBoost and LightGBM raise of themselves is theirs.
    """
    try:
        call()
    except Exception as error:
        *_, last = traceback.extract_tb(error.__traceback__)
        if is_engine(model) and any(package in last.filename for package in ENGINES):
            return True
        is_plain = isinstance(error, ValueError | TypeError)
        if not is_plain or not any(package in last.filename for package in CHECKERS):
            raise
        assert len(str(error).split()) >= 5, f"is no sentence: {error!r}"
        return True
    return False


def fit(model, data):
    weight = {} if data.weight is None else {"sample_weight": data.weight}
    return model.fit(data.X, data.y, **weight)


def answers(model, X):
    """All that a model says of rows."""
    if hasattr(model, "predict_proba"):
        return model.predict(X), model.predict_proba(X)
    return (model.predict(X),)


def cannot_read(model, X):
    """Whether a learner of scikit-learn, fitted to "1" and "2", meets another text."""
    learner = getattr(model, "estimator", None)
    is_foreign = type(learner).__module__.startswith("sklearn.")
    return is_foreign and refuses(lambda: model.predict(X))


def check_same(answers, others, what):
    for one, other in zip(answers, others, strict=True):
        np.testing.assert_array_equal(one, other, err_msg=what)


def check_fitted(model, data):
    """Shapes are right, and probabilities are probabilities."""
    for X in (data.X, data.new):
        predicted, *probability = answers(model, X)
        assert predicted.shape == (len(X),)
        if not probability:
            assert np.isfinite(predicted).all(), f"predicts {predicted}"
            continue
        (p,) = probability
        assert p.shape == (len(X), model.classes_.size)
        assert np.isfinite(p).all() and (p >= 0).all(), f"probabilities {p}"
        np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-5)
        assert np.isin(predicted, model.classes_).all()
        assert np.isin(model.classes_, np.asarray(data.y)).all()
    pace = getattr(model, "sample_pace_", np.zeros(1))
    assert not ((pace < 0) | (pace > 1)).any(), f"sample_pace_ is {pace}"


def fits(rng):
    """A model is refused, or right, and the same again and with two threads."""
    model = make_model(rng)
    data = make_data(rng, regression=is_regressor(model), plain=is_engine(model))
    first, again = clone(model), clone(model)
    if refuses(lambda: fit(first, data), model) or cannot_read(first, data.new):
        return True
    check_fitted(first, data)
    check_same(answers(first, data.new), answers(fit(again, data), data.new), "again")
    if "n_jobs" in model.get_params() and not is_engine(model):
        model.set_params(n_jobs=2)
        with patch("splboost._tools.threads.THREADED_WORK", 1):
            parallel = answers(fit(model, data), data.new)
        check_same(answers(first, data.new), parallel, "with two threads")
    return False


def pickles(rng):
    """A model is the same after a round trip, fitted or not."""
    model = make_model(rng)
    plain, regression = is_engine(model), is_regressor(model)
    data = make_data(rng, regression=regression, plain=plain, bad=0)
    model = pickle.loads(pickle.dumps(model))
    if refuses(lambda: fit(model, data), model) or cannot_read(model, data.new):
        return True
    copy = pickle.loads(pickle.dumps(model, protocol=rng.choice([2, 5])))
    check_same(answers(model, data.new), answers(copy, data.new), "pickled")
    return False


# ------------------------------------------------------------------------------- states


def states(rng):
    """Whatever befalls a booster, a fit that fails leaves it as it was."""
    model = make_model(rng, boosters=True)
    data = make_data(rng, regression=is_regressor(model), bad=0)
    if refuses(lambda: fit(model, data)) or cannot_read(model, data.new):
        return True
    for _ in range(rng.randrange(1, 7)):
        name = rng.choice(list(EVENTS))
        before = answers(model, data.new)
        try:
            after = EVENTS[name](rng, model, data)
        except AssertionError as error:
            raise AssertionError(f"after {name}: {error}") from error
        if after is not None:  # the model may say something else
            model = after
            check_fitted(model, data)
            continue
        check_same(before, answers(model, data.new), f"after {name}")
    return False


def _refit(rng, model, data):
    if refuses(lambda: fit(model, data)):
        raise AssertionError("refuses what it took before")
    return model


def _more_rounds(rng, model, data):
    was, warm = model.n_estimators, model.warm_start
    more = was + rng.choice([-1, 0, 1, 4])
    model.set_params(n_estimators=max(more, 1), warm_start=True)
    before = answers(model, data.new)
    if refuses(lambda: fit(model, data)):
        check_same(before, answers(model, data.new), "a refused warm start")
        model.set_params(n_estimators=was, warm_start=warm)
    return model


def _bad_data(rng, model, data):
    n = len(data.y)
    bad = rng.choice(
        [
            (np.full((n, 2), np.inf), data.y),
            (data.X, list(data.y)[:-1]),
            (data.X, np.full(n, np.nan)),
            (np.zeros((n, 0)), data.y),
            (np.full((n, 2), "word", dtype=object), data.y),
        ]
    )
    assert refuses(lambda: model.fit(*bad)), "takes bad data"


def _bad_parameter(rng, model, data):
    name, value = rng.choice([("n_estimators", 0), ("subsample", 2), ("verbose", "x")])
    was = model.get_params()[name]
    assert refuses(lambda: fit(model.set_params(**{name: value}), data)), name
    model.set_params(**{name: was})


def _raising_callback(rng, model, data):
    error, at = rng.choice([Stop, KeyboardInterrupt, MemoryError]), rng.randrange(1, 4)

    def callback(progress):
        if progress.round >= at:
            raise error

    warm = {"warm_start": rng.random() < 0.5}
    before = model.get_params()
    model.set_params(callback=callback, n_estimators=model.n_estimators + 3, **warm)
    try:
        fit(model, data)
        failed = False
    except error:
        failed = True
    model.set_params(**{name: before[name] for name in ("n_estimators", "warm_start")})
    model.set_params(callback=None)
    return None if failed else model


def _round_trip(rng, model, data):
    copy = pickle.loads(pickle.dumps(model))
    check_same(answers(model, data.new), answers(copy, data.new), "pickled")
    return copy


def _clone(rng, model, data):
    assert not hasattr(clone(model), "n_features_in_"), "a clone is fitted"


def _fewer_columns(rng, model, data):
    X = data.new[list(data.new.columns)[1:]] if _names(data) else data.new[:, 1:]
    assert refuses(lambda: model.predict(X)), "predicts with a column too few"


def _other_cells(rng, model, data):
    """Cells that were never seen; they may come as another kind of frame."""
    rows = np.full((3, len(_names(data) or data.new.T)), np.nan)
    rows[1:] = numpy_rng(rng).normal(size=rows[1:].shape) * 1e30
    X = pd.DataFrame(rows, columns=_names(data)) if _names(data) else rows
    if not refuses(lambda: model.predict(X)):
        assert all(np.isfinite(a).all() for a in answers(model, X)[1:])


def _names(data):
    return list(getattr(data.new, "columns", []))


EVENTS = {
    "another fit": _refit,
    "a warm start": _more_rounds,
    "bad data": _bad_data,
    "a bad parameter": _bad_parameter,
    "a callback that raises": _raising_callback,
    "a round trip": _round_trip,
    "a clone": _clone,
    "too few columns": _fewer_columns,
    "other cells": _other_cells,
}
