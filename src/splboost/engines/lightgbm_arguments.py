"""What LightGBM is told: what it must not be told, and metrics."""

from __future__ import annotations

from numbers import Real
from typing import Any

from splboost._tools.user_warnings import warn
from splboost.engines.lightgbm_metrics import ProbabilityMetrics
from splboost.engines.lightgbm_rounds import PacedTraining

OBJECTIVES = "binary", "multiclass", "softmax"
METRICS = "metric", "metrics", "metric_types"
STRATEGY = "data_sample_strategy"
BOOSTING = "boosting_type", "boosting", "boost"
LEAVES = "num_leaves", "num_leaf", "max_leaves", "max_leaf", "max_leaf_nodes"
DEPTH = 3  # by default, unlike LightGBM's
# Share of rows that are drawn, and rounds until the next draw, with our defaults
SHARES = "bagging_fraction", "bagging", "sub_row", "subsample"
ROUNDS = "bagging_freq", "subsample_freq"
BAGGING = {"subsample": 0.5, "subsample_freq": 1}
SHARES_OF_CLASSES = tuple(
    f"{label}_{share}"
    for label in ("pos", "neg")
    for share in ("bagging_fraction", "sub_row", "subsample", "bagging")
)
CLASSES = "num_class", "num_classes"
SUMS = (
    "min_child_weight",
    "min_sum_hessian_in_leaf",
    "min_sum_hessian_per_leaf",
    "min_sum_hessian",
    "min_hessian",
)


def check_lightgbm(estimator: Any) -> None:
    """Refuse what would crash LightGBM, or mean something else than it says."""
    params = estimator.get_params()
    for name in SUMS:
        least = params.get(name)
        number = isinstance(least, Real)
        if least is not None and not (number and least > 0):
            raise (ValueError if number else TypeError)(
                f"{name} must be a number above 0 for a self-paced LightGBM, got "
                f"{name}={least!r}: a leaf of rows that no longer count would crash "
                "it. The default is 0.001."
            )
    for name in BOOSTING:
        if params.get(name) in ("rf", "random_forest"):
            raise ValueError(
                f"{name}={params[name]!r} takes no objective but LightGBM's own; use "
                'boosting_type="gbdt".'
            )
    for name in SHARES_OF_CLASSES:
        if params.get(name, 1.0) not in (None, 1):
            raise ValueError(
                f"{name}={params[name]!r} would be ignored: LightGBM draws rows by "
                "class under its own objective alone. Leave it out; subsample draws "
                "from both classes, and class_weight makes one count for more."
            )
    if params.get("sigmoid", 1.0) != 1:
        raise ValueError(f"sigmoid must be 1, got sigmoid={params['sigmoid']!r}.")
    for name in LEAVES:
        if params["max_depth"] == DEPTH and (params.get(name) or 0) > 2**DEPTH:
            warn(
                f"{name}={params[name]!r} cannot be reached: with max_depth={DEPTH} a "
                f"tree has at most {2**DEPTH} leaves. Give max_depth=-1 for trees of "
                "any depth, or fewer leaves."
            )


def without_bagging(params: dict[str, Any]) -> dict[str, Any]:
    """The same for GOSS, which draws rows in a way of its own and allows no other.

    What is ours by default then gives way; what the user has set is refused.
    """
    if "goss" not in [params.get(name) for name in (*BOOSTING, STRATEGY)]:
        return params
    given = {
        name: params[name]
        for name in (*SHARES, *ROUNDS)
        if name in params and params[name] != BAGGING.get(name)
    }
    share = next((given[name] for name in SHARES if name in given), 0.0)
    rounds = next((given[name] for name in ROUNDS if name in given), 1)
    if given and share < 1 and rounds > 0:
        listed = ", ".join(f"{name}={value!r}" for name, value in given.items())
        raise ValueError(
            f"GOSS draws rows in a way of its own, and LightGBM takes no {listed} "
            "beside it; leave that out, or set subsample=1."
        )
    return {name: params[name] for name in params if name not in BAGGING or given}


def without_classes(params: dict[str, Any]) -> None:
    """Take out how many classes there are, which LightGBM is told for three or more."""
    for name in CLASSES:
        params.pop(name, None)


def check_objective(params: dict[str, Any]) -> None:
    if params["objective"] not in OBJECTIVES:
        raise ValueError(
            "SPLLGBMClassifier has a logistic or softmax loss; leave objective as it "
            f"is, or give one of {', '.join(map(repr, OBJECTIVES))}, got "
            f"objective={params['objective']!r}."
        )


def read_metrics(
    eval_metric: Any, params: dict[str, Any], training: PacedTraining
) -> ProbabilityMetrics:
    """The metrics that a fit asks for, in LightGBM's order."""
    given = eval_metric if isinstance(eval_metric, list) else [eval_metric]
    names = [each for each in given if isinstance(each, str)]
    functions = [each for each in given if callable(each)]
    told = [params[name] for name in METRICS if params.get(name) is not None]
    for each in told:
        names += each.split(",") if isinstance(each, str) else list(each)
    return ProbabilityMetrics(
        names, functions, training.probability, default_too=not told
    )
