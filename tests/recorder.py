"""Records what the package does, as numbers.

``python tests/recorder.py --check`` compares with the recorded numbers, as
``test_recorded.py`` does; ``python tests/recorder.py`` records them again. Both take
kinds of cases, such as ``boosters``. A difference is a change that users would see:
mend it, or record it again and give its cause in the message of the commit.
"""

import hashlib
import inspect
import itertools
import json
import sys
import tempfile
import warnings
from contextlib import chdir
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import splboost as spl
from helpers import pairwise
from splboost.audit import LabelAudit, find_label_issues
from splboost.boosting.custom import MarginLossBooster
from splboost.datasets import flip_labels, make_twonorm
from splboost.losses import Logistic
from splboost.pace import Hard, Linear, Logarithmic, Mixture, Polynomial
from splboost.selection import StratifiedBags
from splboost.trees import C45Classifier, CARTClassifier, CARTRegressor

FIXTURE = Path(__file__).parent / "data" / "recorded.json"
MODULES = (
    "splboost",
    "splboost.audit",
    "splboost.boosting",
    "splboost.boosting.custom",
    "splboost.datasets",
    "splboost.display",
    "splboost.engines",
    "splboost.losses",
    "splboost.pace",
    "splboost.selection",
    "splboost.trees",
)
N_ROUNDS = 12
TOLERANCE = 1e-9
N_SHOWN = 3  # rows whose scores are kept


class GentleLogit(MarginLossBooster):
    """A booster of a user's own."""

    def margin_loss(self):
        return Logistic(coupled=False)


class Welsch(spl.pace.Pace):
    """A pace of a user's own."""

    def weight(self, loss):
        return np.exp(-np.asarray(loss, dtype=float) / 2)


# What a weak learner has to answer with, and boosters by that
VOTES, SHARES, MEANS = "votes", "shares", "means"
BOOSTERS = {
    "ada": (spl.AdaBoostClassifier, VOTES, {}),
    "spl": (spl.SPLBoostClassifier, VOTES, {}),
    "real": (spl.RealAdaBoostClassifier, SHARES, {}),
    "gentle": (spl.GentleBoostClassifier, MEANS, {}),
    "logit": (spl.LogitBoostClassifier, MEANS, {}),
    "logit, gradient": (spl.LogitBoostClassifier, MEANS, {"z_clip": "gradient"}),
    "savage": (spl.SavageBoostClassifier, SHARES, {}),
    "savage, search": (spl.SavageBoostClassifier, SHARES, {"line_search": True}),
    "rboost": (spl.RBoostClassifier, MEANS, {}),
    "rboost, fisher": (spl.RBoostClassifier, MEANS, {"variant": "fisher"}),
    "rboost, mm": (spl.RBoostClassifier, MEANS, {"variant": "mm"}),
    "rboost, discrete": (spl.RBoostClassifier, VOTES, {"variant": "discrete"}),
    "own": (GentleLogit, MEANS, {}),
    "l2": (spl.L2BoostRegressor, MEANS, {"learning_rate": 0.5}),
    "robust": (spl.RobustBoostClassifier, VOTES, {"epsilon": 0.35}),
    "robust, two-sided": (
        spl.RobustBoostClassifier,
        VOTES,
        {"epsilon": 0.25, "variant": "two-sided", "theta": 0.1, "sigma": 0.2},
    ),
    "brown": (spl.BrownBoostClassifier, VOTES, {"epsilon": 0.4}),
}
UNPACED = "robust", "robust, two-sided", "brown"
LEARNERS = {
    "stump": {VOTES: None, SHARES: None, MEANS: None},
    "CART": {
        VOTES: CARTClassifier(max_depth=3),
        SHARES: CARTClassifier(max_depth=2, min_samples_leaf=4, criterion="entropy"),
        MEANS: CARTRegressor(max_leaf_nodes=5),
    },
    "C4.5": {VOTES: C45Classifier(max_depth=3), SHARES: C45Classifier(max_depth=2)},
    "foreign": {
        VOTES: DecisionTreeClassifier(max_depth=2, random_state=0),
        SHARES: GaussianNB(),
        MEANS: DecisionTreeRegressor(max_depth=2, random_state=0),
    },
}
PACES = {
    "none": None,
    "hard": Hard(plateau=2.0),
    "linear": "linear",
    "polynomial": Polynomial(age=6.0),
    "mixture": Mixture(plateau=2.0),
    "logarithmic": Logarithmic(plateau=2.0),
    "corrected": Linear(plateau=1.5, prior_corrected=True),
    "own": Welsch(),
}


# ------------------------------------------------------------------------------- data


def make_data(n=150, n_classes=2, *, seed=0, missing=False, categories=False):
    """Rows as an array or a frame, and labels of which some are wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(2)
    score = X[:, 0] + 0.7 * np.abs(X[:, 1]) + 0.3 * rng.normal(size=n)
    if categories:
        group = rng.integers(0, 4, size=n)
        score += np.array([-0.6, 0.0, 0.3, 0.6])[group]
    cuts = np.quantile(score, [0.3, 0.75, 0.9][: n_classes - 1])
    y = np.searchsorted(cuts, score)
    y = flip_labels(y, 0.15, random_state=seed)[0]
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    if not categories:
        return X, y
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["group"] = pd.Categorical(np.array(["n", "e", "s", "w"])[group])
    return frame, y


def fit_and_tell(model, X, y, **options):
    """Fit, and tell all that there is to tell."""
    model.fit(X, y, **options)
    return tell(model, X)


def tell(model, X):
    """What a fitted booster says, in few numbers."""
    step = max(len(X) // N_SHOWN, 1)
    some = X[::step][:N_SHOWN]
    told = {
        "n_iter": model.n_iter_,
        "reason": model.stop_reason_,
        "coefficients": summary(model.estimator_weights_),
        "selected": summary(model.n_selected_),
        "latent": summary(model.latent_objective_),
    }
    first = model.estimators_[0]
    first = next(filter(None, first), None) if isinstance(first, list) else first
    foreign = type(first).__module__.startswith("sklearn")
    if hasattr(model, "feature_importances_") and not foreign:
        # Trees of scikit-learn break ties between features by the last digit.
        told["importances"] = summary(model.feature_importances_)
    if hasattr(model, "decision_function"):
        told["scores"] = model.decision_function(some)
        told["probability"] = summary(model.predict_proba(X))
        told["labels"] = summary(np.unique(model.predict(X), return_inverse=True)[1])
    else:
        told["values"] = model.predict(some)
    for name in ("sample_pace_", "sample_potential_", "validation_scores_"):
        if hasattr(model, name):
            told[name] = summary(getattr(model, name))
    for name in ("estimator_errors_", "times_", "scale_", "start_"):
        if hasattr(model, name):
            told[name] = summary(getattr(model, name))
    return told


def summary(values):
    """Mean of an array, and mean weighted by place; NaN counts as -7."""
    flat = np.nan_to_num(np.asarray(values, dtype=float).ravel(), nan=-7.0)
    place = np.arange(1, flat.size + 1)
    return [flat.mean(), np.average(flat, weights=place)] if flat.size else []


# ----------------------------------------------------------------------- kinds of cases


def boosters():
    """All boosters, learners, two and three classes; all paces with stumps.

    The other learners have two paces in turn: learners see weights alone.
    """
    turns = itertools.product(BOOSTERS, LEARNERS, (2, 3))
    for turn, (name, learner, n_classes) in enumerate(turns):
        kind, answers, options = BOOSTERS[name]
        if answers not in LEARNERS[learner]:
            continue
        if name == "l2" and n_classes == 3:
            continue
        X, y = make_data(n_classes=n_classes, seed=1)
        y = y + 0.3 * X[:, 2] if name == "l2" else y
        paces = ["none"] if name in UNPACED else list(PACES)
        if learner != "stump":
            paces = sorted({paces[(turn + k) % len(paces)] for k in (0, 3)})
        for pace in paces:
            if (name, pace) == ("l2", "corrected"):
                continue
            paced = {} if name in UNPACED else {"pace": PACES[pace], "warm_rounds": 2}
            estimator = LEARNERS[learner][answers]
            model = kind(
                estimator, n_estimators=N_ROUNDS, random_state=0, **options, **paced
            )
            yield (
                f"{name} | {learner} | {n_classes} classes | {pace}",
                fit_and_tell,
                (model, X, y),
            )


OPTIONS = {
    "booster": [name for name in BOOSTERS if name != "l2"],
    "learner": [*LEARNERS],
    "n_classes": [2, 3],
    "pace": [*PACES],
    "data": ["numbers", "missing", "categories"],
    "weight": ["none", "some", "zero"],
    "class_weight": [None, "balanced", "dict"],
    "subsample": [1.0, 0.6],
    "learning_rate": [1.0, 0.3],
    "stopping": ["none", "held out", "given", "loss"],
    "warm_start": [False, True],
    "special": ["none", "first", "second"],
}


def options():
    """Boosters with many options at a time."""
    for number, case in enumerate(pairwise(OPTIONS)):
        if (case["data"] != "numbers" and case["learner"] == "foreign") or BOOSTERS[
            case["booster"]
        ][1] not in LEARNERS[case["learner"]]:
            case["learner"] = "stump"
        if case["booster"] in UNPACED and case["stopping"] == "loss":
            case["stopping"] = "given"
        yield f"{number}: {case}", run_options, (case,)


def run_options(case):
    kind, answers, given = BOOSTERS[case["booster"]]
    given = dict(given, n_estimators=N_ROUNDS, random_state=3)
    data = {
        "n_classes": case["n_classes"],
        "missing": case["data"] == "missing",
        "categories": case["data"] == "categories",
    }
    X, y = make_data(180, seed=2, **data)
    if case["booster"] not in UNPACED:
        given |= {"pace": PACES[case["pace"]], "warm_rounds": 2}
        given["learning_rate"] = case["learning_rate"]
    if answers == VOTES and case["booster"] in ("ada", "spl"):
        special = {"first": {"inner_steps": 3}, "second": {"on_perfect": "continue"}}
        given |= special.get(case["special"], {})
    given["subsample"] = case["subsample"]
    given["class_weight"] = {0: 2.0, 1: 0.5} if case["class_weight"] == "dict" else None
    if case["class_weight"] == "balanced":
        given["class_weight"] = "balanced"
    fitted = {}
    if case["weight"] != "none":
        fitted["sample_weight"] = np.random.default_rng(4).choice(
            [0.5, 1.0, 2.0] if case["weight"] == "some" else [0.0, 1.0], size=len(y)
        )
    if case["stopping"] != "none":
        given["n_iter_no_change"] = 4
        given["scoring"] = "loss" if case["stopping"] == "loss" else None
    if case["stopping"] == "given":
        X_val, y_val = make_data(80, seed=5, **data)
        fitted |= {"X_val": X_val, "y_val": y_val}
    estimator = LEARNERS[case["learner"]][answers]
    model = kind(estimator, warm_start=case["warm_start"], **given)
    if case["warm_start"]:
        model.set_params(n_estimators=5).fit(X, y, **fitted)
        model.set_params(n_estimators=N_ROUNDS)
    told = fit_and_tell(model, X, y, **fitted)
    some = X[::60]
    if hasattr(model, "staged_decision_function"):
        stages = [summary(each) for each in model.staged_decision_function(some)]
        told["stages"] = np.array(stages).sum(axis=0)
    if "X_val" not in fitted:
        told["first learner"] = describe_learner(model.estimators_[0], some)
    return told


def describe_learner(learner, some):
    if isinstance(learner, list):
        return [None if own is None else describe_learner(own, some) for own in learner]
    said = digest(learner.to_text(digits=6)) if hasattr(learner, "to_text") else ""
    return [said, summary(np.asarray(learner.predict(some), dtype=float))]


def trees():
    """Trees alone."""
    kinds = {
        "CART": CARTClassifier(max_depth=4),
        "entropy": CARTClassifier(criterion="entropy", min_samples_leaf=3),
        "best first": CARTClassifier(max_leaf_nodes=9, min_weight_fraction_leaf=0.02),
        "drawn": CARTClassifier(max_features="sqrt", random_state=5),
        "regression": CARTRegressor(max_depth=5, min_samples_leaf=2),
        "C4.5": C45Classifier(),
        "C4.5, unpruned": C45Classifier(pruning=False, max_depth=6),
    }
    for name, data, n_classes in itertools.product(
        kinds, ("numbers", "missing", "categories"), (2, 4)
    ):
        yield (
            f"{name} | {data} | {n_classes} classes",
            run_tree,
            (kinds[name], data, n_classes),
        )
    for n in (700, 3000):  # beyond what is sorted once, and beyond small nodes
        yield f"CART of {n} rows", run_tree, (kinds["CART"], "missing", 3, n)
    yield "long", run_long, ()


def run_tree(tree, data, n_classes, n=240):
    own = {"missing": data == "missing", "categories": data == "categories"}
    X, y = make_data(n, n_classes, seed=6, **own)
    weight = np.random.default_rng(7).choice([0.0, 1.0, 1.0, 2.5], size=n)
    tree.fit(X, y, weight)
    told = {
        "text": digest(tree.to_text(digits=8)),
        "leaves": tree.get_n_leaves(),
        "depth": tree.get_depth(),
        "importances": tree.feature_importances_,
    }
    if hasattr(tree, "predict_proba"):
        told["probability"] = summary(tree.predict_proba(X))
    else:
        told["values"] = summary(tree.predict(X))
    return told


def run_long():
    """More rows than bins are chosen from."""
    X, y = make_twonorm(40_000, random_state=0)
    y = flip_labels(y, 0.1, random_state=0)[0]
    told = fit_and_tell(spl.SPLBoostClassifier(n_estimators=20), X, y)
    model = spl.AdaBoostClassifier(CARTClassifier(max_depth=4), n_estimators=5)
    return {"stumps": told, "trees": fit_and_tell(model, X.astype(np.float32), y)}


def selection():
    """Searches, paths and forests."""
    X, y = make_data(160, seed=8)
    X3, y3 = make_data(180, 3, seed=9, categories=True, missing=True)
    groups = np.arange(len(y)) // 3
    short = spl.SPLBoostClassifier(n_estimators=15)
    searches = {
        "plateaus": (spl.PaceSearchCV(short, random_state=0), {}),
        "paper": (spl.PaceSearchCV(short, grid="paper", cv=3, random_state=1), {}),
        "depths": (spl.PaceSearchCV(short, depths=(1, 2), cv=3, random_state=2), {}),
        "groups": (
            spl.PaceSearchCV(
                spl.LogitBoostClassifier(n_estimators=10),
                grid=[1.5, 3.0],
                scoring="neg_log_loss",
                rule="one standard error",
                random_state=3,
            ),
            {"groups": groups, "sample_weight": 1.0 + (np.arange(len(y)) % 3)},
        ),
        "C4.5": (
            spl.PaceSearchCV(
                spl.SPLBoostClassifier(C45Classifier(max_depth=2), n_estimators=8),
                grid=[2.0, np.inf],
                cv=StratifiedBags(4, random_state=0),
                random_state=4,
            ),
            {},
        ),
        "robust": (
            spl.PaceSearchCV(
                spl.RobustBoostClassifier(epsilon=0.35, n_estimators=10),
                grid=None,
                depths=(1, 2),
                cv=3,
                scoring="roc_auc",
                random_state=5,
            ),
            {},
        ),
    }
    for name, (search, given) in searches.items():
        yield f"search: {name}", run_search, (search, X, y, given)
    yield "search: three classes", run_search, (searches["plateaus"][0], X3, y3, {})
    yield "path", run_path, (X, y)
    forests = {
        "two classes": (X, y, {}, {}),
        "three classes": (X3, y3, {}, {}),
        "unpaced": (X, y, {"paced": False}, {}),
        "balanced": (X, y, {"class_weight": "balanced"}, {}),
        "groups": (X, y, {}, {"groups": groups, "trusted": groups % 4 == 0}),
        "weights": (X3, y3, {}, {"sample_weight": np.arange(len(y3)) % 3 + 0.5}),
    }
    for name, (rows, labels, given, fitted) in forests.items():
        forest = spl.SPLForestClassifier(n_bags=4, random_state=0, **given)
        yield f"forest: {name}", run_forest, (forest, rows, labels, fitted)


def run_search(search, X, y, given):
    search.fit(X, y, **given)
    return {
        "chosen": [repr(search.best_params_["pace"])]
        if "pace" in search.best_params_
        else [],
        "n_estimators": search.best_params_["n_estimators"],
        "depth": search.best_params_.get("estimator__max_depth"),
        "score": search.best_score_,
        "path": summary(search.path_.scores),
        "fitted": tell(search.best_estimator_, X),
    }


def run_path(X, y):
    path = spl.spl_path(X, y, plateaus=[1.5, 2.5], depths=[1, 3], cv=3, random_state=0)
    return {
        "scores": summary(path.scores),
        "chosen": [path.choose().n_estimators, path.choose().value],
        "frame": summary(path.to_frame()["mean_test_score"]),
    }


def run_forest(forest, X, y, fitted):
    forest.fit(X, y, **fitted)
    return {
        "out of bag": summary(forest.oob_decision_function_),
        "quality": summary(forest.label_quality_),
        "noise": [forest.noise_rate_, forest.noise_rate_std_, forest.oob_score_],
        "probability": summary(forest.predict_proba(X)),
        "importances": forest.feature_importances_,
        "kinds": list(forest.settings_["kind"]),
        "weights": list(forest.settings_["weight"]),
    }


def audits():
    """Audits, and what they tell."""
    X, y = make_data(160, seed=10)
    X3, y3 = make_data(160, 3, seed=11, categories=True, missing=True)
    p = np.random.default_rng(0).dirichlet([4, 2], size=160)
    groups = np.arange(160) // 2
    quick = {"quick": True, "random_state": 0}
    cases = {
        "default": (LabelAudit(random_state=0), X, y, {}),
        "quick": (LabelAudit(**quick), X, y, {}),
        "three classes": (LabelAudit(**quick), X3, y3, {}),
        "top": (LabelAudit(top=9, **quick), X, y, {"groups": groups}),
        "precision": (LabelAudit(precision=0.6, **quick), X3, y3, {}),
        "reviewed": (
            LabelAudit(**quick),
            X,
            y,
            {"trusted": groups < 20, "original": np.where(groups < 3, 1 - y, y)},
        ),
        "given": (LabelAudit(), X, y, {"pred_probs": p}),
        "foreign": (LabelAudit(GaussianNB(), random_state=0), X, y, {}),
    }
    for name, case in cases.items():
        yield name, run_audit, case
    yield "find", run_find, (X3, y3)


def run_audit(audit, X, y, given):
    audit.fit(X, y, **given)
    issues = audit.issues_
    numbers = ("label_quality", "confidence", "chance_wrong", "rank")
    told = {name: summary(issues[name]) for name in numbers}
    told["suspects"] = np.flatnonzero(issues["is_label_issue"])
    told["predicted"] = digest("".join(map(str, issues["predicted_label"])))
    told["rates"] = [audit.noise_rate_, audit.noise_rate_std_]
    told["precision"] = audit.expected_precision_
    told["transitions"] = audit.transitions_
    told["contradictions"] = len(audit.contradictions_)
    told["reasons"] = [
        [
            each.row,
            [[why.column, why.taken] for why in each.reasons or []],
            each.similar,
        ]
        for each in audit.explain()[:4]
    ]
    return told


def run_find(X, y):
    return summary(find_label_issues(X, y, quick=True, random_state=0)["rank"])


def engines():
    """XGBoost and LightGBM with a pace."""
    from splboost.engines import SelfPacedObjective, SPLLGBMClassifier, SPLXGBClassifier

    few = {"n_estimators": 12, "random_state": 0, "n_jobs": 1}
    for kind in (SPLXGBClassifier, SPLLGBMClassifier):
        for n_classes in (2, 3):
            for name, pace in PACES.items():
                X, y = make_data(200, n_classes, seed=12)
                model = kind(pace=pace, warm_rounds=3, **few)
                yield (
                    f"{kind.__name__} | {n_classes} classes | {name}",
                    run_engine,
                    (model, X, y),
                )
    y = np.arange(8) % 2
    for name, pace in PACES.items():
        yield f"objective | {name}", run_objective, (SelfPacedObjective(pace=pace), y)


def run_engine(model, X, y):
    model.fit(X, y)
    return {
        "probability": summary(model.predict_proba(X).round(5)),
        "pace": summary(np.round(model.sample_pace_, 4)),
    }


def run_objective(objective, y):
    score = np.linspace(-2, 2, y.size)
    for _ in range(40):
        gradient, hessian = objective(y, score)
    return {"gradient": gradient, "hessian": hessian}


COMMANDS = {
    "help": ["--help"],
    "audit help": ["audit", "--help"],
    "apply help": ["audit", "apply", "--help"],
    "paper help": ["paper", "--help"],
    "run help": ["paper", "run", "--help"],
    "table": ["paper", "table"],
    "audit": ["audit", "people.csv", "--target", "rich", "--quick", "--jobs", "1"],
    "audit again": ["audit", "people.csv", "--target", "rich", "--quick", "--json"],
    "no column": ["audit", "people.csv", "--target", "poor"],
    "no file": ["audit", "nobody.csv", "--target", "poor"],
}


def commands():
    """What the command line says."""
    for name, arguments in COMMANDS.items():
        yield name, run_command, (arguments,)


def run_command(arguments):
    from typer.testing import CliRunner

    from splboost import cli

    X, y = make_data(120, seed=13, categories=True)
    people = X.assign(rich=np.where(y == 1, "yes", "no"))
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        people.to_csv("people.csv", index=False)
        done = CliRunner(env={"SPLBOOST_DATA": "absent"}).invoke(
            cli.make_app(), arguments
        )
        files = sorted(map(str, Path().rglob("*")))
    # Whether anything had to be compiled depends on what has run before.
    said = [line for line in done.output.split("\n") if "compiling" not in line]
    return {"code": done.exit_code, "said": said, "files": files}


# ------------------------------------------------------------------------------ the API


def interface():
    """Names, signatures, and attributes of what is fitted."""
    for name in MODULES:
        yield name, list_names, (name,)
    X, y = make_data(60, seed=14)
    for name, (kind, _, given) in BOOSTERS.items():
        if name == "own":
            continue
        yield f"attributes of {name}", list_attributes, (kind(**given), X, y)
    others = spl.SPLForestClassifier(n_bags=2), spl.PaceSearchCV(cv=2), LabelAudit()
    for model in (*others, CARTClassifier(), CARTRegressor(), C45Classifier()):
        name = type(model).__name__
        yield f"attributes of {name}", list_attributes, (model, X, y)


def list_names(name):
    module = import_module(name)
    found = {}
    for each in module.__all__:
        member = getattr(module, each)
        if inspect.isclass(member):
            methods = {
                method: str(inspect.signature(function))
                for method, function in inspect.getmembers(member, callable)
                if not method.startswith("_")
                and getattr(function, "__module__", "").startswith("splboost")
            }
            found[each] = [str(inspect.signature(member)), methods]
        elif callable(member):
            found[each] = str(inspect.signature(member))
        else:
            found[each] = type(member).__name__
    return found


def list_attributes(model, X, y):
    model.fit(pd.DataFrame(X, columns=list("abcd")), y)
    return [name for name in dir(model) if name.endswith("_") and name[0] != "_"]


KINDS = {
    kind.__name__: kind
    for kind in (
        boosters,
        options,
        trees,
        selection,
        audits,
        engines,
        commands,
        interface,
    )
}


# -------------------------------------------------------------------------------- files


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def plain(value):
    """A value as JSON has it, with the digits that are compared."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(each) for each in value]
    if isinstance(value, float | np.floating):
        return float(f"{value:.10g}") if np.isfinite(value) else str(value)
    if isinstance(value, np.generic):
        return value.item()
    return value


def record(kind):
    """What all cases of a kind give; an error counts as what they say."""
    found = {}
    for name, function, arguments in KINDS[kind]():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found[name] = plain(function(*arguments))
            except (ValueError, TypeError) as error:
                found[name] = f"{type(error).__name__}"
    return found


def read():
    return json.loads(FIXTURE.read_text("utf-8"))


def differences(kind):
    """The cases of a kind that differ from what was recorded, in words."""
    before, after = read()[kind], record(kind)
    names = sorted({*before, *after})
    return [
        f"{name}:{found}"
        for name in names
        if (found := difference(before.get(name), after.get(name)))
    ]


def difference(before, after):
    """Where two recorded values differ, and how; empty where they do not."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = {**before, **after}
        found = {key: difference(before.get(key), after.get(key)) for key in keys}
        return "".join(f" {key}{text}" for key, text in found.items() if text)
    if isinstance(before, list) and isinstance(after, list):
        if len(before) == len(after):
            return "".join(map(difference, before, after))
    elif {type(before), type(after)} <= {int, float} and (
        abs(before - after) <= TOLERANCE * (1 + abs(before))
    ):
        return ""
    return "" if before == after else f" [{before} is now {after}]"


def main():
    kinds = [name for name in sys.argv[1:] if name != "--check"] or list(KINDS)
    if "--check" in sys.argv:
        found = [text[:500] for kind in kinds for text in differences(kind)]
        print(*found, f"{len(found)} cases differ", sep="\n")
        sys.exit(bool(found))
    found = read() if FIXTURE.exists() else {}
    for kind in kinds:
        found[kind] = record(kind)
        print(f"{kind}: {len(found[kind])} cases", file=sys.stderr)
    FIXTURE.write_text(write(found), "utf-8")


def write(found):
    """As JSON, a line for each case."""
    parts = []
    for kind, cases in found.items():
        lines = [
            f"{json.dumps(name, ensure_ascii=False)}:"
            f"{json.dumps(case, ensure_ascii=False, separators=(',', ':'))}"
            for name, case in cases.items()
        ]
        parts.append(f"{json.dumps(kind)}:{{\n" + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    main()
