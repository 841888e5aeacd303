"""Pace and rounds by cross-validation: the procedure of the SPLBoost paper."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from splboost._data.labels import all_or_nothing
from splboost._tools.user_warnings import once, warn
from splboost.boosting import SPLBoostClassifier
from splboost.boosting.booster import WARM_ROUNDS, check_parameters
from splboost.boosting.classifier import BaseBoostedClassifier
from splboost.pace.by_class import is_paced
from splboost.selection.arguments import read_grid
from splboost.selection.path import (
    BEST,
    CONSTRAINTS,
    ONE_STANDARD_ERROR,
    PacePath,
    Setting,
    spl_path,
)


def _of_best(method: Callable[..., Any]) -> Any:
    """A method of boosters as one of the search, where its booster has it."""

    def check(self: Any) -> bool:
        booster = vars(self).get("best_estimator_", self._booster())
        getattr(booster, method.__name__)  # its own error says why there is none
        return True

    @wraps(method)
    def call(self: Any, X: Any) -> Any:
        check_is_fitted(self)
        return getattr(self.best_estimator_, method.__name__)(X)

    return available_if(check)(call)


class PaceSearchCV(MetaEstimatorMixin, BaseEstimator):
    """A booster whose pace, rounds and depth are chosen by cross-validation.

    Every pace of a grid is fitted at every depth on every fold, and judged after every
    round; the best is then fitted to all data. It takes hundreds of fits, which are
    done as one (``splboost.selection.spl_path``). With ``grid="paper"`` it is what the
    SPLBoost paper does.

    Where many labels are wrong, so are those that judge, and the choice is uncertain:
    ``SPLForestClassifier`` averages over many settings instead.

    Parameters
    ----------
    booster : default=None
        What to fit, with all its other parameters; None is ``SPLBoostClassifier()``.
        Its ``n_estimators`` is the largest number of rounds to choose.
    grid : {"plateau", "paper"}, sequence or None, default="plateau"
        "plateau" are plateaus from 1.25 to 6 and infinity, which is the plain booster;
        "paper" are the ages 1, 1.5, ... 6 of the paper. A sequence of numbers are
        plateaus; paces are taken as they are. None leaves the booster its own pace.
    depths : sequence of int or None, default=None
        Depths of the trees to choose from; None leaves the booster its own.
    cv : int, splitter or iterable of (train, test), default=5
        Stratified folds, shuffled, which divide no group; or as scikit-learn has them.
    scoring : str, callable or None, default=None
        None is the accuracy, or R²; "loss" the booster's loss without any pace,
        negated; otherwise as scikit-learn's. Weights of samples count, those of classes
        do not: with ``class_weight="balanced"``, "balanced_accuracy" goes well.
    rule : {"best", "one standard error"}, default="best"
        Take the setting of the highest mean score; or the simplest of those at most its
        standard error below: shallower trees, then fewer rounds, then a pace that drops
        less.
    n_jobs : int or None, default=None
        Threads; -1 uses all cores. Nothing but the time depends on it.
    random_state : int, RandomState or None, default=None
        Draws folds and features.
    verbose : int, default=0
        1 shows how far it is.

    Attributes
    ----------
    best_estimator_ : the booster fitted to all data
    best_params_ : dict
        What was chosen, as parameters of the booster.
    best_setting_ : Setting
        The same as a point of the path, with its score and standard error.
    best_score_ : float
        Mean score of the choice over the folds. It is the best of many, hence a little
        too good to be true.
    cv_results_ : frame
        One row for each setting: pace, depth, rounds; mean, standard deviation and rank
        of the score, and the score in each fold. In pandas or polars, whichever is
        installed; else a dict of columns.
    path_ : PacePath
        The same as arrays.
    classes_ : array of shape (n_classes,)
        Only of a classifier.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Only when X has column names.

    Examples
    --------
    >>> from splboost import PaceSearchCV, SPLBoostClassifier
    >>> from splboost.datasets import flip_labels, make_gaussians
    >>> X, y = make_gaussians(random_state=0)
    >>> y_noisy, _ = flip_labels(y, 0.2, random_state=0)
    >>> search = PaceSearchCV(SPLBoostClassifier(n_estimators=50), random_state=0)
    >>> search = search.fit(X, y_noisy)
    >>> sorted(search.best_params_)
    ['n_estimators', 'pace']
    >>> search.score(X, y) > 0.9
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CONSTRAINTS,
        "rule": [StrOptions({BEST, ONE_STANDARD_ERROR})],
    }

    def __init__(
        self,
        booster: Any = None,
        *,
        grid: Any = "plateau",
        depths: Any = None,
        cv: Any = 5,
        scoring: Any = None,
        rule: str = BEST,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.booster = booster
        self.grid = grid
        self.depths = depths
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    best_estimator_: Any
    best_params_: dict[str, Any]
    best_setting_: Setting
    best_score_: float
    path_: PacePath

    def _booster(self) -> Any:
        return SPLBoostClassifier() if self.booster is None else self.booster

    def __sklearn_tags__(self) -> Any:
        return self._booster().__sklearn_tags__()

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose, and fit what was chosen to all data.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN is a missing value.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Counts in fitting and in judging.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group stay in one fold.

        Returns
        -------
        self
        """
        with all_or_nothing(self), once():
            self._fit(X, y, sample_weight, groups)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> None:
        check_parameters(self)
        rng = check_random_state(self.random_state)
        seed = rng.randint(2**31 - 1)
        grid = read_grid(self._booster(), self.grid, "grid")
        booster = clone(self._booster())
        if getattr(booster, "callback", None) is not None:
            raise ValueError(
                f"callback={booster.callback!r} of the booster would not be called "
                "during the search, and could cut the last fit short; set it to None."
            )
        self.path_ = spl_path(
            X,
            y,
            booster=booster,
            plateaus=grid,
            depths=self.depths,
            cv=self.cv,
            groups=groups,
            sample_weight=sample_weight,
            scoring=self.scoring,
            n_jobs=self.n_jobs,
            random_state=rng,
            verbose=self.verbose,
        )
        self.best_setting_ = chosen = self.path_.choose(self.rule)
        n_rounds, n_warm = chosen.n_estimators, booster.warm_rounds
        if n_rounds <= n_warm and any(map(is_paced, self.path_.paces)):
            warn(
                f"The search has chosen n_estimators={n_rounds}, within the "
                f"warm_rounds={n_warm} before a pace sets in, so that no pace acts. "
                "Give the booster fewer warm_rounds to let paces compete.",
                topic=WARM_ROUNDS,
            )
        self.best_score_ = chosen.score
        self.best_params_ = {"n_estimators": chosen.n_estimators}
        if self.grid is not None:
            self.best_params_["pace"] = chosen.pace
        if chosen.max_depth is not None:
            self.best_params_["estimator__max_depth"] = chosen.max_depth
        if booster.random_state is None:
            booster.set_params(random_state=seed)
        if booster.n_jobs is None:
            booster.set_params(n_jobs=self.n_jobs)
        booster.set_params(
            **{k: clone(v, safe=False) for k, v in self.best_params_.items()}
        )
        self.best_estimator_ = booster.fit(X, y, sample_weight)
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(booster, name):
                setattr(self, name, getattr(booster, name))

    @property
    def cv_results_(self) -> Any:
        """One row for each setting."""
        check_is_fitted(self)
        return self.path_.to_frame()

    def predict(self, X: Any) -> NDArray[Any]:
        """What the chosen booster predicts for each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    predict_proba = _of_best(BaseBoostedClassifier.predict_proba)
    predict_log_proba = _of_best(BaseBoostedClassifier.predict_log_proba)
    decision_function = _of_best(BaseBoostedClassifier.decision_function)

    def score(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Accuracy of the chosen booster, or R² of a regressor.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        float
        """
        check_is_fitted(self)
        return float(self.best_estimator_.score(X, y, sample_weight))
