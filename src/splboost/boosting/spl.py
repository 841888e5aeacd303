"""SPLBoost: AdaBoost with a pace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from splboost.boosting.ada import AdaBoostClassifier
from splboost.boosting.docstring_parts import documented
from splboost.boosting.progress import Progress
from splboost.pace import Pace


@documented
class SPLBoostClassifier(AdaBoostClassifier):
    """AdaBoost that is not fooled by wrong labels.

    SPLBoost (self-paced boosting) believes a sample's loss only up to a point: a sample
    that the model gets badly wrong is more likely mislabelled than hard, and its weight
    goes to zero instead of growing. It minimises a *latent* loss, which follows
    AdaBoost's while it is small and goes flat where a label is no longer believed.

    It helps when labels are wrong here and there; it costs little on clean ones. It
    cannot help a weak learner strong enough to fit the wrong labels (deep trees), for
    then no loss is large; and a pace too strict for the data drops hard samples with
    the wrong ones. Where one class is rare, it drops many of it even if all labels are
    right, and a warning says so: use ``pace=Linear(prior_corrected=True)``.

    Parameters
    ----------
    {classification tree}
    {rounds}
    pace : Pace, str or dict, default="linear"
        How much of a sample's loss to believe: an object of ``splboost.pace``, or the
        name of one, which is then made with ``plateau=2.0``. Stumps with this pace did
        best among those tried (docs/defaults.md). None is AdaBoost. A dict
        gives each class its own, by label.
    {discrete steps}
    {comforts}

    Attributes
    ----------
    {attributes of discrete boosters}

    See Also
    --------
    AdaBoostClassifier : The same without a pace by default.

    References
    ----------
    K. Wang, Y. Wang, Q. Zhao, D. Meng and Z. Xu, "SPLBoost: An Improved Robust Boosting
    Algorithm Based on Self-paced Learning".

    Examples
    --------
    >>> from splboost import SPLBoostClassifier
    >>> from splboost.datasets import flip_labels, make_gaussians
    >>> X, y = make_gaussians(random_state=0)
    >>> y_noisy, flipped = flip_labels(y, 0.15, random_state=0)
    >>> clf = SPLBoostClassifier().fit(X, y_noisy)
    >>> dropped = clf.sample_pace_ == 0
    >>> bool(dropped[flipped].mean() > 0.5), bool(dropped[~flipped].mean() < 0.1)
    (True, True)
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 200,
        learning_rate: float = 1.0,
        pace: Pace | str | dict[Any, Any] | None = "linear",
        warm_rounds: int = 3,
        inner_steps: int = 1,
        subsample: float = 1.0,
        on_perfect: str = "stop",
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 1e-7,
        scoring: Any = None,
        class_weight: Any = None,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        callback: Callable[[Progress], Any] | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            estimator,
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            pace=pace,
            warm_rounds=warm_rounds,
            inner_steps=inner_steps,
            subsample=subsample,
            on_perfect=on_perfect,
            n_iter_no_change=n_iter_no_change,
            validation_fraction=validation_fraction,
            tol=tol,
            scoring=scoring,
            class_weight=class_weight,
            categorical_features=categorical_features,
            n_jobs=n_jobs,
            random_state=random_state,
            warm_start=warm_start,
            callback=callback,
            verbose=verbose,
        )
