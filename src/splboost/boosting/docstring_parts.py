"""What the docstrings of boosters have in common, written once."""

from __future__ import annotations

from splboost._tools.docstrings import documented_by

_AFTER_WARM_ROUNDS = """\
        Where there is a pace, only rounds after the warm ones count.
"""


def _further_parameters(
    *, drawn: str, score: str, early: str = _AFTER_WARM_ROUNDS, class_weight: str = ""
) -> str:
    """Parameters that all boosters end with.

    ``drawn`` is what is held out, ``score`` how it is judged, ``early`` what an early
    end means.
    """
    return f"""\
    n_iter_no_change : int, default=None
        Stop early: after so many rounds that did not raise the score of the validation
        data, which are given to ``fit`` or held out. The model keeps the best round.
{early}        None does all rounds.
    validation_fraction : float in (0, 1), default=0.1
        Share of {drawn} that is held out to stop early, unless
        validation data are given.
    tol : float, default=1e-7
        A score counts as raised if it is greater by more than this.
    scoring : str or callable, default=None
        Score of the validation data, greater where the booster is better: None is
        {score}; else the
        name of a scorer of scikit-learn, or ``scoring(booster, X, y)``, which gets the
        booster of the rounds so far. Weights are passed on if it takes
        ``sample_weight``.
{class_weight}\
    categorical_features : array-like of names, indices or booleans, default=None
        Columns to treat as categories, besides those whose dtype says so.
    n_jobs : int, default=None
        Threads; None is one, -1 all cores. The model is the same for any number.
    random_state : int, RandomState or None, default=None
        Draws rows (``subsample``, ``validation_fraction``) and seeds the learners.
    warm_start : bool, default=False
        With True a further ``fit`` goes on where the last one (with True, too) ended,
        up to ``n_estimators`` rounds in all; the result is that of a single fit. Data
        should be the same. Other parameters may change for the rounds to come, but for
        those on which all rounds depend (``docs/boosters.md`` lists them). A fit that a
        callback or Ctrl-C ended is taken up again; one that ended because nothing was
        left to improve stays as it is.
    callback : callable, default=None
        Called after each round as ``callback(progress)``, with a
        ``splboost.boosting.Progress``; returns True to stop. After Ctrl-C it is called
        once more, with ``progress.interrupted``, and returns True to keep the rounds
        done.
    verbose : int, default=0
        1 shows a progress bar, where stderr is a terminal and rich is installed, else
        prints a line to stderr for every tenth of the rounds; 2 does both.
"""


_ROUNDS = """\
    n_estimators : int, default=200
        Most rounds.
    learning_rate : float in [1e-9, 1], default=1.0
        Factor of every step.
"""
_PACE = """\
    pace : Pace, str or dict, default=None
        How much of a sample's loss to believe: an object of ``splboost.pace``, or the
        name of one, which is then made with a plateau that did well for this booster
        (``docs/defaults.md``). A plateau is that of the exponential loss, and is
        translated by the probability from which a label is not believed; an age is in
        units of the loss. None believes all. A dict gives each class its own, by label.
"""
_WARM_ROUNDS = """\
    warm_rounds : int, default=3
        Rounds before the pace sets in.
"""
_SUBSAMPLE = """\
    subsample : float in (0, 1], default=1.0
        Share of the samples that each learner is fitted on, drawn anew every round.
"""
_CLASS_WEIGHT = """\
    class_weight : dict or "balanced", default=None
        Weights of the classes, which multiply the sample weights.
"""
_CLASSES = """\
    classes_ : array of shape (n_classes,)
"""
_LEARNERS_OF_CLASSES = """\
    estimators_ : list of the fitted weak learners
        With more than two classes, where each is set against the rest, a list of one
        for each class in every round, None where a class has got none.
"""
_SAMPLE_PACES = """\
    sample_pace_ : array of shape (n_samples,)
        v of each training sample at the final scores, which one more round would use:
        0 means dropped as an outlier. NaN for samples of weight zero or held out.
    n_selected_ : array of shape (n_iter_,)
        Number of samples with v > 0 in each round.
"""
_ENDING = """\
    n_iter_ : int
        Rounds kept: those done, less those passed over, and less those after the best
        one where boosting stopped early.
    stop_reason_ : str
        Why boosting ended; ``docs/attributes.md`` lists the reasons.
    validation_scores_ : array of shape (n_rounds,)
        Score of the validation data after each round, also of those after the best
        one, which are not kept. Only where there are such data.
    feature_importances_ : array of shape (n_features,)
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Only when X has column names.
"""

_TEXTS = {
    "{rounds}": _ROUNDS,
    "{pace and rounds}": _ROUNDS + _PACE + _WARM_ROUNDS + _SUBSAMPLE,
    "{pace}": _PACE,
    "{subsample}": _SUBSAMPLE,
    "{discrete steps}": f"""\
{_WARM_ROUNDS}\
    inner_steps : int, default=1
        Fits within a round, between which the paces follow the scores that the last
        fit would lead to. 1 is the paper's; with a large number they alternate until
        they settle or no longer improve.
{_SUBSAMPLE}\
        Steps are still taken from all samples. A round whose learner does no better
        than guessing on all samples is passed over; a draw that no learner can be
        fitted to is replaced by all samples.
    on_perfect : {{"stop", "continue"}}, default="stop"
        What to do when a learner makes no error on the samples selected.
""",
    "{further parameters}": _further_parameters(
        drawn="each class (at least a sample)",
        score='the accuracy; "loss" the latent objective per unit of weight, negated',
        class_weight=_CLASS_WEIGHT,
    ),
    "{further parameters of potential boosters}": _further_parameters(
        drawn="each class (at least a sample)",
        score='the accuracy; "loss" is refused, for the mean potential does not fall',
        early="""\
        That may be before time has run out, and the goal is lost then: until the end
        hardly any sample is given up, and no error is promised.
""",
        class_weight=_CLASS_WEIGHT,
    ),
    "{further parameters of regressors}": _further_parameters(
        drawn="the samples (at least one)",
        score='R²; "loss" half the mean squared error, negated',
    ),
    "{attributes}": f"""\
{_CLASSES}{_LEARNERS_OF_CLASSES}\
    estimator_weights_ : array of shape (n_iter_,) or (n_iter_, n_classes)
        Factor of each learner before the learning rate.
    paces_ : dict
        The pace of each class by its label, in units of the loss; None where it has
        none.
{_SAMPLE_PACES}\
    latent_objective_ : array of shape (n_iter_,)
        Summed latent loss after each round.
{_ENDING}""",
    "{attributes of discrete boosters}": f"""\
{_CLASSES}\
    estimators_ : list of the fitted weak learners
    estimator_weights_ : array of shape (n_iter_,)
        Coefficient of each learner before the learning rate: AdaBoost's alpha (half of
        scikit-learn's), SAMME's beta.
    estimator_errors_ : array of shape (n_iter_,)
        Weighted error of each learner, over all samples.
    paces_ : dict
        The pace of each class by its label, None where it has none.
{_SAMPLE_PACES}\
    latent_objective_ : array of shape (n_iter_,)
        Summed latent loss after each round. For two classes it never rises after the
        warm rounds.
{_ENDING}""",
    "{attributes of potential boosters}": f"""\
{_CLASSES}{_LEARNERS_OF_CLASSES}\
    estimator_weights_ : array of shape (n_iter_,) or (n_iter_, n_classes)
        Step of each learner, before scores have faded.
    estimator_errors_ : array of shape (n_iter_,)
        Weighted error of each learner, over all samples. Only with two classes.
    times_ : array of shape (n_iter_,) or (n_iter_, n_classes)
        Time after each round.
    sample_potential_ : array of shape (n_samples,)
        Potential of each training sample at the end: near the highest, which is 1 for
        RobustBoost and 2 for BrownBoost, where it has been given up. NaN for samples of
        weight zero or held out.
    n_selected_ : array of shape (n_iter_,)
        Number of samples of positive weight in each round.
    latent_objective_ : array of shape (n_iter_,)
        Summed potential after each round, which stays where it was but for the last;
        with more than two classes the mean over these.
{_ENDING}""",
    "{sample paces}": _SAMPLE_PACES,
    "{ending}": _ENDING,
    "{regression tree}": """\
    estimator : regressor, default=None
        The weak learner: a ``splboost.trees.CARTRegressor`` (fast), or any scikit-learn
        regressor whose ``fit`` takes ``sample_weight``. None is a stump,
        ``CARTRegressor(max_depth=1, min_weight_fraction_leaf=1e-4)``.
""",
    "{regressor}": """\
    estimator : regressor, default=None
        The weak learner: a ``splboost.trees.CARTRegressor`` (fast), or any scikit-learn
        regressor whose ``fit`` takes ``sample_weight``. None is
        ``CARTRegressor(max_leaf_nodes=4)``.
""",
    "{probability tree}": """\
    estimator : classifier, default=None
        The weak learner, whose class probabilities count: a tree of ``splboost.trees``
        (fast), or any scikit-learn classifier with ``predict_proba`` whose ``fit``
        takes ``sample_weight``. None is a stump,
        ``CARTClassifier(max_depth=1, min_weight_fraction_leaf=1e-4)``.
""",
    "{classification tree}": """\
    estimator : classifier, default=None
        The weak learner, which votes: a tree of ``splboost.trees`` (fast), or any
        scikit-learn classifier whose ``fit`` takes ``sample_weight``, which then sums
        to that of the samples. None is a stump,
        ``CARTClassifier(max_depth=1, min_weight_fraction_leaf=1e-4)``.
""",
}

documented = documented_by(_TEXTS)
