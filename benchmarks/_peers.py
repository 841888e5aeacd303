"""Boosters of other packages, asked for their trees; runs in an environment of its own.

    python _peers.py problem.npz answers.json

The problem holds X, y, the ``names`` of the boosters, and the ``rounds`` and the
``depth`` of the trees. What to install is in ``independent.py``. It is old, because
SAMME.R has gone from scikit-learn since, and logitboost is no longer maintained.

The answers are, for each booster, its trees, a list for every round, and its own scores
of the rows after every round where it gives them. A tree is a number, a list of class
shares, or a test: a dictionary of ``feature`` and ``threshold``, and of the trees
``low``, for values up to the threshold, and ``high``.
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from functools import partial
from importlib.metadata import version
from pathlib import Path

import cv2
import numpy as np
from logitboost import LogitBoost
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

PACKAGES = ("scikit-learn", "logitboost", "opencv-python-headless")


def samme_r(X, y, rounds, depth):
    model = AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=depth),
        n_estimators=rounds,
        algorithm="SAMME.R",
        random_state=0,
    ).fit(X, y)
    means = model.staged_decision_function(X)
    return {
        "trees": [[_read_tree(each.tree_)] for each in model.estimators_],
        "scores": [(t * mean).tolist() for t, mean in enumerate(means, start=1)],
    }


def logit_boost(X, y, rounds, depth):
    model = LogitBoost(
        DecisionTreeRegressor(max_depth=depth),
        n_estimators=rounds,
        weight_trim_quantile=0,
        random_state=0,
    ).fit(X, y)
    return {
        "trees": [
            [_read_tree(each.tree_) for each in np.ravel(estimators)]
            for estimators in model.estimators_
        ],
        "scores": [scores.tolist() for scores in model.staged_decision_function(X)],
    }


def _read_tree(tree, node=0):
    left, right = tree.children_left[node], tree.children_right[node]
    if left < 0:
        value = tree.value[node, 0]
        return float(value[0]) if value.size == 1 else (value / value.sum()).tolist()
    return {
        "feature": int(tree.feature[node]),
        "threshold": float(tree.threshold[node]),
        "low": _read_tree(tree, left),
        "high": _read_tree(tree, right),
    }


def opencv_boost(kind, X, y, rounds, depth):
    model = cv2.ml.Boost_create()
    model.setBoostType(getattr(cv2.ml, f"BOOST_{kind}"))
    model.setWeakCount(rounds)
    model.setMaxDepth(depth)
    model.setWeightTrimRate(0)
    model.setUseSurrogates(False)
    model.setMinSampleCount(1)
    model.setRegressionAccuracy(0)
    samples = X.astype(np.float32), cv2.ml.ROW_SAMPLE, y.astype(np.int32)
    model.train(cv2.ml.TrainData_create(*samples))
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.yml")
        model.save(path)
        file = cv2.FileStorage(path, cv2.FILE_STORAGE_READ)
        rows = _items(file.getNode("opencv_ml_boost").getNode("trees"))
        trees = [[_read_nodes(iter(_items(row.getNode("nodes"))))] for row in rows]
        file.release()
    return {"trees": trees}


def _items(node):
    return [node.at(i) for i in range(node.size())]


def _read_nodes(nodes):
    """The tree whose nodes come next, depth first."""
    node = next(nodes)
    splits = node.getNode("splits")
    if splits.empty():
        return node.getNode("value").real()
    split = splits.at(0)
    first, second = _read_nodes(nodes), _read_nodes(nodes)
    # A split says which values go to the first: those up to a threshold, or above it.
    is_low = not split.getNode("le").empty()
    return {
        "feature": int(split.getNode("var").real()),
        "threshold": split.getNode("le" if is_low else "gt").real(),
        "low": first if is_low else second,
        "high": second if is_low else first,
    }


BOOSTERS = {
    "samme.r": samme_r,
    "logitboost": logit_boost,
    "opencv gentle": partial(opencv_boost, "GENTLE"),
    "opencv real": partial(opencv_boost, "REAL"),
    "opencv logit": partial(opencv_boost, "LOGIT"),
}


def main():
    warnings.simplefilter("ignore")
    problem, answers = sys.argv[1:]
    given = np.load(problem)
    task = given["X"], given["y"], int(given["rounds"]), int(given["depth"])
    names = given["names"].tolist()
    if given["y"].max() > 1:
        names = [name for name in names if not name.startswith("opencv")]
    found = {name: boost(*task) for name, boost in BOOSTERS.items() if name in names}
    found["versions"] = {package: version(package) for package in PACKAGES}
    Path(answers).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
