"""Random estimators of splboost with random parameters."""

import warnings
from importlib.util import find_spec

from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import splboost
from splboost.pace import Hard, Linear, Logarithmic, Mixture, Polynomial
from splboost.trees import C45Classifier, CARTClassifier, CARTRegressor

BOOSTERS = [
    getattr(splboost, name)
    for name in splboost.__all__
    if name.endswith(("BoostClassifier", "BoostRegressor"))
]
REGRESSORS = splboost.L2BoostRegressor, CARTRegressor
PACES = (
    None,
    "hard",
    "linear",
    "polynomial",
    Hard(plateau=1.1),
    Hard(age=1e-3),
    Linear(age=2.0),
    Linear(plateau=2.0, prior_corrected=True),
    Logarithmic(plateau=float("inf")),
    Mixture(age=3.0),
    Polynomial(plateau=1.5),
)
VOTERS = DecisionTreeClassifier, CARTClassifier, C45Classifier
LEARNERS = DecisionTreeRegressor, CARTRegressor, C45Classifier  # the last is refused
VARIANTS = {
    splboost.RBoostClassifier: ["gentle", "fisher", "mm", "discrete"],
    splboost.RobustBoostClassifier: ["one-sided", "two-sided"],
}
# By name, for every estimator that has such a parameter; the last ones are refused by
# some, or all.
PARAMETERS = {
    "n_estimators": [1, 2, 6, 15],
    "learning_rate": [1.0, 0.5, 0.1, 1e-3],
    "pace": PACES,
    "warm_rounds": [0, 1, 3],
    "inner_steps": [1, 3],
    "subsample": [1.0, 0.8, 0.3],
    "on_perfect": ["stop", "continue"],
    "n_iter_no_change": [None, None, 1, 3],
    "validation_fraction": [0.1, 0.5],
    "scoring": [None, None, "accuracy", "loss"],
    "class_weight": [None, "balanced", "balanced", {0: 2.0}],
    "z_clip": ["response", "gradient"],
    "z_max": [4.0, 2.0, 1e300],
    "line_search": [False, True],
    "epsilon": [0.1, 0.01, 0.4],
    "theta": [0.0, 0.5],
    "sigma": [0.1, 1.0],
    "confidence": [0.25, 0.01, 0.5],
    "min_cases": [2, 1, 50],
    "mdl": ["auto", True, False],
    "pruning": [True, False],
    "criterion": ["gini", "entropy"],
    "max_depth": [None, 1, 3, 20],
    "max_leaf_nodes": [None, 2, 5],
    "min_samples_leaf": [1, 5, 1000],
    "min_weight_fraction_leaf": [0.0, 0.2],
    "max_features": [None, 1, 0.5, "sqrt"],
    "categorical_features": [None, None, None, [0]],
    "paced": [True, False],
    "rule": ["best", "one standard error"],
    "p_min": [None, 0.1],
}


def make_model(rng, *, boosters=False):
    """An estimator, unfitted, with ``random_state`` and one thread."""
    kinds = list(BOOSTERS)
    if not boosters:
        kinds += [C45Classifier, CARTClassifier, CARTRegressor]
        kinds += [*_engines(), rng.choice([_search, _forest])]
    kind = rng.choice(kinds)
    if kind in (_search, _forest):
        return kind(rng)
    return vary(rng, kind())


def vary(rng, model, share=0.4):
    """Give some parameters other values."""
    known = model.get_params(deep=False)
    changes = {
        name: rng.choice(values)
        for name, values in PARAMETERS.items()
        if name in known and rng.random() < share
    }
    if "n_estimators" in known:
        changes.setdefault("n_estimators", 5)
    if "estimator" in known and rng.random() < 0.5:
        learner = rng.choice(VOTERS if "on_perfect" in known else LEARNERS)
        changes["estimator"] = learner(max_depth=rng.choice([1, 2, 4]))
    if "variant" in known:
        changes["variant"] = rng.choice(VARIANTS[type(model)])
    if type(model).__name__ == "SPLLGBMClassifier":
        changes["verbose"] = -1
    fixed = {"random_state": rng.randrange(100), "n_jobs": 1}
    changes |= {name: value for name, value in fixed.items() if name in known}
    return model.set_params(**changes)


def is_regressor(model):
    return isinstance(getattr(model, "booster", model), REGRESSORS)


def is_engine(model):
    return type(model).__module__.startswith("splboost.engines")


def _search(rng):
    booster = vary(rng, rng.choice(BOOSTERS)())
    grid = rng.choice(["plateau", [1.5, float("inf")], None])
    own = splboost.PaceSearchCV(booster, grid=grid, cv=rng.choice([2, 3]))
    return vary(rng, own)


def _forest(rng):
    return vary(rng, splboost.SPLForestClassifier(n_bags=2))


def _engines():
    """Those whose package is there."""
    from splboost import engines

    packages = {"xgboost": "SPLXGBClassifier", "lightgbm": "SPLLGBMClassifier"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [getattr(engines, c) for p, c in packages.items() if find_spec(p)]
