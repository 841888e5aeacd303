"""The classifiers that the robustness benchmark compares, and what is measured.

Each is a function of training data, a seed and a number of threads that gives a fitted
classifier with ``predict_proba``. Packages are imported where they are used, so that a
missing one costs only its own method. Rivals are tuned by random settings, on the folds
that all methods choose by.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from _long_data import Problem
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.metrics import balanced_accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

ROUNDS = 200
DEPTHS = (1, 2, 3)
TREES = 500
LEAVES = (1, 3, 5, 10, 20, 40)
EXTRA_TREES_LEAF = 5
FOLDS = 5
DRAWS = 30
LEAST_PROBABILITY = 1e-3  # for the log loss


# ------------------------------------------------------------------- random settings


@dataclass(frozen=True)
class Range:
    """Numbers to draw a setting from; whole ones if the ends are."""

    low: float
    high: float
    is_logarithmic: bool = False

    def draw(self, rng: np.random.Generator) -> float:
        whole = isinstance(self.low, int)
        # Whole numbers are rounded, and the ends must be as likely as the others.
        low, high = (
            (self.low - 0.5, self.high + 0.5) if whole else (self.low, self.high)
        )
        if self.is_logarithmic:
            value = float(np.exp(rng.uniform(np.log(low), np.log(high))))
        else:
            value = float(rng.uniform(low, high))
        return round(value) if whole else value

    def __str__(self) -> str:
        scale = ", logarithmic" if self.is_logarithmic else ""
        return f"{self.low:g} to {self.high:g}{scale}"


SHARED_RANGES = {
    "learning_rate": Range(0.01, 0.3, True),
    "n_estimators": Range(20, 500, True),
    "subsample": Range(0.4, 1.0),
    "colsample_bytree": Range(0.3, 1.0),
}
RANGES = {
    "lightgbm": {
        **SHARED_RANGES,
        "num_leaves": Range(2, 63, True),
        "min_child_samples": Range(1, 100, True),
    },
    "xgboost": {
        **SHARED_RANGES,
        "max_depth": Range(1, 10),
        "min_child_weight": Range(0.25, 25.0, True),  # a row counts for a quarter
    },
}


def folds(seed: int, number: int = FOLDS) -> StratifiedKFold:
    """The same folds for every method that chooses by cross-validation."""
    return StratifiedKFold(number, shuffle=True, random_state=seed)


def draw_settings(
    ranges: Mapping[str, Any], number: int, rng: np.random.Generator
) -> list[dict[str, float]]:
    return [
        {name: each.draw(rng) for name, each in ranges.items()} for _ in range(number)
    ]


def tune(
    make: Callable[..., Any],
    settings: Sequence[dict[str, float]],
    X: Any,
    y: Any,
    folds: StratifiedKFold,
) -> Any:
    """Fit the setting of the highest accuracy over the folds, the first of equals."""
    parts = list(folds.split(X, y))

    def count_right(setting: dict[str, float]) -> int:
        return sum(
            np.sum(make(**setting).fit(X.iloc[a], y[a]).predict(X.iloc[b]) == y[b])
            for a, b in parts
        )

    return make(**max(settings, key=count_right)).fit(X, y)


# ---------------------------------------------------------------------- this library's


def fit_spl_forest(X: Any, y: Any, seed: int, n_jobs: int, **options: Any) -> Any:
    from splboost import SPLForestClassifier

    return SPLForestClassifier(random_state=seed, n_jobs=n_jobs, **options).fit(X, y)


def fit_searched(
    X: Any, y: Any, seed: int, n_jobs: int, *, booster: str, paced: bool, **given: Any
) -> Any:
    """A booster of this library; pace, if any, depth and rounds are chosen on folds."""
    import splboost

    return splboost.PaceSearchCV(
        getattr(splboost, booster)(n_estimators=ROUNDS, **given),
        depths=DEPTHS,
        cv=folds(seed),
        random_state=seed,
        n_jobs=n_jobs,
        **({} if paced else {"grid": None}),
    ).fit(X, y)


# -------------------------------------------------------------------------- the rivals


def _one_hot(model: Any) -> Any:
    """For scikit-learn's forests, which take missing numbers but no categories."""
    return make_pipeline(
        make_column_transformer(
            (
                OneHotEncoder(handle_unknown="ignore", sparse_output=False),
                make_column_selector(dtype_include="category"),
            ),
            remainder="passthrough",
        ),
        model,
    )


def fit_random_forest(X: Any, y: Any, seed: int, n_jobs: int) -> Any:
    """The leaf size of the best out-of-bag accuracy, the smallest of equals."""
    from sklearn.ensemble import RandomForestClassifier

    def fit(leaf: int) -> Any:
        forest = RandomForestClassifier(
            TREES,
            min_samples_leaf=leaf,
            oob_score=True,
            random_state=seed,
            n_jobs=n_jobs,
        )
        return _one_hot(forest).fit(X, y)

    return max(map(fit, LEAVES), key=lambda forest: forest[-1].oob_score_)


def fit_extra_trees(X: Any, y: Any, seed: int, n_jobs: int) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier

    forest = ExtraTreesClassifier(
        TREES, min_samples_leaf=EXTRA_TREES_LEAF, random_state=seed, n_jobs=n_jobs
    )
    return _one_hot(forest).fit(X, y)


def fit_hist_gradient_boosting(X: Any, y: Any, seed: int, n_jobs: int) -> Any:
    """It takes its threads from the environment."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=seed).fit(X, y)


def make_booster(
    package: str, paced: bool, seed: int, n_jobs: int, **given: Any
) -> Any:
    """A classifier of XGBoost or LightGBM, or the one of this library with a pace."""
    if package == "xgboost":
        fixed = {"enable_categorical": True}
        name = "SPLXGBClassifier" if paced else "XGBClassifier"
    else:
        # Without subsample_freq it would ignore subsample; leaves alone are limited.
        fixed = {"subsample_freq": 1, "verbose": -1, "max_depth": -1}
        name = "SPLLGBMClassifier" if paced else "LGBMClassifier"
    module = importlib.import_module("splboost.engines" if paced else package)
    settings = {**fixed, "random_state": seed, "n_jobs": n_jobs, **given}
    return getattr(module, name)(**settings)


def fit_tuned(
    X: Any,
    y: Any,
    seed: int,
    n_jobs: int,
    *,
    package: str,
    paced: bool = False,
    settings: Sequence[dict[str, float]] | None = None,
    n_folds: int = FOLDS,
) -> Any:
    """The best of some settings, which are random ones where none are given."""
    if settings is None:
        settings = draw_settings(RANGES[package], DRAWS, np.random.default_rng(seed))
    make = partial(make_booster, package, paced, seed, n_jobs)
    return tune(make, settings, X, y, folds(seed, n_folds))


def make_lightgbm(seed: int, n_jobs: int) -> Any:
    """As it comes."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=seed, n_jobs=n_jobs, verbose=-1)


def make_cleanlab(seed: int, n_jobs: int) -> Any:
    from cleanlab.classification import CleanLearning

    return CleanLearning(
        make_lightgbm(seed, n_jobs),
        cv_n_folds=FOLDS,
        seed=seed,
        find_label_issues_kwargs={"n_jobs": n_jobs},
    )


def fit_cleanlab(X: Any, y: Any, seed: int, n_jobs: int) -> Any:
    """The model that it fitted to the labels it believes."""
    return make_cleanlab(seed, n_jobs).fit(X, y).clf


# ------------------------------------------------------------------------ the registry


@dataclass(frozen=True)
class Method:
    """How to fit it, what it is, and what it needs."""

    fit: Callable[[Any, Any, int, int], Any]
    description: str
    packages: tuple[str, ...] = ()  # beside scikit-learn, which splits the data
    definition: int = 1  # one more whenever `fit` does something else
    variant_of: str | None = None  # of which it shows one side

    @property
    def compiles(self) -> bool:
        """Whether the first fit of a process takes longer."""
        return "splboost" in self.packages

    def missing(self) -> str | None:
        """Why it is not there, if it is not."""
        for package in self.packages:
            try:
                importlib.import_module(package)
            except ImportError:
                return f"no package {package}: pip install 'splboost[rivals]'"
        return None

    def versions(self) -> dict[str, str]:
        """Those of the packages that it needs."""
        names = ("sklearn", *self.packages)
        return {name: importlib.import_module(name).__version__ for name in names}


_CHOICE = f"{ROUNDS} rounds at most, depth 1 to {max(DEPTHS)}, chosen on {FOLDS} folds"
_FOREST_DATA = "categories one-hot-encoded, missing numbers handled natively"
_TUNED = (
    f"the best of {DRAWS} random settings on {FOLDS} folds; native categories and "
    "missing values"
)
METHODS = {
    "SPLForest": Method(
        fit_spl_forest,
        "`SPLForestClassifier()`",
        ("splboost",),
        definition=2,
    ),
    "SPLForest without pace": Method(
        partial(fit_spl_forest, paced=False),
        "`SPLForestClassifier(paced=False)`",
        ("splboost",),
        definition=2,
        variant_of="SPLForest",
    ),
    "SPLBoost CV": Method(
        partial(fit_searched, booster="SPLBoostClassifier", paced=True),
        f"`PaceSearchCV(SPLBoostClassifier())`: pace, {_CHOICE}",
        ("splboost",),
    ),
    "AdaBoost CV": Method(
        partial(fit_searched, booster="AdaBoostClassifier", paced=False),
        f"`PaceSearchCV(AdaBoostClassifier(), grid=None)`: {_CHOICE}",
        ("splboost",),
    ),
    "LogitBoost CV": Method(
        partial(
            fit_searched, booster="LogitBoostClassifier", paced=False, learning_rate=0.1
        ),
        "`PaceSearchCV(LogitBoostClassifier(learning_rate=0.1), grid=None)`: "
        + _CHOICE,
        ("splboost",),
    ),
    "random forest": Method(
        fit_random_forest,
        f"scikit-learn's, {TREES} trees, leaves of {', '.join(map(str, LEAVES))} rows "
        f"by out-of-bag accuracy; {_FOREST_DATA}",
    ),
    "ExtraTrees": Method(
        fit_extra_trees,
        f"scikit-learn's, {TREES} trees, leaves of {EXTRA_TREES_LEAF}; {_FOREST_DATA}",
    ),
    "HistGradientBoosting": Method(
        fit_hist_gradient_boosting,
        "scikit-learn's, as it comes; native categories and missing values",
    ),
    "LightGBM tuned": Method(
        partial(fit_tuned, package="lightgbm"), _TUNED, ("lightgbm",)
    ),
    "XGBoost tuned": Method(
        partial(fit_tuned, package="xgboost"), _TUNED, ("xgboost",)
    ),
    "cleanlab": Method(
        fit_cleanlab,
        f"`CleanLearning` over LightGBM as it comes, {FOLDS} folds; native categories "
        "and missing values",
        ("cleanlab", "lightgbm"),
    ),
}


# -------------------------------------------------------------------- what is measured


class Measures(NamedTuple):
    """What is measured."""

    error: float
    balanced_accuracy: float
    log_loss: float
    fit_seconds: float
    predict_seconds: float


def positive_probability(model: Any, X: Any) -> np.ndarray:
    """Also of a model that has seen one class only."""
    probability = model.predict_proba(X)
    classes = list(model.classes_)
    return probability[:, classes.index(1)] if 1 in classes else np.zeros(len(X))


def measure(method: Method, problem: Problem, seed: int) -> dict[str, float]:
    """Fit and judge."""
    start = time.process_time()
    model = method.fit(problem.X, problem.y, seed, 1)
    fitted = time.process_time()
    probability = positive_probability(model, problem.X_test)
    predicted = time.process_time()
    guess = (probability > 0.5).astype(int)
    clipped = np.clip(probability, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    return {
        "error": float(np.mean(guess != problem.y_test)),
        "balanced_accuracy": float(balanced_accuracy_score(problem.y_test, guess)),
        "log_loss": float(log_loss(problem.y_test, clipped, labels=[0, 1])),
        "fit_seconds": fitted - start,
        "predict_seconds": predicted - fitted,
    }
