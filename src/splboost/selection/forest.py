"""A classifier without knobs, for labels that are partly wrong."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from splboost._data.frames import make_frame
from splboost._data.labels import (
    all_or_nothing,
    check_trusted,
    check_weights,
    encode_labels,
    weigh_classes,
)
from splboost._data.table import TableEstimator, read_table
from splboost._tools.threads import count_threads
from splboost._tools.user_warnings import once, warn
from splboost._tools.wording import listed
from splboost.boosting.booster import check_parameters
from splboost.boosting.fitting import Samples
from splboost.selection.bags import check_groups
from splboost.selection.belief import (
    Calibration,
    believe,
    calibrate,
    estimate_noise,
    unweigh,
)
from splboost.selection.members import TrainingRows
from splboost.selection.pool import (
    SHARES,
    Bag,
    Mixture,
    Setting,
    count_bags,
    count_out,
    grow,
    judge,
    make_bags,
    make_members,
    scout,
)
from splboost.trees.binning import bin_table

FloatArray = NDArray[np.float64]

SHOWN = 5  # classes that a warning names


class BaggedForest(ClassifierMixin, TableEstimator):
    """What is common to classifiers by many bags: how they read and predict."""

    classes_: NDArray[Any]
    oob_decision_function_: FloatArray
    feature_importances_: FloatArray
    categorical_features: Any
    n_jobs: int | None
    random_state: Any
    verbose: int
    _mixture: Mixture
    _calibration: Calibration

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        return tags

    def _read(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: Any = None,
        groups: Any = None,
        trusted: Any = None,
    ) -> TrainingRows:
        """The rows of positive weight, binned."""
        n_threads = count_threads(self.n_jobs)
        table = read_table(self, X, self.categorical_features, reset=True)
        own_weight = check_weights(sample_weight, table.n_rows)
        self.classes_, codes = encode_labels(self, y, own_weight)
        class_weight = getattr(self, "class_weight", None)
        weight, of_class = weigh_classes(class_weight, self.classes_, codes, own_weight)
        # Of the lightest nothing may be left beside the others.
        used = np.minimum(weight / weight.max(), own_weight / own_weight.max()) > 0
        # In rows, as the unit of weights says nothing
        weight, own_weight = (w / w[used].mean() for w in (weight, own_weight))
        trusted = check_trusted(trusted, table.n_rows)
        if groups is not None:
            groups = check_groups(groups, table.n_rows)[used]
            groups = np.unique(groups, return_inverse=True)[1]
        samples = Samples(table, X, codes, weight).take(used)
        return TrainingRows(
            bin_table(samples.table, samples.weight, n_threads=n_threads),
            samples.codes,
            self.classes_.size,
            samples.weight,
            own_weight[used],
            of_class,
            groups,
            trusted[used],
            used,
        )

    def _grow(
        self, rows: TrainingRows, settings: list[Setting], bags: list[Bag]
    ) -> FloatArray:
        """Grow the trees that are kept; the probabilities of rows out of bag."""
        options: Any = {"n_jobs": self.n_jobs, "verbose": self.verbose}
        self._mixture, oob = grow(rows, settings, bags, **options)
        self._calibration = calibrate(oob, rows.codes, rows.weight)
        self.feature_importances_ = self._mixture.importances(self.n_features_in_)
        return oob

    def predict_proba(self, X: Any) -> FloatArray:
        """Probability of each class, that it is the label that would be given.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        probability : array of shape (n_samples, n_classes)
            Calibrated on out-of-bag scores, and hence on labels as they were given:
            where a fifth of these are wrong, few probabilities are above 0.8.
        """
        check_is_fitted(self)
        categorical = self._mixture.categorical_features
        table = read_table(self, X, categorical, reset=False)
        mean = self._mixture.probability(table, X, count_threads(self.n_jobs))
        return self._calibration.apply(mean)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Logarithms of the probabilities.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        labels : array of shape (n_samples,)
        """
        probability = self.predict_proba(X)
        return self.classes_[probability.argmax(axis=1)]


class SPLForestClassifier(BaggedForest):
    """Forests and self-paced boosters that choose their own settings.

    Random forests, extremely randomised trees, self-paced stumps and LogitBoost are
    fitted to many bags of the rows, of three sizes: with several leaf sizes, and after
    few rounds and many. Each setting is judged by the rows that were not in its bags,
    so that no rows have to be held out, and every training row gets an honest score.
    The settings are averaged: each counts by how often it is the best when rows count
    for more or less at random. Those that count are fitted once more, with labels that
    the rows out of bag speak against counting for less.

    There is nothing to tune. ``n_bags`` buys accuracy with time.

    Parameters
    ----------
    n_bags : int, default=30
        Bags of each of the three sizes, in the mean: of large ones there are more, so
        that each row is out of as many. Above 5 000 rows, or with more classes than
        two, there are fewer, in proportion, but a third of them at least.
    paced : bool, default=True
        Whether stumps are boosted with a pace, and labels that the rows out of bag
        speak against count for less. Without, it shows what that adds.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, in fitting and in judging. Predictions are then those
        for data in which classes are as frequent as they weigh; ``label_quality_`` and
        ``noise_rate_`` are about the data as they are.
    categorical_features : array-like or None, default=None
        Names, positions or a mask of categorical columns, beside those of categorical
        dtype.
    n_jobs : int or None, default=None
        Threads; -1 uses all cores. Nothing but the time depends on it.
    random_state : int, RandomState or None, default=None
        Draws bags and features.
    verbose : int, default=0
        1 shows how far it is.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    settings_ : frame
        What was chosen: kind, plateau, depth or leaf size, features that a node looks
        at, rounds on each bag, the share of the rows in a bag, out-of-bag Brier score
        by which it was judged, and its weight.
    oob_decision_function_ : array of shape (n_samples, n_classes)
        Probabilities of the classes for each training row, by bags without it, before
        any label counts for less. NaN for rows of weight zero, and for those that no
        bag of the sizes that count is without: a class of one row.
    oob_score_ : float
        Accuracy of these, on the labels as they were given. The settings were chosen by
        the same rows, so it is somewhat too good.
    label_quality_ : array of shape (n_samples,)
        Probability of each row's given label, by bags without it.
    noise_rate_ : float
        Estimated share of wrong labels: how many disagree with the model, out of bag,
        in the fifth of the rows of which it is surest. Trusted rows are left out, and
        taken to be right. It is too high where classes overlap everywhere, or rows
        repeat others without being of one group; too low where wrong labels are on one
        side.
    noise_rate_std_ : float
        Standard deviation of it, when rows count for more or less at random. It knows
        nothing of that bias.
    feature_importances_ : array of shape (n_features,)
        Share of the removed impurity by feature; all 0 where no tree has a cut.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Only when X has column names.

    Examples
    --------
    >>> from splboost import SPLForestClassifier
    >>> from splboost.datasets import flip_labels, make_gaussians
    >>> X, y = make_gaussians(random_state=0)
    >>> y_noisy, flipped = flip_labels(y, 0.2, random_state=0)
    >>> clf = SPLForestClassifier(n_bags=10, random_state=0).fit(X, y_noisy)
    >>> clf.score(X, y) > 0.9
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_bags": [Interval(Integral, 2, None, closed="left")],
        "paced": ["boolean"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "categorical_features": ["array-like", None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        n_bags: int = 30,
        paced: bool = True,
        class_weight: Any = None,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self._set_parameters(locals())

    n_bags: int
    paced: bool
    class_weight: Any
    settings_: Any
    oob_score_: float
    label_quality_: FloatArray
    noise_rate_: float
    noise_rate_std_: float

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        trusted: ArrayLike | None = None,
    ) -> Self:
        """Fit the pool, judge it out of bag, keep what is good.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN is a missing value.
        y : array-like of shape (n_samples,)
            Class labels, numbers or strings.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts for, in fitting and in judging.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group, say of one person, are in a bag together or not at all;
            out of bag then means that no row of the group was seen.
        trusted : array-like of bool of shape (n_samples,), default=None
            Rows whose labels are known to be right: they always count in full, and
            ``noise_rate_`` takes them to be right.

        Returns
        -------
        self
        """
        with all_or_nothing(self), once():
            self._fit(X, y, sample_weight, groups, trusted)
        return self

    def _fit(
        self, X: Any, y: ArrayLike, sample_weight: Any, groups: Any, trusted: Any
    ) -> None:
        check_parameters(self)
        rng = check_random_state(self.random_state)
        rows = self._read(X, y, sample_weight, groups, trusted)
        members = make_members(paced=self.paced)
        n, k = rows.codes.size, self.classes_.size
        numbers = dict(enumerate(count_bags(self.n_bags, n, k)))
        bags = make_bags(rows, members, numbers, rng)
        judging = count_out(bags, n)[1]
        unjudged = self.classes_[np.setdiff1d(rows.codes, rows.codes[judging])].tolist()
        if unjudged:
            some = listed([*map(repr, unjudged)], SHOWN)
            warn(
                f"All rows of some classes are in every bag ({some}): nothing is "
                "judged by these, and they get no out-of-bag score. Give more rows of "
                "them, or groups."
            )
        options: Any = {"n_jobs": self.n_jobs, "verbose": self.verbose}
        settings, scores = scout(rows, members, bags, **options)
        draws = np.random.default_rng(rng.randint(2**31 - 1))
        settings, oob = judge(rows, settings, scores, bags, draws)
        del scores
        self._set_rows(oob, rows, draws)
        if self.paced:
            of_labels = unweigh(oob, rows.of_class)
            belief = believe(of_labels, rows.codes, rows.own_weight, rows.trusted)
            bags = [bag._replace(weight=bag.weight * belief) for bag in bags]
        self._grow(rows, settings, bags)
        self._describe(settings)

    def _describe(self, settings: list[Setting]) -> None:
        types = {
            "kind": str,
            "max_depth": float,
            "min_samples_leaf": float,
            "max_features": str,
            "plateau": float,
        }
        members = [setting.member for setting in settings]
        self.settings_ = make_frame(
            {
                **{
                    name: (kind, [getattr(each, name, None) for each in members])
                    for name, kind in types.items()
                },
                "n_estimators": (int, [each.n_rounds for each in settings]),
                "bag_share": (float, [SHARES[each.size] for each in settings]),
                "oob_brier": (float, [each.brier for each in settings]),
                "weight": (float, [each.weight for each in settings]),
            }
        )

    def _set_rows(
        self, oob: FloatArray, rows: TrainingRows, draws: np.random.Generator
    ) -> None:
        """Set what the bags without a row say of it, and of all labels."""
        codes, weight = rows.codes, rows.own_weight
        oob = calibrate(oob, codes, rows.weight).apply(oob)
        of_labels = unweigh(oob, rows.of_class)
        n, k = rows.used.size, self.classes_.size
        self.oob_decision_function_ = np.full((n, k), np.nan)
        self.oob_decision_function_[rows.used] = oob
        self.label_quality_ = np.full(n, np.nan)
        self.label_quality_[rows.used] = of_labels[np.arange(codes.size), codes]
        there = ~np.isnan(oob).any(axis=1)
        right = oob[there].argmax(axis=1) == codes[there]
        self.oob_score_ = float(np.average(right, weights=weight[there]))
        self.noise_rate_, self.noise_rate_std_ = estimate_noise(
            of_labels[there],
            codes[there],
            rows.trusted[there],
            weight[there],
            rows.units[there],
            draws,
        )
