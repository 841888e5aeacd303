"""What the docstrings of the classifiers have in common, written once."""

from __future__ import annotations

from splboost._tools.docstrings import documented_by

_TEXTS = {
    "{pace}": """\
    p_min : float or None, default=None
        Labels to which the model gives a lower probability have weight 0, whatever the
        pace. 0 is off. None is 0.37 for two classes, 0.74 / K for K; or what the pace
        says, if it has an age or plateau of its own.
    pace : Pace, str, dict or None, default="hard"
        How belief falls until then: an object of ``splboost.pace``, or the name of one.
        "hard" believes all or nothing; with "linear" choose a smaller ``p_min``, such
        as 0.2. ``Hard(prior_corrected=True)`` is for rare classes, where the share of a
        class is that of the weights, whatever they come from. A dict has one for each
        label; None believes all.
    warm_rounds : int or None, default=None
        Rounds before the pace sets in, which do not count for early stopping either.
        None is 1.5 / ``learning_rate``.
    n_seeds : int, default=1
        Models to fit one after the other, each with a seed of its own, and to average
        into one, which has the trees of all. 5 did better than 1, at five times the
        cost. Metrics of evaluation sets are then those of the first seed, and there is
        no best round.
    n_estimators : int, default=100
        Rounds.
    max_depth : int, default=3
        Depth of the trees.
""",
    "{step}": """\
    learning_rate : float, default=0.1
        Factor of every step.
    subsample : float in (0, 1], default=0.5
        Share of the samples that each tree is fitted on. Below 1 it adds much to what a
        pace does.
""",
    "{sample pace}": """\
    sample_pace_ : array of shape (n_samples,)
        v of each training sample at the final scores, which one more round would use:
        0 means dropped as an outlier. NaN for samples of weight zero.
""",
    "{record}": """\
    n_selected_ : array of shape (n_rounds,)
        Number of samples with v > 0 in each round; a list of such arrays, one for each
        seed, if there are several.
    latent_objective_ : array of shape (n_rounds,)
        Summed latent loss after each round; a list likewise.
    paces_ : dict
        The pace of each class by its label, in units of the logistic loss; None where
        it has none.
""",
}

documented = documented_by(_TEXTS)
