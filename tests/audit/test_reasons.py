"""Why a label is doubted: features that speak against it, and similar rows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import reference_audit
from splboost.audit import LabelAudit, reasons
from splboost.audit.reasons import Explanation
from splboost.selection import SPLForestClassifier
from splboost.selection.quick_forest import QuickForest

SLOPES = np.array([0.02, 0.3, 0.08, 0.15, 0.05, 0.2])
IMPORTANCE = np.sqrt([2, 3, 5, 7, 11, 13])  # so that hardly two rows are equally near


class Given(ClassifierMixin, BaseEstimator):
    """A classifier whose belief in the second class is a function that is given."""

    def __init__(self, belief=None, importance=None):
        self.belief = belief
        self.importance = importance

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        if self.importance is not None:
            self.feature_importances_ = np.asarray(self.importance)
        return self

    def predict_proba(self, X):
        belief = self.belief(np.asarray(X))
        return np.column_stack([1 - belief, belief])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def additive(X):
    return 0.1 + X @ SLOPES


def interacting(X):
    return (X**2).prod(axis=1) * 0.5 + X[:, 0] * X[:, 1] * 0.2 + X.mean(axis=1) * 0.3


def random_cells(n=120, d=6, seed=0):
    """Few values, so that nothing is lost in bins."""
    return np.random.default_rng(seed).integers(0, 11, size=(n, d)) / 10


def audited(belief, X=None, importance=IMPORTANCE):
    """An audit by a given belief, in which every eighth label is wrong."""
    X = random_cells() if X is None else X
    score = belief(X)
    y = (score > np.median(score)).astype(int)
    y[::8] = 1 - y[::8]
    return LabelAudit(Given(belief, importance), top=10, random_state=0).fit(X, y), X, y


def believed_like(audit, X, y, row, n, *, same, importance=IMPORTANCE):
    """The nearest believed rows of the same or another label, and how near they are."""
    columns = [own.tolist() for own in X.T]
    likeliest = audit.belief_.argmax(axis=1)
    apart = {
        other: reference_audit.distance(
            X[row].tolist(),
            X[other].tolist(),
            columns,
            [False] * len(columns),
            importance / importance.sum(),
        )
        for other in np.flatnonzero(likeliest == y).tolist()
        if other != row and (y[other] == y[row]) == same
    }
    nearest = sorted(apart, key=apart.get)[:n]
    return nearest, [apart[other] for other in nearest]


@pytest.mark.parametrize(
    "kind, column", [(np.asarray, 3), (pd.DataFrame, 0), (pl.DataFrame, 3)]
)
def test_feature_that_decides_is_named_first(kind, column):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = np.where(X[:, column] > 0, "high", "low")
    wrong = rng.random(300) < 0.06
    given = np.where(wrong, np.where(y == "high", "low", "high"), y)
    table = X if kind is np.asarray else kind({f"c{j}": X[:, j] for j in range(5)})
    audit = LabelAudit(quick=True, random_state=0, n_jobs=1).fit(table, given)
    found = audit.explain()
    assert len(found) > 8
    called = column if kind is np.asarray else f"c{column}"
    for row, why, similar in found:
        assert why[0].column == called
        assert why[0].value == X[row, column]
        assert (why[0].usual > 0) == (given[row] == "high")
        assert why[0].taken > 0.3
        assert [each.taken for each in why] == sorted(
            (each.taken for each in why), reverse=True
        )
        assert len(similar) == 3
        assert (given[similar] != given[row]).all()
    ranked = np.argsort(np.asarray(audit.issues_["rank"]))
    assert [each.row for each in found] == ranked[: len(found)].tolist()


def test_categories_and_missing_cells_speak():
    rng = np.random.default_rng(1)
    n = 300
    colour = rng.choice(["red", "blue", "grey"], n)
    size = rng.normal(size=n)
    missing = rng.random(n) < 0.3
    y = (colour == "red") | missing
    given = y.copy()
    wrong = np.flatnonzero(rng.random(n) < 0.06)
    given[wrong] = ~given[wrong]
    X = pd.DataFrame(
        {
            "noise": rng.normal(size=n),
            "colour": pd.Categorical(colour),
            "size": np.where(missing, np.nan, size),
        }
    )
    audit = LabelAudit(quick=True, random_state=0, n_jobs=1).fit(X, given)
    seen = set()
    for row, why, _ in audit.explain():
        for each in why:
            value = X[each.column][row]
            missing_value = isinstance(value, float) and np.isnan(value)
            assert each.value == (None if missing_value else value)
            seen.add((each.column, type(each.value), type(each.usual)))
        assert not why or why[0].column in ("colour", "size")
    assert ("colour", str, str) in seen
    sizes = {(own, usual) for column, own, usual in seen if column == "size"}
    assert {own for own, _ in sizes} == {float, type(None)}
    assert (float, type(None)) in sizes or (type(None), float) in sizes


def test_likeness_of_categories_and_missing_cells():
    rng = np.random.default_rng(0)
    n = 60
    colour = rng.choice(["red", "blue", "grey", None], n).tolist()
    size = rng.choice([1.0, 2.0, 5.0, 5.5, None], n).tolist()
    X = pd.DataFrame(
        {"colour": pd.Categorical(colour), "size": np.array(size, dtype=float)}
    )
    y = np.arange(n) % 2
    p = np.where(np.arange(n) % 10 < 9, 0.9, 0.2)  # of the label that it has
    pred_probs = np.where(y[:, None] == [0, 1], p[:, None], 1 - p[:, None])
    audit = LabelAudit(top=n).fit(X, y, pred_probs=pred_probs)
    believed = audit.belief_.argmax(axis=1) == y
    assert 0 < (~believed).sum() < n / 2
    for row, why, similar in audit.explain(n_similar=4):
        assert why is None  # nobody can be asked
        apart = {
            other: reference_audit.distance(
                (colour[row], size[row]),
                (colour[other], size[other]),
                (colour, size),
                (True, False),
                (0.5, 0.5),
            )
            for other in range(n)
            if believed[other] and y[other] != y[row]
        }
        assert similar == sorted(apart, key=apart.get)[:4]


def test_what_features_take_adds_up_to_the_fall_of_belief(monkeypatch):
    monkeypatch.setattr(reasons, "LEAST_SHARE", -np.inf)
    for belief in (additive, interacting):
        audit, X, y = audited(belief)
        for row, why, _ in audit.explain(n_reasons=99):
            start, _ = believed_like(audit, X, y, row, reasons.N_BELIEVED, same=True)
            sign = 1 if y[row] else -1
            fall = sign * (belief(X[start]).mean() - belief(X[[row]])[0])
            assert sum(each.taken for each in why) == pytest.approx(fall)


@pytest.mark.parametrize("n_asked", [2, 8])
def test_what_a_feature_takes_by_an_additive_model(monkeypatch, n_asked):
    """It is its slope times how far it is from the rows that are believed."""
    monkeypatch.setattr(reasons, "LEAST_SHARE", -np.inf)
    monkeypatch.setattr(reasons, "N_ASKED", n_asked)
    audit, X, y = audited(additive)
    rows = [*range(0, 40, 8), *range(1, 10)]  # suspects, and labels that are believed
    for row, why, _ in audit.explain(rows, n_reasons=99):
        start, _ = believed_like(audit, X, y, row, reasons.N_BELIEVED, same=True)
        assert row not in start
        sign = 1 if y[row] else -1
        change = X[start] - X[row]
        apart = IMPORTANCE * np.abs(change).mean(axis=0)
        taken = sign * SLOPES * change.mean(axis=0)
        assert len(why) == min(n_asked, np.count_nonzero(apart))
        for each in why:
            assert apart[each.column] >= np.sort(apart)[-n_asked:].min() - 1e-9
            assert each.taken == pytest.approx(taken[each.column])
            assert each.value == X[row, each.column]
            assert each.usual == np.sort(X[start, each.column])[1]


def test_features_that_act_together_share_what_they_take(monkeypatch):
    """From two equal rows, one way is the other's turned round: Shapley's value."""
    monkeypatch.setattr(reasons, "LEAST_SHARE", -np.inf)
    monkeypatch.setattr(reasons, "N_BELIEVED", 2)

    def belief(cells):
        return cells[:, 0] * cells[:, 1]

    X = np.repeat(random_cells(60, 2), 2, axis=0)
    audit, X, y = audited(belief, X, importance=IMPORTANCE[:2])
    told = 0
    for row, why, _ in audit.explain(range(0, 120, 4), n_reasons=99):
        start, _ = believed_like(
            audit, X, y, row, 2, same=True, importance=IMPORTANCE[:2]
        )
        if (X[start[0]] == X[start[1]]).all() and len(why) == 2:
            told += 1
            sign = 1 if y[row] else -1
            between = (X[start[0]] + X[row]) / 2
            expected = sign * (X[start[0]] - X[row]) * between[::-1]
            for each in why:
                assert each.taken == pytest.approx(expected[each.column])
    assert told > 2


def test_weak_reasons_are_left_out():
    audit, _, _ = audited(additive)
    for _, why, _ in audit.explain(n_reasons=99):
        assert why
        assert all(each.taken >= 0.01 for each in why)
    assert min(each.taken for one in audit.explain() for each in one.reasons) < 0.03
    assert all(len(each.reasons) <= 2 for each in audit.explain(n_reasons=2))


def test_as_many_as_asked_for(monkeypatch):
    """Whatever else is asked, in blocks, and with few rows compared of many."""
    audit, _, y = audited(additive)
    whole = audit.explain()
    monkeypatch.setattr(reasons, "BLOCK", 3)
    assert audit.explain() == whole and len(whole) == 10
    assert [audit.explain([each.row])[0] for each in whole[:2]] == whole[:2]
    for row, why, similar in audit.explain([3, 0, 3], n_reasons=0, n_similar=0):
        assert row in (0, 3)
        assert why is None
        assert similar == []
    found = audit.explain([5], n_similar=10_000)[0]
    assert len(found.similar) == len(set(found.similar)) > 40
    assert 5 not in found.similar
    assert (y[found.similar] != y[5]).all()
    monkeypatch.setattr(reasons, "MOST_COMPARED", 10)
    assert all(each.reasons and each.similar for each in audit.explain())
    assert len(audit.explain([5], n_similar=10_000)[0].similar) <= 10


def test_label_that_is_nowhere_believed_has_no_reasons():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = np.zeros(100, dtype=int)
    y[:3] = 1
    model = LogisticRegression()
    audit = LabelAudit(model, top=3, random_state=0)
    with pytest.warns(UserWarning, match="only 3 rows"):
        audit.fit(X, y)
    assert not (audit.belief_.argmax(axis=1) == 1).any()
    found = audit.explain([0, 1])
    assert [each.reasons for each in found] == [[], []]
    assert all(len(each.similar) == 3 for each in found)
    assert audit.explain([50])[0] == Explanation(50, audit.explain([50])[0].reasons, [])


def test_cells_are_gathered_column_by_column():
    rng = np.random.default_rng(0)
    numbers, index = rng.normal(size=30), rng.integers(0, 30, size=(80, 3))
    words = np.array(["a", "b", None], dtype=object)[rng.integers(0, 3, 30)]
    flags = rng.random(30) < 0.5
    columns = {"w": words.tolist(), "n": numbers, "f": flags}
    tables = [
        pd.DataFrame(columns).astype({"w": "category"}),
        pd.DataFrame(columns, index=rng.integers(0, 3, 30)).astype({"w": "category"}),
        pl.DataFrame(columns, schema_overrides={"w": pl.Categorical}),
        np.column_stack([words, numbers, flags]),
        np.column_stack([words, numbers, flags]).tolist(),
    ]
    expected = [
        [list(tables[-1][row])[j] for j, row in enumerate(own)] for own in index
    ]
    for table in tables:
        found = reasons._gather(table, index)
        if hasattr(found, "columns"):
            assert list(found.columns) == ["w", "n", "f"]
            assert list(found.dtypes) == list(table.dtypes)
            assert type(found) is type(table)
            rows = found.to_numpy().astype(object)
        else:
            rows = found
        rows = [[None if x != x else x for x in row] for row in rows.tolist()]
        assert rows == expected


def test_masked_cells_are_missing():
    X = np.ma.masked_array(random_cells(), mask=random_cells(seed=1) > 0.8)
    y = (random_cells()[:, 1] > 0.5).astype(int)
    y[::8] = 1 - y[::8]
    audit = LabelAudit(quick=True, top=9, random_state=0, n_jobs=1).fit(X, y)
    same = LabelAudit(quick=True, top=9, random_state=0, n_jobs=1).fit(
        X.filled(np.nan), y
    )
    assert audit.explain() == same.explain()
    assert audit.explain()


def test_reasons_are_of_a_model_that_has_not_seen_doubted_labels():
    """One that learns by heart would believe in every label that it has seen."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] > 0).astype(int)
    wrong = np.flatnonzero(np.abs(X[:, 0]) > 0.7)[:20]
    y[wrong] = 1 - y[wrong]
    pred = np.clip(0.5 + X[:, 0], 0.03, 0.97) + rng.uniform(-0.01, 0.01, 300)
    by_heart = KNeighborsClassifier(1)
    audit = LabelAudit(by_heart, top=20, random_state=0).fit(X, y)
    given = LabelAudit(top=20).fit(X, y, pred_probs=np.column_stack([1 - pred, pred]))
    audit.issues_, audit.belief_ = given.issues_, given.belief_  # who is suspect
    suspects = [each.row for each in audit.explain()]
    assert set(suspects) == set(wrong)
    for _, why, _ in audit.explain():
        assert why[0].column == 0
        assert sum(each.taken for each in why) > 0.9
    assert audit.estimator_.score(X, y) == 1


def test_every_class_is_known_to_the_model_that_is_asked():
    X = random_cells()
    y = np.repeat(["a", "b", "c"], 40)
    doubted = y == "b"
    judge = SPLForestClassifier(random_state=0, n_jobs=1)
    model = reasons.fit_to_undoubted(judge, X, y, doubted)
    assert type(model) is QuickForest
    assert_array_equal(model.classes_, ["a", "b", "c"])
    seen = []

    def belief(cells):
        return additive(cells)

    class Watched(Given):
        def fit(self, X, y):
            seen.append(X)
            return super().fit(X, y)

    doubted[:10] = True
    reasons.fit_to_undoubted(Watched(belief), X, y, doubted)
    assert_array_equal(seen[0], X[10:])


def test_model_that_is_asked_learns_from_some_of_many_rows(monkeypatch):
    monkeypatch.setattr(reasons, "MOST_LEARNED", 50)
    X, y = random_cells(), np.arange(120) % 2
    judge = QuickForest(random_state=0, n_jobs=1)
    model = reasons.fit_to_undoubted(judge, X, y, y > 1)
    assert len(model.oob_decision_function_) == 40
    y[[1, 2]] = 2  # whom the draw would miss
    doubted = np.arange(120) == 2
    model = reasons.fit_to_undoubted(judge, X, y, doubted)
    assert_array_equal(model.classes_, [0, 1, 2])
    assert len(model.oob_decision_function_) == 41


def test_reasons_where_next_to_no_label_is_undoubted():
    X, y = np.arange(8.0)[:, None], np.array([0, 0, 0, 1, 0, 1, 1, 1])
    for top in range(1, 9):
        audit = LabelAudit(quick=True, top=top, random_state=0).fit(X, y)
        assert all(each.reasons is not None for each in audit.explain())
