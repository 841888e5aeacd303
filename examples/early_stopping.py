"""Early stopping: how many rounds are enough, on labels of which a fifth are wrong.

The validation data are held out of the (noisy) training data, or given. Where there is
a pace, rounds only count once it has set in.
"""

from __future__ import annotations

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from splboost import AdaBoostClassifier, SPLBoostClassifier
from splboost.datasets import flip_labels

X, y = load_breast_cancer(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
X, X_val, y, y_val = train_test_split(X, y, stratify=y, test_size=0.3, random_state=0)
y, y_val = (flip_labels(labels, 0.2, random_state=0)[0] for labels in (y, y_val))

stop = {"n_estimators": 500, "n_iter_no_change": 50, "random_state": 0}
models = {
    "AdaBoost, 500 rounds": AdaBoostClassifier(n_estimators=500),
    "AdaBoost, accuracy": AdaBoostClassifier(**stop),
    "AdaBoost, loss": AdaBoostClassifier(scoring="loss", **stop),
    "SPLBoost, 500 rounds": SPLBoostClassifier(n_estimators=500),
    "SPLBoost, accuracy": SPLBoostClassifier(**stop),
    "SPLBoost, loss": SPLBoostClassifier(scoring="loss", **stop),
    "SPLBoost, area under ROC": SPLBoostClassifier(scoring="roc_auc", **stop),
}
print(f"{'':28}{'done':>6}{'kept':>6}{'clean test error':>18}")
for name, model in models.items():
    model.fit(X, y, X_val=X_val, y_val=y_val)
    error = 1 - model.score(X_test, y_test)
    n_done = len(model.validation_scores_)
    print(f"{name:28}{n_done:6}{model.n_iter_:6}{error:18.1%}")

model = SPLBoostClassifier(scoring="loss", validation_fraction=0.2, **stop).fit(X, y)
held_out = len(y) - (model.sample_pace_ >= 0).sum()
print(f"\nWithout X_val, {held_out} of {len(y)} samples are held out, by class;")
print(f"{model.n_iter_} rounds kept: {model.stop_reason_}.")
