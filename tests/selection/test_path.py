"""A path of paces and depths is what fits one by one would have said."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from splboost import (
    AdaBoostClassifier,
    GentleBoostClassifier,
    L2BoostRegressor,
    LogitBoostClassifier,
    RobustBoostClassifier,
    SPLBoostClassifier,
)
from splboost.pace import Hard, Linear, Pace
from splboost.selection import PacePath, StratifiedBags, spl_path
from splboost.selection.arguments import PAPER_AGES, PLATEAUS
from splboost.trees import C45Classifier, CARTClassifier

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # of strict paces

ROUNDS = 12
PLATEAU_GRID = [1.5, 2.5, np.inf]


def data(n=90, n_classes=2, seed=0):
    """Few distinct values, so that every part of the rows has the same bins."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(n, 4)).astype(float)
    X[:12] = np.resize(np.arange(6.0), 12)[:, None]
    score = X[:, 0] + np.abs(X[:, 1] - 3) + rng.normal(size=n)
    y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    flipped = rng.random(n) < 0.15
    return X, np.where(flipped, (y + 1) % n_classes, y)


def numbers(n=90, seed=0):
    X, _ = data(n, seed=seed)
    rng = np.random.default_rng(seed)
    return X, X[:, 0] + np.abs(X[:, 1] - 3) + rng.standard_t(2, size=n)


def folds(n, n_folds=3):
    """Parts that all hold the first rows, which have every value of every feature."""
    rest = np.arange(12, n)
    return [
        (np.r_[:12, rest[rest % n_folds != k]], rest[rest % n_folds == k])
        for k in range(n_folds)
    ]


def scores_by_hand(booster, X, y, parts, weight=None, **params):
    """Score after each round of a plain fit to each part, judged on its rest."""
    found = []
    for fitted, judging in parts:
        model = clone(booster).set_params(**params)
        of_fitted = of_judging = None
        if weight is not None:
            of_fitted, of_judging = weight[fitted], weight[judging]
        model.fit(X[fitted], y[fitted], of_fitted)
        scores = list(model.staged_score(X[judging], y[judging], of_judging))
        scores += [scores[-1]] * (model.n_estimators - len(scores))
        found.append(scores)
    return np.array(found)


def path_of(booster, X, y, **options):
    options = {"plateaus": PLATEAU_GRID, "depths": None, "random_state": 0} | options
    return spl_path(X, y, booster=booster, cv=folds(len(y)), **options)


def assert_same_as_by_hand(booster, X, y, *, pace=None, depths=None, weight=None):
    """Every score of a path, over plateaus of a pace if there is one."""
    booster = clone(booster).set_params(n_estimators=ROUNDS)
    paces = [None]
    if pace is not None:
        booster.set_params(pace=pace)
        paces = [clone(pace).set_params(plateau=plateau) for plateau in PLATEAU_GRID]
    path = path_of(
        booster,
        X,
        y,
        plateaus=None if pace is None else PLATEAU_GRID,
        depths=depths,
        sample_weight=weight,
    )
    for d, depth in enumerate(depths or [None]):
        for p, of_grid in enumerate(paces):
            params = {} if pace is None else {"pace": of_grid}
            if depth is not None:
                params["estimator__max_depth"] = depth
            expected = scores_by_hand(booster, X, y, folds(len(y)), weight, **params)
            np.testing.assert_allclose(
                path.scores[d, p], expected, rtol=0, atol=1e-9, err_msg=f"{params}"
            )
    return path


# --------------------------------------------------------- the same as fits one by one


@pytest.mark.parametrize(("pace", "n_classes"), [(Hard(), 2), (Linear(), 3)])
def test_scores_of_splboost(pace, n_classes):
    X, y = data(n_classes=n_classes)
    booster = SPLBoostClassifier()
    path = assert_same_as_by_hand(booster, X, y, pace=pace, depths=[1, 3])
    assert path.scores.shape == (2, 3, 3, ROUNDS)
    assert np.ptp(path.scores[:, :, 0, -1]) > 0  # the settings differ


@pytest.mark.parametrize(
    ("booster", "n_classes"),
    [
        (AdaBoostClassifier(), 3),
        (LogitBoostClassifier(), 3),
        (GentleBoostClassifier(), 2),
        (RobustBoostClassifier(epsilon=0.3), 2),
        (RobustBoostClassifier(epsilon=0.3), 3),
    ],
)
def test_scores_without_a_pace(booster, n_classes):
    X, y = data(n_classes=n_classes)
    assert_same_as_by_hand(booster, X, y, depths=[1, 2])


@pytest.mark.parametrize(
    ("booster", "n_classes"),
    [(LogitBoostClassifier(), 2), (GentleBoostClassifier(), 3)],
)
def test_scores_of_values_with_a_pace(booster, n_classes):
    X, y = data(n_classes=n_classes)
    assert_same_as_by_hand(booster, X, y, pace=Linear())


@pytest.mark.parametrize("pace", [None, Hard()])
def test_scores_of_a_regression(pace):
    X, y = numbers()
    booster = L2BoostRegressor(learning_rate=0.5)
    path = assert_same_as_by_hand(booster, X, y, pace=pace, depths=[1, 2])
    assert path.choose().score > 0.1


@pytest.mark.parametrize(
    "learner", [C45Classifier(max_depth=2), DecisionTreeClassifier(max_depth=2)]
)
def test_scores_with_other_learners(learner):
    X, y = data()
    y = np.array(["no", "yes"])[y]
    path = assert_same_as_by_hand(SPLBoostClassifier(learner), X, y, pace=Linear())
    assert path.depths == [None]


@pytest.mark.parametrize("class_weight", ["balanced", {0: 3, 1: 1, 2: 0.5}])
def test_scores_with_weighted_classes(class_weight):
    """They count in fitting alone."""
    X, y = data(n_classes=3)
    booster = SPLBoostClassifier(n_estimators=ROUNDS, class_weight=class_weight)
    path = path_of(booster, X, y, plateaus=None)
    for k, (fitted, judging) in enumerate(folds(len(y))):
        model = clone(booster).fit(X[fitted], y[fitted])
        expected = list(model.staged_score(X[judging], y[judging]))
        np.testing.assert_allclose(path.scores[0, 0, k], expected, atol=1e-9)


def test_a_class_of_no_weight_is_no_class():
    X, y = data(n_classes=3)
    weighed = SPLBoostClassifier(n_estimators=5, class_weight={1: 0})
    path = path_of(weighed, X, y)
    weight = (y != 1).astype(float)
    other = path_of(SPLBoostClassifier(n_estimators=5), X, y, sample_weight=weight)
    assert np.isfinite(path.scores).all()
    # K is 3 for the one and 2 for the other, but every vote is for one of the two
    np.testing.assert_allclose(path.scores[..., 0], other.scores[..., 0], atol=1e-9)


def test_rows_of_a_class_that_a_part_lacks():
    """They count as wrong, whatever classes weigh."""
    X, y = data()
    y[-1] = 2
    booster = AdaBoostClassifier(n_estimators=4)
    parts = [(np.arange(60), np.arange(60, 90))]
    for class_weight in (None, "balanced"):
        booster.set_params(class_weight=class_weight)
        path = spl_path(X, y, booster=booster, plateaus=None, depths=None, cv=parts)
        model = clone(booster).fit(X[:60], y[:60])  # knows of two classes
        first, *_ = model.staged_score(X[60:], y[60:])
        assert path.scores[0, 0, 0, 0] == pytest.approx(first)
        assert path.scores.max() <= 29 / 30


def test_scores_with_sample_weights():
    X, y = data()
    weight = np.random.default_rng(1).integers(0, 4, size=y.size).astype(float)
    weight[:12] = 1
    assert (weight == 0).sum() > 5
    assert_same_as_by_hand(SPLBoostClassifier(), X, y, pace=Linear(), weight=weight)
    X, y = numbers()
    assert_same_as_by_hand(L2BoostRegressor(), X, y, pace=Hard(), weight=weight)


def test_rows_of_no_weight_leave_no_trace():
    X, y = data()
    weight = np.ones(y.size)
    weight[20:40] = 0
    spoilt, wrong = X.copy(), y.copy()
    spoilt[20:40], wrong[20:40] = 1e6, 1 - y[20:40]
    booster = SPLBoostClassifier(n_estimators=8)
    path = path_of(booster, X, y, sample_weight=weight)
    other = path_of(booster, spoilt, wrong, sample_weight=weight)
    np.testing.assert_array_equal(path.scores, other.scores)


@pytest.mark.parametrize("warm_rounds", [0, 1, 50])
def test_warm_rounds_are_shared_rightly(warm_rounds):
    X, y = data()
    booster = SPLBoostClassifier(warm_rounds=warm_rounds)
    path = assert_same_as_by_hand(booster, X, y, pace=Linear())
    shared = path.scores[:, :, :, :warm_rounds]
    np.testing.assert_array_equal(shared, shared[:, :1] + np.zeros_like(shared))


def test_warm_rounds_are_done_once(monkeypatch):
    """They are, for all paces of a part, and no round is done twice."""
    from splboost.boosting.adaboost import DiscreteStep

    calls = []
    propose = DiscreteStep.propose

    def counted(self, *args, paced, **options):
        calls.append(paced)
        return propose(self, *args, paced=paced, **options)

    monkeypatch.setattr(DiscreteStep, "propose", counted)
    X, y = data()
    path_of(SPLBoostClassifier(n_estimators=10, warm_rounds=4), X, y)
    assert calls.count(False) == 3 * 4
    assert calls.count(True) == 3 * len(PLATEAU_GRID) * 6


def test_the_loss_that_judges_knows_no_pace():
    """What a pace leaves of a loss is least where the pace is strictest."""
    X, y = data()
    booster = SPLBoostClassifier(n_estimators=6)
    path = path_of(booster, X, y, scoring="loss", plateaus=[Hard(age=3.0), None])
    for p, pace in enumerate(path.paces):
        for k, (fitted, judging) in enumerate(folds(y.size)):
            model = clone(booster).set_params(pace=pace).fit(X[fitted], y[fitted])
            margins = [
                (2 * y[judging] - 1) * score
                for score in model.staged_decision_function(X[judging])
            ]
            expected = [-np.mean(np.exp(-margin)) for margin in margins]
            np.testing.assert_allclose(path.scores[0, p, k], expected, rtol=1e-9)


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_log_loss"])
def test_scorers_of_scikit_learn(scoring):
    from sklearn.metrics import get_scorer

    X, y = data()
    booster = SPLBoostClassifier(n_estimators=5)
    path = path_of(booster, X, y, scoring=scoring, plateaus=[2.0])
    for k, (fitted, judging) in enumerate(folds(y.size)):
        for t in range(5):
            model = clone(booster).set_params(n_estimators=t + 1, pace=path.paces[0])
            model.fit(X[fitted], y[fitted])
            expected = get_scorer(scoring)(model, X[judging], y[judging])
            assert path.scores[0, 0, k, t] == pytest.approx(expected, abs=1e-9)


def test_a_scorer_gets_the_booster_of_each_round():
    seen = []

    def scoring(booster, X, y):
        seen.append((booster.n_iter_, len(X)))
        return booster.n_iter_

    X, y = data()
    path = path_of(SPLBoostClassifier(n_estimators=4), X, y, scoring=scoring)
    np.testing.assert_array_equal(path.scores, path.scores * 0 + np.arange(1, 5))
    assert max(seen) == (4, 26)


@pytest.mark.parametrize(
    "booster",
    [
        SPLBoostClassifier(n_estimators=10, subsample=0.5),
        SPLBoostClassifier(CARTClassifier(max_depth=2, max_features=1)),
        SPLBoostClassifier(DecisionTreeClassifier(max_depth=1, max_features=1)),
    ],
    ids=["subsample", "features", "foreign"],
)
def test_any_number_of_threads_gives_the_same(booster):
    booster = clone(booster).set_params(n_estimators=10)
    X, y = data(n_classes=3)
    path = path_of(booster, X, y)
    again = path_of(booster, X, y, n_jobs=2)
    np.testing.assert_array_equal(path.scores, again.scores)
    other = path_of(booster, X, y, random_state=1)
    assert (path.scores != other.scores).any()


@pytest.mark.parametrize(
    ("warm_rounds", "max_features"), [(0, None), (3, None), (3, 1)]
)
def test_draws_are_the_same_for_all_paces(warm_rounds, max_features):
    """Of rows and of features, so that paces differ by nothing but the pace."""
    X, y = data()
    booster = SPLBoostClassifier(
        CARTClassifier(max_depth=2, max_features=max_features),
        n_estimators=10,
        subsample=0.5 if max_features is None else 1.0,
        warm_rounds=warm_rounds,
    )
    path = path_of(booster, X, y, plateaus=[2.0, 1e9, np.inf])
    np.testing.assert_array_equal(path.scores[:, 1], path.scores[:, 2])
    alone = path_of(booster, X, y, plateaus=[2.0])
    np.testing.assert_array_equal(path.scores[:, :1], alone.scores)


def test_processes_of_joblib_do_as_well():
    X, y = data()
    booster = SPLBoostClassifier(n_estimators=5)
    with parallel_config(backend="loky", n_jobs=2):
        path = path_of(booster, X, y, n_jobs=2)
    np.testing.assert_array_equal(path.scores, path_of(booster, X, y).scores)


def test_more_values_than_bins():
    """Bins are those of all rows: not the same as one by one, but close."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=1200) > 0).astype(int)
    booster = AdaBoostClassifier(n_estimators=10)
    path = path_of(booster, X, y, plateaus=None)
    expected = scores_by_hand(booster, X, y, folds(y.size))
    np.testing.assert_allclose(path.mean[0, 0], expected.mean(axis=0), atol=0.02)


def test_frames_with_categories():
    X, y = data()
    towns = np.array(["Aachen", "Bonn", "Celle", "Dessau", "Erfurt", "Fulda"])
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["a"] = pd.Categorical(towns[X[:, 0].astype(int)])
    booster = SPLBoostClassifier(n_estimators=6)
    path = path_of(booster, frame, y, plateaus=None)
    for k, (fitted, judging) in enumerate(folds(y.size)):
        model = clone(booster).fit(frame.iloc[fitted], y[fitted])
        expected = list(model.staged_score(frame.iloc[judging], y[judging]))
        np.testing.assert_allclose(path.scores[0, 0, k], expected)


def test_a_pace_that_leaves_nothing_has_no_score():
    X, y = data()
    booster = SPLBoostClassifier(n_estimators=5, warm_rounds=0)
    path = path_of(booster, X, y, plateaus=[Hard(age=0.5), Hard(age=3.0)])
    assert np.isnan(path.scores[:, 0]).all() and np.isfinite(path.scores[:, 1]).all()
    assert path.choose().pace.age == 3.0
    ranks = np.asarray(path.to_frame()["rank_test_score"])
    assert ranks[:5].tolist() == [6] * 5 and max(ranks[5:]) <= 5
    path = path_of(booster, X, y, plateaus=[Hard(age=0.5)])
    with pytest.raises(ValueError, match=r"No setting has a score.*larger ages"):
        path.choose()


def test_boosters_that_end_early_keep_their_last_score():
    X = np.repeat(np.arange(4.0), 10)[:, None]
    y = (X[:, 0] > 1).astype(int)
    path = spl_path(X, y, plateaus=[2.0], depths=[1], cv=2, random_state=0)
    np.testing.assert_array_equal(path.scores, np.ones((1, 1, 2, 200)))


# --------------------------------------------------------------------- dividing rows


class Spy:
    """A weak learner that notes the rows it was fitted to, by their first column."""

    seen: list = []  # noqa: RUF012


class SpyTree(DecisionTreeClassifier):
    def fit(self, X, y, sample_weight=None):
        Spy.seen.append(np.unique(X[:, 0]))
        return super().fit(X, y, sample_weight)


@pytest.fixture
def spy():
    Spy.seen.clear()
    return SPLBoostClassifier(SpyTree(max_depth=1), n_estimators=2)


def group_data(n_groups=12, seed=0):
    """The first column is the group; groups are of one to five rows."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), rng.integers(1, 6, size=n_groups))
    X = np.column_stack([groups, rng.normal(size=(groups.size, 2))])
    return X, (groups + (rng.random(groups.size) < 0.3)).astype(int) % 2, groups


@pytest.mark.parametrize(
    "cv", [3, StratifiedBags(4, random_state=0), GroupKFold(3)], ids=str
)
def test_groups_are_not_divided(spy, cv):
    judged = []

    def scoring(booster, X, y):
        judged.append(np.unique(X[:, 0]))
        return 0.0

    X, y, groups = group_data()
    options = {"plateaus": None, "depths": None, "cv": cv, "groups": groups}
    options |= {"scoring": scoring, "random_state": 0}
    spl_path(X, y, booster=spy, **options)
    fitted = {tuple(rows) for rows in Spy.seen}
    assert len(fitted) > 1
    for rest in judged:
        assert any(not np.isin(rest, rows).any() for rows in fitted)
    for rows, rest in zip(Spy.seen, judged, strict=True):
        assert not np.isin(rows, rest).any()
    if cv == 3:
        judged.clear()
        spl_path(X, X[:, 1], booster=L2BoostRegressor(n_estimators=1), **options)
        assert sorted(np.concatenate(judged)) == list(range(12))


@pytest.mark.parametrize("n_classes", [0, 2])
def test_folds_by_number_are_those_of_scikit_learn(n_classes):
    """Shuffled by the seed and, where there are classes, stratified."""
    X, y = data() if n_classes else numbers()
    seen = []

    def scoring(booster, X, y):
        seen.append(y)
        return 0.0

    booster = SPLBoostClassifier() if n_classes else L2BoostRegressor()
    booster.set_params(n_estimators=1)
    options = {"booster": booster, "plateaus": None, "depths": None, "cv": 3}
    spl_path(X, y, scoring=scoring, random_state=5, **options)
    kind = StratifiedKFold if n_classes else KFold
    seed = np.random.RandomState(5).randint(2**31 - 1)
    expected = [
        y[rest] for _, rest in kind(3, shuffle=True, random_state=seed).split(X, y)
    ]
    assert len(seen) == 3
    for labels, those in zip(seen, expected, strict=True):
        np.testing.assert_array_equal(labels, those)


# ------------------------------------------------------------------------------- grids


def test_grids_and_depths():
    X, y = data(40)
    booster = SPLBoostClassifier(n_estimators=1)
    path = path_of(booster, X, y, plateaus="plateau")
    assert (path.scale, path.values) == ("plateau", list(PLATEAUS))
    assert [pace.plateau for pace in path.paces] == list(PLATEAUS)
    assert all(isinstance(pace, Linear) and pace.age is None for pace in path.paces)
    assert path.paces[-1].is_off
    path = path_of(AdaBoostClassifier(n_estimators=1), X, y, plateaus="paper")
    assert (path.scale, path.values) == ("age", list(PAPER_AGES))
    assert path.values == [1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6]
    assert [pace.age for pace in path.paces] == path.values
    assert all(isinstance(pace, Hard) for pace in path.paces)
    given = ["linear", None, Hard(age=2.0), {0: "hard", 1: None}]
    path = path_of(booster, X, y, plateaus=given)
    assert (path.scale, path.values) == ("pace", given)
    assert isinstance(path.paces[0], Linear) and path.paces[1] is None
    path = path_of(booster, X, y, plateaus=None)
    assert (path.scale, path.values, path.paces) == ("pace", ["linear"], ["linear"])
    assert path_of(booster, X, y, depths=2).depths == [2]
    assert path_of(booster, X, y, depths=np.array([1, 2])).depths == [1, 2]


def test_the_booster_keeps_what_is_not_chosen():
    X, y = data()
    booster = SPLBoostClassifier(
        CARTClassifier(max_depth=2),
        n_estimators=4,
        pace=Linear(age=9.0, prior_corrected=True),
    )
    before = repr(booster)
    path = path_of(booster, X, y, plateaus=[2.0])
    assert path.paces[0].get_params() == {
        "age": None,
        "plateau": 2.0,
        "prior_corrected": True,
    }
    assert repr(booster) == before
    assert not hasattr(booster, "classes_")


# ------------------------------------------------------------------------------ errors


def refuse(error, message, booster=None, X=None, y=None, **options):
    given = data(40)
    X, y = given[0] if X is None else X, given[1] if y is None else y
    booster = SPLBoostClassifier(n_estimators=2) if booster is None else booster
    with pytest.raises(error, match=message):
        spl_path(X, y, booster=booster, **options)


def test_errors_of_boosters():
    from sklearn.ensemble import AdaBoostClassifier as Foreign

    message = r"booster=AdaBoostClassifier\(\) is no booster of splboost; give one"
    refuse(TypeError, message, Foreign())
    refuse(TypeError, "is no booster of splboost", SPLBoostClassifier)
    refuse(
        ValueError,
        "n_iter_no_change=5 of the booster would stop rounds.*set it to None",
        SPLBoostClassifier(n_iter_no_change=5),
    )
    refuse(
        ValueError,
        "takes no pace, so there is none to choose; set the grid of paces to None",
        RobustBoostClassifier(),
    )
    refuse(ValueError, "'n_estimators' parameter", SPLBoostClassifier(n_estimators=0))


class OwnPace(Pace):
    def weight(self, loss):
        return np.exp(-np.asarray(loss))


def test_errors_of_grids():
    refuse(ValueError, r"plateaus=\[\] is empty; give a plateau", plateaus=[])
    refuse(ValueError, "plateaus='ages' is unknown; give \"plateau\"", plateaus="ages")
    refuse(TypeError, "plateaus=2.0 is no grid; give plateaus in a list", plateaus=2.0)
    refuse(TypeError, "mixes plateaus and paces", plateaus=[2.0, None])
    for bad in (-1.0, 0, np.nan, -np.inf):
        message = (
            r"plateaus=\[2.0, .*\] will not do: Linear: plateau must be .* above 0"
        )
        refuse(ValueError, message, plateaus=[2.0, bad])
    refuse(
        TypeError,
        r"plateaus=\[True\] will not do: .* got plateau=True",
        plateaus=[True],
    )
    message = r"plateaus=\['2'\] will not do: pace='2' is no known"
    refuse(ValueError, message, plateaus=["2"])
    message = r"plateaus=\[<object .*\] will not do: pace must be a Pace"
    refuse(TypeError, message, plateaus=[object()])
    by_class = {0: "hard", 1: None}
    refuse(TypeError, "is a single pace, by class; put it into", plateaus=by_class)
    for pace in (OwnPace(), {0: "linear", 1: None}):
        booster = SPLBoostClassifier(pace=pace)
        refuse(TypeError, "has no plateau to choose.*grid of paces", booster)
        refuse(TypeError, "has no age to choose", booster, plateaus="paper")


def test_errors_of_depths():
    for depths in ([], [0], [1.5], 2.5, "12", [None], [True], [np.nan]):
        refuse(ValueError, "must be whole numbers from 1 on", depths=depths)
    booster = SPLBoostClassifier(DecisionTreeClassifier())
    message = (
        r"depths=\[2\], but the weak learner DecisionTreeClassifier\(\) is no tree"
    )
    refuse(ValueError, message, booster, depths=[2])


class Splitter:
    """Gives what it is told to give."""

    def __init__(self, *parts):
        self.parts = parts

    def get_n_splits(self, X=None, y=None, groups=None):
        return len(self.parts)

    def split(self, X, y=None, groups=None):
        return iter(self.parts)


ROWS = np.arange(40)
FITTED, JUDGING = ROWS[:30], ROWS[30:]


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ((ROWS, ROWS[:0]), "gives no rows to judge by in part 1; give fewer folds"),
        (([], ROWS), "gives no rows to fit to in part 1; give fewer folds"),
        ((ROWS < 0, ROWS), "gives no rows to fit to in part 1"),
        (
            (np.r_[FITTED, 7, 7], JUDGING),
            "repeats row 7 among the rows to fit to in part 1; give each once",
        ),
        ((FITTED, np.r_[JUDGING, 31]), "repeats row 31 among the rows to judge by"),
        (
            (ROWS[:33], JUDGING),
            "fits to and judges by row 30 alike in part 1, and 3 in all; judge by rows",
        ),
        ((FITTED, JUDGING + 5), "gives 40 among .* part 1; give numbers from 0 to 39"),
        ((FITTED, [-1, 30]), "gives -1 among the rows to judge by in part 1"),
        ((FITTED / 1.0, JUDGING), r"shape \(30,\) and type float64 .* their numbers"),
        ((FITTED[:, None], JUDGING), r"shape \(30, 1\) and type int"),
        ((np.ones(41, dtype=bool), JUDGING), r"shape \(41,\) and type bool"),
        ("ab", r"shape \(\) and type <U1"),
        ((FITTED, JUDGING, JUDGING), "too many values to unpack"),
        (FITTED[:1], "not enough values to unpack"),
    ],
)
def test_parts_that_will_not_do(spy, part, message):
    """They are refused before any fit, however they are given."""
    good = FITTED, JUDGING
    message = f"^cv.* {message}"
    for cv in ([good, part], Splitter(good, part)):
        refuse(ValueError, message, spy, cv=cv, depths=None, plateaus=None)
    assert not Spy.seen


def test_masks_are_parts_too():
    X, y = data(40)
    options = {"booster": SPLBoostClassifier(n_estimators=2), "depths": None}
    by_number = spl_path(X, y, cv=[(FITTED, JUDGING)], **options)
    by_mask = spl_path(X, y, cv=[(ROWS < 30, ROWS >= 30)], **options)
    np.testing.assert_array_equal(by_number.scores, by_mask.scores)


def test_errors_of_folds():
    for cv in (0, 1, -3, 2.0, True, "5", object()):
        message = r"'cv' parameter of spl_path must be an int in the range \[2, inf\)"
        refuse(ValueError, message, cv=cv)
    message = "cv=41 cannot divide the rows: .* n_splits=41 .* give fewer folds"
    refuse(ValueError, message, cv=41)
    message = r"cv=KFold\(n_splits=41.*\) cannot divide the rows: .*; give another"
    refuse(ValueError, message, cv=KFold(41))
    message = "^cv cannot divide the rows: .* unpack .* give pairs .train, test. of"
    refuse(ValueError, message, cv=[np.arange(3)])
    for cv in ([], Splitter()):
        refuse(ValueError, r"cv=.* gives no part of the data; give folds", cv=cv)
    y = np.sort(data(40)[1])
    rows = np.arange(40)
    only = y == 0
    message = r"rows of \[0\] only to fit to, of the classes \[0, 1\]. Give strat"
    refuse(ValueError, message, y=y, cv=[(rows[only], rows[~only])])
    weight = np.where(rows < 30, 1.0, 0.0)
    parts = [(rows[:30], rows[30:])]
    refuse(ValueError, "positive weight", cv=parts, sample_weight=weight)
    weighed = SPLBoostClassifier(class_weight={0: 0, 1: 1, 2: 1})
    y = np.repeat([0, 1, 2], [10, 15, 15])
    parts = [(rows[:25], rows[25:])]
    refuse(ValueError, r"rows of \[1\] only to fit to", weighed, y=y, cv=parts)
    few = SPLBoostClassifier(subsample=0.05)
    refuse(ValueError, "subsample=0.05 of 26 rows leaves nothing", few, cv=3)


def test_a_bad_part_is_refused_before_any_fit(spy):
    rows, y = np.arange(40), data(40)[1]
    cv = [(rows[:30], rows[30:]), (rows[y == 0], rows[y == 1])]
    refuse(ValueError, "only to fit to", spy, cv=cv, depths=None, plateaus=None)
    assert not Spy.seen


def test_other_errors():
    refuse(ValueError, "n_jobs=0 has no meaning", n_jobs=0)
    refuse(ValueError, "scoring='acuracy' is unknown", scoring="acuracy")
    refuse(ValueError, "groups is of shape", groups=[1, 2])
    robust = RobustBoostClassifier()
    refuse(ValueError, "says nothing of", robust, plateaus=None, scoring="loss")
    wrong = {"n_jobs": "2", "verbose": 0.5, "scoring": 3, "random_state": "x"}
    for name, value in wrong.items():
        message = f"{name!r} parameter of spl_path"
        refuse(ValueError, message, **{name: value})


def test_errors_of_groups():
    message = "groups has 1 group only, which 5 folds cannot .* give more groups.$"
    refuse(ValueError, message, groups=np.zeros(40))
    message = "groups has 4 groups only, which 5 folds .* more groups, or fewer folds"
    refuse(ValueError, message, groups=np.arange(40) % 4)
    refuse(ValueError, message, L2BoostRegressor(), groups=np.arange(40) % 4)
    message = "groups has one group only, which is in every bag.* give more groups"
    refuse(ValueError, message, groups=np.zeros(40), cv=StratifiedBags(2))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("verbose", -1, "'verbose' parameter of SPLBoostClassifier"),
        ("n_jobs", 0, "n_jobs=0 has no meaning"),
        ("scoring", "acuracy", "scoring='acuracy' is unknown"),
    ],
)
def test_a_booster_that_could_not_be_fitted_in_the_end(spy, name, value, message):
    """What it is not asked for during a path is checked before it all the same."""
    booster = clone(spy).set_params(**{name: value})
    refuse(ValueError, message, booster, depths=None, plateaus=None)
    assert not Spy.seen


# ---------------------------------------------------------------------------- choosing


def hand_made(scores, *, scale="plateau", values=None, depths=(1,)):
    """A path from scores (n_depths, n_values, n_parts, n_rounds)."""
    scores = np.array(scores, dtype=float)
    values = list(range(1, scores.shape[1] + 1)) if values is None else values
    return PacePath(scale, values, [f"pace {v}" for v in values], list(depths), scores)


def chosen(path, rule="best"):
    setting = path.choose(rule)
    return setting.max_depth, setting.pace, setting.n_estimators


def test_the_best_is_chosen():
    path = hand_made([[[[0.1, 0.5, 0.3]], [[0.2, 0.6, 0.4]]]])
    assert chosen(path) == (1, "pace 2", 2)
    assert path.choose().score == 0.6


def test_of_equals_the_simplest_is_chosen():
    flat = np.ones((2, 3, 2, 4))
    assert chosen(hand_made(flat, depths=(1, 3))) == (1, "pace 3", 1)
    # whatever the order in which it was asked for
    assert chosen(hand_made(flat, depths=(3, 1))) == (1, "pace 3", 1)
    flat = flat[:1]
    assert chosen(hand_made(flat, values=[np.inf, 2, 3])) == (1, "pace inf", 1)
    assert chosen(hand_made(flat, values=[2, 3, 1], scale="age")) == (1, "pace 3", 1)
    paces = hand_made(flat, values=["b", "a", "c"], scale="pace")
    assert chosen(paces) == (1, "pace c", 1)
    # depth counts most, then rounds, then the pace
    scores = np.zeros((2, 2, 1, 3))
    scores[0, 0, 0, 2] = scores[1, 1, 0, 0] = 1
    assert chosen(hand_made(scores, depths=(1, 2))) == (1, "pace 1", 3)
    scores[0, 1, 0, 2] = 1
    assert chosen(hand_made(scores, depths=(1, 2))) == (1, "pace 2", 3)
    scores[0, 0, 0, 1] = 1
    assert chosen(hand_made(scores, depths=(1, 2))) == (1, "pace 1", 2)


def test_equal_means_in_another_order_are_equal():
    first = [0.1, 0.2, 0.3, 0.4, 0.7]
    means = {np.mean(first), np.mean(first[::-1])}
    assert len(means) == 2  # by a rounding error
    for pair in ([first, first[::-1]], [first[::-1], first]):
        scores = np.array([pair])[..., None]
        assert chosen(hand_made(scores)) == (1, "pace 2", 1)


def test_one_standard_error():
    """The best, 0.6 on average, has a standard error of 0.1."""
    scores = np.zeros((2, 2, 2, 3))
    scores[1, 0, :, 2] = 0.5, 0.7
    scores[1, 1, :, 1] = 0.51, 0.51
    scores[1, 0, :, 1] = 0.5001, 0.5001
    scores[0, 1, :, 2] = 0.499, 0.499
    path = hand_made(scores, depths=(1, 2))
    assert path.standard_error[1, 0, 2] == pytest.approx(0.1)
    assert chosen(path) == (2, "pace 1", 3)
    assert chosen(path, "one standard error") == (2, "pace 2", 2)
    path.scores[1, 1, :, 1] = 0.0
    assert chosen(path, "one standard error") == (2, "pace 1", 2)
    path.scores[0, 1, :, 2] = 0.5  # exactly one below
    assert chosen(path, "one standard error") == (1, "pace 2", 3)


def test_one_part_has_no_standard_error():
    path = hand_made([[[[0.1, 0.5, 0.5]]]])
    assert not path.standard_error.any()
    assert chosen(path) == chosen(path, "one standard error") == (1, "pace 1", 2)


def test_an_unknown_rule():
    with pytest.raises(ValueError, match="rule='1se' is unknown; give 'best' or 'one"):
        hand_made([[[[0.1]]]]).choose("1se")


def test_the_frame():
    scores = np.random.default_rng(0).random((2, 3, 2, 4))
    scores[0, 0, :, 0] = scores[1, 2, :, 3] = 2
    frame = hand_made(scores, depths=(1, 3), values=[1.5, 2.0, np.inf]).to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.columns.tolist() == [
        "param_plateau",
        "param_max_depth",
        "param_n_estimators",
        "mean_test_score",
        "std_test_score",
        "rank_test_score",
        "split0_test_score",
        "split1_test_score",
    ]
    assert len(frame) == 24
    for row in frame.itertuples():
        d = (1, 3).index(row.param_max_depth)
        p = [1.5, 2.0, np.inf].index(row.param_plateau)
        of_parts = scores[d, p, :, row.param_n_estimators - 1]
        assert (row.split0_test_score, row.split1_test_score) == tuple(of_parts)
        assert row.mean_test_score == pytest.approx(of_parts.mean())
        assert row.std_test_score == pytest.approx(of_parts.std())
        better = (frame["mean_test_score"] > row.mean_test_score).sum()
        assert row.rank_test_score == 1 + better
    assert sorted(frame["rank_test_score"])[:3] == [1, 1, 3]


@pytest.mark.parametrize(
    ("library", "scale", "values", "depths"),
    [
        (pd, "plateau", [2, 2.5, np.inf], [1, 2]),
        (pl, "plateau", [2, 3], [None]),
        (pl, "age", [np.float32(2.5), 3], [1, 2]),
        (pd, "pace", ["hard", Linear(), None], [None]),
        (pl, "pace", [{0: "hard", 1: None}, {"a": Hard()}], [3]),
    ],
)
def test_columns_have_their_types_whatever_they_hold(
    library, scale, values, depths, installed
):
    installed.remove("polars" if library is pd else "pandas")
    scores = np.random.default_rng(0).random((len(depths), len(values), 2, 3))
    path = hand_made(scores, scale=scale, values=values, depths=depths)
    frame = path.to_frame()
    assert isinstance(frame, library.DataFrame)
    number, whole, anything = (
        ("float64", "int64", "object")
        if library is pd
        else (pl.Float64, pl.Int64, pl.Object)
    )
    assert [frame[name].dtype for name in frame.columns] == [
        anything if scale == "pace" else number,
        number if depths == [None] else whole,
        *(whole, number, number, whole),
        *(number, number),
    ]
    given = frame[f"param_{scale}"].to_list()
    assert given[: 3 * len(values) : 3] == values
    depth = frame["param_max_depth"]
    missing = depth.isna() if library is pd else depth.is_null()
    assert missing.all() == (depths == [None])


def test_columns_where_no_frames_are(installed):
    path = hand_made(np.ones((1, 2, 2, 3)), values=[Hard(), None], scale="pace")
    frame = path.to_frame()
    installed.clear()
    columns = path.to_frame()
    assert isinstance(columns, dict)
    assert list(columns) == frame.columns.tolist()
    assert columns["param_pace"][3:] == [None] * 3
    assert columns["param_n_estimators"] == [1, 2, 3] * 2


# ----------------------------------------------------------------------------- verbose


def test_lines_of_a_path(capsys):
    X, y = data(40)
    booster = SPLBoostClassifier(n_estimators=2)
    path_of(booster, X, y, depths=[1, 2])
    assert capsys.readouterr() == ("", "")
    path_of(booster, X, y, depths=[1, 2], verbose=1)
    out, err = capsys.readouterr()
    assert not out
    done = [f"path: {k:2d} of 18" for k in (3, 6, 9, 12, 15, 18)]
    assert err.splitlines() == done
