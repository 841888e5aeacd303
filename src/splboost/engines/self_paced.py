"""What the classifiers of both packages share: rounds, parameters, record, checks."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import wraps
from numbers import Integral
from typing import Any, ClassVar, Self

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length, check_scalar
from sklearn.utils.validation import _num_samples

from splboost._data.labels import all_or_nothing, check_weights
from splboost._data.table import as_frame
from splboost._tools.docstrings import documented_by
from splboost._tools.user_warnings import warn
from splboost._tools.wording import counted
from splboost.engines.objective import (
    FloatArray,
    PacedRounds,
    check_p_min,
    find_paces,
)
from splboost.pace import Pace
from splboost.pace.by_class import describe_lost_classes, given_paces

# Parameters of ours, which the packages must not see
OURS = "p_min", "pace", "warm_rounds"
LEARNED = "sample_pace_", "n_selected_", "latent_objective_", "paces_"
OF_PACE = "pace__"
BY_NAME = "kwargs", "_other_params"  # where the packages keep parameters by name
ALIKE = 0.8  # of two names, from which on one is taken for a slip in the other
RATES = "learning_rate", "eta", "shrinkage_rate"  # as the packages name one thing
# What predict_proba gives instead of probabilities, where LightGBM is asked to
OTHER_ANSWERS = "raw_score", "pred_leaf", "pred_contrib"
WIDE = nw.Int128, nw.UInt128
# What categories of pandas may be, in its words; "mixed" is texts and numbers
OF_XGBOOST = {"empty", "integer", "string"}
OF_LIGHTGBM = OF_XGBOOST | {"boolean", "floating", "mixed", "mixed-integer"}
CATEGORIES = {"XGBoost": OF_XGBOOST, "LightGBM": OF_LIGHTGBM}
FLOAT32 = np.finfo(np.float32)  # of which both packages make weights

documented = documented_by(
    {
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
        Number of samples with v > 0 in each round.
    latent_objective_ : array of shape (n_rounds,)
        Summed latent loss after each round.
    paces_ : dict
        The pace of each class by its label, in units of the logistic loss; None where
        it has none.
""",
    }
)


class SelfPacedMixin:
    """A classifier of a package with a pace, to be named before the package's own.

    It has no ``get_params``: both packages look for that of their own class by going
    up from the first base that has one.
    """

    _package: ClassVar[str]
    _default_rate: ClassVar[float]  # learning rate of the package
    p_min: float | None
    pace: Pace | str | dict[Any, Any] | None
    warm_rounds: int | None
    sample_pace_: Any
    n_selected_: Any
    latent_objective_: Any
    paces_: dict[Any, Pace | None]

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of the pace, such as ``pace__age``."""
        of_pace = {
            name.removeprefix(OF_PACE): params.pop(name)
            for name in list(params)
            if name.startswith(OF_PACE)
        }
        if of_pace:
            pace = params.get("pace", self.pace)
            if not isinstance(pace, Pace):
                raise ValueError(
                    f"pace__{next(iter(of_pace))} cannot be set in pace={pace!r}; "
                    "give an object of splboost.pace, such as pace=Hard()."
                )
            pace.set_params(**of_pace)
        return super().set_params(**params)  # type: ignore[misc]

    def _check_settings(self) -> None:
        """Raise an error where a parameter of ours makes no sense."""
        check_p_min(self.p_min)
        if self.warm_rounds is not None:
            check_scalar(self.warm_rounds, "warm_rounds", Integral, min_val=0)
        for name in without_ours(self.get_params(deep=False)):  # type: ignore[attr-defined]
            meant = get_close_matches(name, OURS, n=1, cutoff=ALIKE)
            if meant:
                raise TypeError(
                    f"{type(self).__name__} has no parameter {name!r}; did you mean "
                    f"{meant[0]!r}?"
                )

    def _check_objective(self, objective: Any, allowed: Sequence[str]) -> None:
        if objective not in allowed:
            raise ValueError(
                f"{type(self).__name__} has a logistic or softmax loss; leave "
                f"objective as it is, or give one of {', '.join(map(repr, allowed))}, "
                f"got objective={objective!r}."
            )

    def _count_warm_rounds(self) -> int:
        """Rounds before the pace sets in, given or from the learning rate."""
        if self.warm_rounds is not None:
            return int(self.warm_rounds)
        params = self.get_params(deep=False)  # type: ignore[attr-defined]
        rates = [params[name] for name in RATES if params.get(name) is not None]
        rate = float(rates[-1]) if rates else self._default_rate
        return 0 if rate <= 0 else math.ceil(1.5 / rate - 1e-9)

    def _make_rounds(
        self, labels: Sequence[Any], mass: NDArray[np.float64], n_done: int
    ) -> PacedRounds:
        """The rounds of a fit, before they start.

        ``mass`` is the weight of each class in the loss, whatever has been multiplied
        into it: without features, the model would find a class as probable as its share
        of it.
        """
        shares = dict(zip(labels, (mass / mass.sum()).tolist(), strict=True))
        paces = find_paces(self.pace, self.p_min, shares, "logistic")
        loss = "softmax" if len(labels) > 2 else "logistic"
        n_warm = self._count_warm_rounds()
        return PacedRounds(loss, paces, warm_rounds=n_warm, n_done=n_done)

    def _keep_record(
        self,
        rounds: PacedRounds,
        n_kept: int,
        v: Any,
        latent: float,
        dropped: FloatArray,
    ) -> None:
        """Learn what a fit has done, and warn of it where it makes no sense.

        ``n_kept`` of its rounds are in the model; the rest is by ``PacedRounds.close``.
        """
        self.paces_ = rounds.paces
        self.sample_pace_ = v
        self.latent_objective_ = np.array([*rounds.latent[1:], latent][:n_kept])
        self.n_selected_ = np.array(rounds.n_selected[:n_kept], dtype=np.intp)
        mass, lost, n_lost = dropped
        labels = list(self.paces_)
        if np.count_nonzero(mass) < 2:
            label = labels[int(np.argmax(mass))]
            warn(
                f"y contains only one class, {label!r}, among the samples of positive "
                "weight, so that the model gives it to every row; give samples of "
                "another class."
            )
        if rounds.curves.is_plain:
            return
        n_rounds, n_warm = rounds.n_done + n_kept, rounds.warm_rounds
        if n_rounds <= n_warm:
            warn(
                f"The pace has had no effect: {counted(n_rounds, 'round')} came among "
                f"the {n_warm} warm ones before it sets in, and sample_pace_ only says "
                "what a further one would believe. Give fewer warm_rounds, a larger "
                "n_estimators or a larger learning_rate."
            )
            return
        n_empty = int(np.count_nonzero(self.n_selected_ == 0))
        if n_empty:
            warn(
                f"The pace has left no sample in {counted(n_empty, 'round')}, and so "
                "added nothing to the model. Give a smaller p_min, or more warm_rounds."
            )
        paces = given_paces(self.pace)
        if not any(getattr(pace, "prior_corrected", False) for pace in paces):
            message = describe_lost_classes(mass, lost, n_lost, labels)
            if message is not None:
                warn(message.replace("a larger age or plateau", "a smaller p_min"))

    # --------------------------------- data that the packages cannot take, or crash on

    def _check_training(self, X: Any, y: Any, weight: Any, eval_set: Any) -> Any:
        """Refuse what the package cannot be fitted to, or evaluated on.

        Returns the weights as floats, or None.
        """
        self._check_columns(X, "X")
        n = _num_samples(X)
        if n == 0:
            raise ValueError(
                f"X has no rows, got X of shape {np.shape(X)}; give at least one "
                "sample of each class."
            )
        check_consistent_length(X, y)
        pairs = [eval_set] if isinstance(eval_set, tuple) else eval_set or ()
        for k, pair in enumerate(pairs):
            if isinstance(pair, tuple | list) and len(pair) == 2:
                self._check_columns(pair[0], f"X of eval_set[{k}]")
                check_consistent_length(*pair)  # of anything else the package speaks
        if weight is None or hasattr(weight, "__cuda_array_interface__"):
            return weight
        weight = check_weights(weight, n)
        check_total(float(weight.sum()))
        return weight

    def _check_columns(self, X: Any, argument: str) -> None:
        """Refuse data with a column that the package cannot take."""
        frame, package = as_frame(X, argument), self._package
        if isinstance(frame, nw.LazyFrame):
            raise TypeError(f"{argument} is a lazy frame; call .collect() on it first.")
        if not isinstance(frame, nw.DataFrame):
            return
        of_pandas = frame.implementation.is_pandas_like()
        for j, (name, dtype) in enumerate(frame.schema.items()):
            kind, remedy, column = "", "Convert it", frame[:, j].to_native()
            if isinstance(dtype, nw.Categorical | nw.Enum):
                is_known = of_pandas or package == "XGBoost"
                if frame.implementation.is_pandas():
                    kind = f" of {column.cat.categories.inferred_type} values"
                    is_known = (
                        column.cat.categories.inferred_type in CATEGORIES[package]
                    )
                if is_known and not getattr(self, "enable_categorical", True):
                    is_known, remedy = (
                        False,
                        "Set enable_categorical=True, or convert it",
                    )
            elif dtype.is_numeric():
                is_known = not dtype.is_decimal() and dtype not in WIDE
            else:  # sparse columns of pandas are of an unknown type
                is_known = dtype == nw.Boolean or (of_pandas and dtype == nw.Unknown)
            if not is_known:
                raise ValueError(
                    f"Column {name!r} of {argument} has dtype "
                    f"{getattr(column, 'dtype', None) or column.type}{kind}, which "
                    f"{package} cannot take. {remedy} to floats (dates to days since "
                    "one of them, say) or to a category of pandas with texts, as by "
                    '.astype(str).astype("category"), or drop it.'
                )

    @contextmanager
    def _borrowed(self, *names: str) -> Iterator[dict[str, Any]]:
        """Parameters that a fit may change; they are put back when it ends.

        A fit that fails or is interrupted leaves all of the estimator as it was.
        """
        with all_or_nothing(self):
            lent = {name: getattr(self, name) for name in names}
            yield lent
            vars(self).update(lent)

    def _as_parent(self, parent: Any) -> Any:
        """The same as an object of the parent's class, without what is ours."""
        plain = parent.__new__(parent)
        for name, value in vars(self).items():
            if name not in OURS and name not in LEARNED:
                vars(plain)[name] = without_ours(value) if name in BY_NAME else value
        return plain


def without_ours(params: dict[str, Any]) -> dict[str, Any]:
    """The parameters that a package is to see; those of a pace are none of them."""
    return {
        name: value
        for name, value in params.items()
        if name.partition("__")[0] not in OURS
    }


def check_total(total: float) -> None:
    """Refuse weights of which nothing is left in the packages."""
    if not float(FLOAT32.tiny) <= total <= float(FLOAT32.max):
        raise ValueError(
            f"Sample weights sum to {total:g}, which is beyond what 32-bit floats can "
            "work with; rescale sample_weight, say to a mean of 1."
        )


def checking_columns(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a package's class that first refuses what the package cannot take.

    Probabilities have a column for each class. Both packages give two for a single one,
    which LightGBM calls impossible.
    """
    signature = inspect.signature(method)

    @wraps(method)
    def checked(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        self._check_columns(X, "X")
        answer = method(self, X, *args, **kwargs)
        if method.__name__ != "predict_proba" or len(self.classes_) > 1:
            return answer
        given = signature.bind(self, X, *args, **kwargs).arguments
        if any(given.get(name) for name in OTHER_ANSWERS):
            return answer
        return np.ones((len(answer), 1), dtype=answer.dtype)

    return checked
