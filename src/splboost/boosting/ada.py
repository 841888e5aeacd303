"""AdaBoost, paced on request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from splboost.boosting.families.discrete import BaseDiscreteBooster
from splboost.boosting.progress import Progress
from splboost.pace import Pace


class AdaBoostClassifier(BaseDiscreteBooster):
    """Discrete AdaBoost; self-paced if given a pace.

    AdaBoost (Freund and Schapire 1997; for more than two classes SAMME, Zhu et al.
    2009) fits weak classifiers one after the other, each to weights that favour the
    samples that the ones before got wrong. With a ``pace`` it is SPLBoost.

    Parameters
    ----------
    estimator : classifier, default=None
        The weak learner: a tree of ``splboost.trees`` (fast), or any scikit-learn
        classifier whose ``fit`` takes ``sample_weight``, which then sums to the number
        of samples. None is a stump,
        ``CARTClassifier(max_depth=1, min_weight_fraction_leaf=1e-4)``.
    n_estimators : int, default=200
        Most rounds.
    learning_rate : float in [1e-9, 1], default=1.0
        Factor of every step.
    pace : Pace, str or dict, default=None
        How much of a sample's loss to believe: an object of ``splboost.pace``, or the
        name of one. None believes all. A dict gives each class its own, by label.
    warm_rounds : int, default=3
        Learners fitted before the pace sets in.
    inner_steps : int, default=1
        Fits within a round, between which the paces follow the scores that the last
        fit would lead to. 1 is the paper's; with a large number they alternate until
        they settle or no longer improve.
    subsample : float in (0, 1], default=1.0
        Share of the samples that each learner is fitted on, drawn anew every round.
        Steps are still taken from all samples. A round whose learner does no better
        than guessing on all samples is passed over; a draw that no learner can be
        fitted to is replaced by all samples.
    on_perfect : {"stop", "continue"}, default="stop"
        What to do when a learner makes no error on the samples selected.
    n_iter_no_change : int, default=None
        Stop early: after so many rounds that did not raise the score of the validation
        data, which are given to ``fit`` or held out. The model keeps the best round.
        Where there is a pace, only rounds after the warm ones count. None does all
        rounds.
    validation_fraction : float in (0, 1), default=0.1
        Share of each class (at least a sample) that is held out to stop early, unless
        validation data are given.
    tol : float, default=1e-7
        A score counts as raised if it is greater by more than this.
    scoring : str or callable, default=None
        Score of the validation data, greater where the booster is better: None is the
        accuracy; "loss" the latent objective per unit of weight, negated; else the
        name of a scorer of scikit-learn, or ``scoring(booster, X, y)``, which gets the
        booster of the rounds so far. Weights are passed on if it takes
        ``sample_weight``.
    class_weight : dict or "balanced", default=None
        Weights of the classes, which multiply the sample weights.
    categorical_features : array-like of names, indices or booleans, default=None
        Columns to treat as categories, besides those whose dtype says so.
    n_jobs : int, default=None
        Threads; None is one, -1 all cores. The model is the same for any number.
    random_state : int, RandomState or None, default=None
        Draws rows (``subsample``, ``validation_fraction``) and seeds the learners.
    warm_start : bool, default=False
        With True a further ``fit`` goes on where the last one (with True, too) ended,
        up to ``n_estimators`` rounds in all; the result is that of a single fit. Data
        and other parameters should be the same. A fit that a callback or Ctrl-C ended
        is taken up again; one that ended because nothing was left to improve stays as
        it is.
    callback : callable, default=None
        Called after each round as ``callback(progress)``, with a
        ``splboost.boosting.Progress``; returns True to stop. After Ctrl-C it is called
        once more, with ``progress.interrupted``, and returns True to keep the rounds
        done.
    verbose : int, default=0
        1 shows a progress bar, where stderr is a terminal and rich is installed, else
        prints a line to stderr for every tenth of the rounds; 2 does both.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    estimators_ : list of the fitted weak learners
    estimator_weights_ : array of shape (n_iter_,)
        Coefficient of each learner before the learning rate: AdaBoost's alpha (half of
        scikit-learn's), SAMME's beta.
    estimator_errors_ : array of shape (n_iter_,)
        Weighted error of each learner, over all samples.
    paces_ : dict
        The pace of each class by its label, None where it has none.
    sample_pace_ : array of shape (n_samples,)
        v of each training sample at the final scores, which one more round would use:
        0 means dropped as an outlier. NaN for samples of weight zero or held out.
    n_selected_ : array of shape (n_iter_,)
        Number of samples with v > 0 in each round.
    latent_objective_ : array of shape (n_iter_,)
        Summed latent loss after each round. For two classes it never rises after the
        warm rounds.
    n_iter_ : int
        Learners kept: the rounds done, less those passed over, and less those after
        the best one where boosting stopped early.
    stop_reason_ : str
        Why boosting ended; "all rounds done", "no improvement" and others, which
        ``docs/attributes.md`` lists.
    validation_scores_ : array of shape (n_rounds,)
        Score of the validation data after each round, also of those after the best
        one, which are not kept. Only where there are such data.
    feature_importances_ : array of shape (n_features,)
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Only when X has column names.

    See Also
    --------
    SPLBoostClassifier : The same with a pace by default.

    Examples
    --------
    >>> from splboost import AdaBoostClassifier
    >>> from splboost.datasets import make_gaussians
    >>> X, y = make_gaussians(random_state=0)
    >>> clf = AdaBoostClassifier(n_estimators=20).fit(X, y)
    >>> clf.score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 200,
        learning_rate: float = 1.0,
        pace: Pace | str | dict[Any, Any] | None = None,
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
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.pace = pace
        self.warm_rounds = warm_rounds
        self.inner_steps = inner_steps
        self.subsample = subsample
        self.on_perfect = on_perfect
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.scoring = scoring
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.callback = callback
        self.verbose = verbose
