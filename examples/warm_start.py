"""Warm start: add rounds to a fitted model instead of starting anew.

The result is that of a single fit, digit for digit, also where rows are drawn at random
and after a detour through a pickle.
"""

from __future__ import annotations

import pickle
import time

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from splboost import SPLBoostClassifier
from splboost.datasets import flip_labels

X, y = load_breast_cancer(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
y = flip_labels(y, 0.2, random_state=0)[0]

options = {"subsample": 0.5, "random_state": 0}
SPLBoostClassifier(n_estimators=1, **options).fit(X, y)  # compiles, if need be
model = SPLBoostClassifier(warm_start=True, **options)
print("rounds   test error   milliseconds for the rounds added")
for n_estimators in (50, 100, 200, 400, 800):
    start = time.perf_counter()
    model.set_params(n_estimators=n_estimators).fit(X, y)
    took = 1000 * (time.perf_counter() - start)
    error = 1 - model.score(X_test, y_test)
    print(f"{model.n_iter_:6}{error:13.1%}{took:36.0f}")
    model = pickle.loads(pickle.dumps(model))

single = SPLBoostClassifier(n_estimators=800, **options).fit(X, y)
same = np.array_equal(single.decision_function(X), model.decision_function(X))
print(f"A single fit of 800 rounds is the same model: {same}.")
