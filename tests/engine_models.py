"""Classifiers of splboost.engines, their parents and data for the tests of them."""

import inspect

import lightgbm
import numpy as np
import pytest
import xgboost

from splboost.datasets import flip_labels, make_twonorm
from splboost.engines import SPLLGBMClassifier, SPLXGBClassifier

QUIET = {"verbose": -1}
PACED = {
    "xgboost": lambda **given: SPLXGBClassifier(n_jobs=1, **given),
    "lightgbm": lambda **given: SPLLGBMClassifier(n_jobs=1, **{**QUIET, **given}),
}
PARENTS = {"xgboost": xgboost.XGBClassifier, "lightgbm": lightgbm.LGBMClassifier}
NEW_EVAL = "eval_X" in inspect.signature(lightgbm.LGBMClassifier.fit).parameters
both = pytest.mark.parametrize("package", PACED)


def data(n=800, share=0.2, seed=0, n_classes=2):
    """Features, labels with a share of wrong ones, and which these are."""
    X, y = make_twonorm(n, random_state=seed)
    noisy, flipped = flip_labels((y > 0).astype(int), share, random_state=seed)
    return X, noisy + (X[:, 2] > 0.8) * (n_classes - 2), flipped


def unequal(n=400, n_classes=2):
    """Classes that differ in size."""
    X, y, _ = data(n, n_classes=n_classes)
    return X, y * (np.arange(n) % 3 > 0)


def parent_of(model):
    """The plain classifier with equal parameters."""
    ours = ("p_min", "pace", "warm_rounds")
    package = "xgboost" if isinstance(model, SPLXGBClassifier) else "lightgbm"
    given = model.get_params().items()
    return PARENTS[package](
        **{k: v for k, v in given if k.partition("__")[0] not in ours}
    )


def margin(model, X):
    if isinstance(model, xgboost.XGBClassifier):
        return model.predict(X, output_margin=True)
    return model.predict(X, raw_score=True)


def staged(model, X, rounds):
    if isinstance(model, xgboost.XGBClassifier):
        return model.predict(X, output_margin=True, iteration_range=(0, rounds))
    return model.predict(X, raw_score=True, num_iteration=rounds)


def logistic(scores, y):
    return np.logaddexp(0, np.where(y > 0, -scores, scores))


def check_dropped(model, loss, p_min=0.37):
    """v is 0 where the loss says so, but for those at the very cut."""
    clear = np.abs(loss + np.log(p_min)) > 1e-4
    believed = (model.sample_pace_ > 0)[clear]
    np.testing.assert_array_equal(believed, (loss < -np.log(p_min))[clear])


def evaluate_on(package, X, y):
    """Arguments of fit."""
    if package == "xgboost":
        return {"eval_set": [(X, y)], "verbose": False}
    return {"eval_X": X, "eval_y": y} if NEW_EVAL else {"eval_set": [(X, y)]}


def results(model):
    if isinstance(model, xgboost.XGBClassifier):
        return model.evals_result()
    return model.evals_result_
