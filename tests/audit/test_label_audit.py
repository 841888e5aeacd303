"""LabelAudit and find_label_issues: which labels are wrong?"""

import pickle
from copy import copy
from datetime import date, timedelta
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from splboost import SPLForestClassifier
from splboost.audit import LabelAudit, find_label_issues
from splboost.audit.issues import chance_wrong, estimate_noise_model
from splboost.datasets import flip_labels, make_gaussians, make_twonorm

COLUMNS = {
    "is_label_issue": "bool",
    "label_quality": "float64",
    "given_label": "int64",
    "predicted_label": "int64",
    "confidence": "float64",
    "chance_wrong": "float64",
    "rank": "int64",
}


def quick(**options):
    return LabelAudit(**{"quick": True, "random_state": 0, "n_jobs": 1, **options})


def flip(y, rate, *, seed=0, only=None):
    """Labels of which some are wrong: of all classes, or of one."""
    rng = np.random.default_rng(seed)
    n_classes = int(y.max()) + 1
    other = (y + rng.integers(1, n_classes, y.size)) % n_classes
    hit = rng.random(y.size) < rate
    if only is not None:
        hit &= y == only
    return np.where(hit, other, y)


def make_blobs(n, n_classes, *, seed=0, apart=2.0, share=None):
    rng = np.random.default_rng(seed)
    centres = apart * rng.normal(size=(n_classes, 6))
    y = rng.choice(n_classes, size=n, p=share)
    return centres[y] + rng.normal(size=(n, 6)), y


def columns_of(issues):
    """The frame as arrays, whatever it is made of."""
    return SimpleNamespace(**{name: np.asarray(issues[name]) for name in COLUMNS})


@pytest.fixture(scope="module")
def gaussians():
    X, y = make_gaussians(random_state=0)
    given = flip(y, 0.1)
    return SimpleNamespace(X=X, y=y, given=given, wrong=given != y)


@pytest.fixture(scope="module")
def fitted(gaussians):
    return quick().fit(gaussians.X, gaussians.given)


@pytest.fixture(scope="module")
def chances(gaussians):
    """Probabilities of the labels by folds of a model that suits the data."""
    model = RandomForestClassifier(50, min_samples_leaf=5, random_state=0)
    return cross_val_predict(
        model, gaussians.X, gaussians.given, method="predict_proba"
    )


# ---------------------------------------------------------------------- what is found


def test_frame_says_for_every_row(fitted, gaussians):
    issues = fitted.issues_
    assert {name: str(kind) for name, kind in issues.dtypes.items()} == COLUMNS
    assert_array_equal(issues.index, np.arange(gaussians.y.size))
    found = columns_of(issues)
    assert_array_equal(found.given_label, gaussians.given)
    every = np.arange(gaussians.y.size)
    assert_allclose(fitted.belief_.sum(axis=1), 1)
    assert_array_equal(found.label_quality, fitted.belief_[every, found.given_label])
    assert_array_equal(found.confidence, fitted.belief_[every, found.predicted_label])
    assert_array_equal(np.sort(found.rank), every + 1)
    order = np.argsort(found.rank)
    assert (np.diff(found.chance_wrong[order]) <= 0).all()
    n_suspects = found.is_label_issue.sum()
    assert_array_equal(found.is_label_issue, found.rank <= n_suspects)
    assert_array_equal(found.is_label_issue, found.chance_wrong > 0.5)
    assert fitted.noise_rate_ == pytest.approx(found.chance_wrong.mean())
    assert fitted.expected_precision_ == pytest.approx(
        found.chance_wrong[found.is_label_issue].mean()
    )
    assert fitted.transitions_.shape == (2, 2)
    assert fitted.n_features_in_ == 2
    assert not hasattr(fitted, "feature_names_in_")


def test_wrong_labels_are_found(fitted, gaussians):
    found = columns_of(fitted.issues_)
    suspects = found.is_label_issue
    assert gaussians.wrong[suspects].mean() > 0.8
    assert suspects[gaussians.wrong].mean() > 0.5
    assert (found.predicted_label == gaussians.y)[suspects].mean() > 0.8
    off = abs(fitted.noise_rate_ - gaussians.wrong.mean())
    assert off < 3 * fitted.noise_rate_std_


def test_function_gives_the_frame_of_the_audit(fitted, gaussians):
    options = {"quick": True, "random_state": 0}
    issues = find_label_issues(gaussians.X, gaussians.given, **options)
    pd.testing.assert_frame_equal(issues, fitted.issues_)
    trusted = np.arange(gaussians.y.size) < 100
    pred_probs = np.full((trusted.size, 2), 0.5)
    for own in ({"trusted": trusted}, {"pred_probs": pred_probs}):
        issues = find_label_issues(gaussians.X, gaussians.given, **own, **options)
        audit = LabelAudit(**options).fit(gaussians.X, gaussians.given, **own)
        pd.testing.assert_frame_equal(issues, audit.issues_)


def test_forest_judges_by_default_out_of_bag(gaussians):
    """It is told of groups and of trusted rows."""
    X, given = gaussians.X, gaussians.given
    known = {"groups": np.arange(200) // 4, "trusted": gaussians.wrong}
    forest = SPLForestClassifier(n_bags=4, random_state=3)
    audit = LabelAudit(forest).fit(X, given, **known)
    assert not hasattr(forest, "classes_")
    own = clone(forest).fit(X, given, **known)
    assert_array_equal(audit.belief_, own.oob_decision_function_)
    assert_array_equal(audit.estimator_.predict_proba(X), own.predict_proba(X))
    default = LabelAudit(random_state=0).fit(X[::5], given[::5])
    assert isinstance(default.estimator_, SPLForestClassifier)


def test_class_weights_of_the_forest_are_taken_out_again(gaussians):
    heavy = SPLForestClassifier(n_bags=4, class_weight={1: 20.0}, random_state=0)
    plain = SPLForestClassifier(n_bags=4, random_state=0)
    mean = [
        LabelAudit(each).fit(gaussians.X, gaussians.given).belief_[:, 1].mean()
        for each in (heavy, plain)
    ]
    assert mean[0] == pytest.approx(mean[1], abs=0.06)


# ------------------------------------------------------------- what does not matter


@pytest.mark.parametrize(
    "names", [["", "é 👍"], [False, True], [-3.0, 7.0], [b"x", b"y"]]
)
def test_names_of_classes_do_not_matter(fitted, gaussians, names):
    labels = np.array(names)[gaussians.given]
    audit = quick().fit(gaussians.X, labels)
    assert_array_equal(audit.belief_, fitted.belief_)
    assert_array_equal(audit.classes_, np.array(names))
    found, before = columns_of(audit.issues_), columns_of(fitted.issues_)
    assert_array_equal(found.given_label, labels)
    assert_array_equal(found.predicted_label, np.array(names)[before.predicted_label])
    assert_array_equal(found.rank, before.rank)


def test_same_result_whatever_the_threads_and_from_lists(fitted, gaussians):
    drawn = np.random.RandomState(0)
    audit = quick(n_jobs=2, random_state=drawn).fit(
        gaussians.X.tolist(), gaussians.given.tolist()
    )
    assert_array_equal(audit.belief_, fitted.belief_)
    column = gaussians.given[:, None]
    with pytest.warns(UserWarning, match="column-vector"):
        audit = quick().fit(gaussians.X, column)
    assert_array_equal(audit.belief_, fitted.belief_)


# --------------------------------------------------------- how well it does, over seeds


def pooled(make, noise, seeds=5, **options):
    """Suspects, stated and real precision, and share found, over several data sets."""
    stated, real, suspects, wrong, rate = 0.0, 0, 0, 0, []
    for seed in range(seeds):
        X, y = make(seed)
        given = noise(y, seed + 50)
        audit = quick(random_state=seed, **options).fit(X, given)
        found = columns_of(audit.issues_)
        stated += found.chance_wrong[found.is_label_issue].sum()
        real += int((given != y)[found.is_label_issue].sum())
        suspects += int(found.is_label_issue.sum())
        wrong += int((given != y).sum())
        rate.append(audit.noise_rate_ - (given != y).mean())
    return SimpleNamespace(
        n=suspects,
        stated=stated / max(suspects, 1),
        real=real / max(suspects, 1),
        found=real / max(wrong, 1),
        rate=float(np.mean(rate)),
    )


def gauss(seed):
    return make_gaussians(random_state=seed)


def twonorm(seed):
    return make_twonorm(400, random_state=seed)


def four_blobs(seed):
    return make_blobs(500, 4, seed=seed)


def rare_blob(seed):
    return make_blobs(600, 2, seed=seed, apart=1.2, share=[0.93, 0.07])


@pytest.mark.parametrize("make", [four_blobs, rare_blob])
def test_hardly_a_suspect_where_no_label_is_wrong(make):
    found = pooled(make, lambda y, seed: y)
    assert found.n <= 8  # of 1000 rows at least
    assert found.rate < 0.02


@pytest.mark.parametrize(
    "make, noise",
    [
        (gauss, lambda y, seed: flip(y, 0.3, seed=seed)),
        (twonorm, lambda y, seed: flip(y, 0.3, seed=seed, only=1)),
        (four_blobs, lambda y, seed: flip(y, 0.15, seed=seed)),
        (rare_blob, lambda y, seed: flip(y, 0.05, seed=seed)),
    ],
    ids=["30%", "one-sided", "four classes", "rare class"],
)
def test_stated_precision_is_near_the_real_one(make, noise):
    found = pooled(make, noise)
    assert found.n > 40
    assert found.found > 0.4
    assert found.stated - 0.12 < found.real <= found.stated + 0.3
    assert abs(found.rate) < 0.08


@pytest.mark.parametrize(
    "judge, rate",
    [
        (DecisionTreeClassifier(random_state=0), 0.05),
        (KNeighborsClassifier(1), 0.2),
        (KNeighborsClassifier(3), 0.05),
    ],
    ids=["tree", "1 neighbour", "3 neighbours"],
)
def test_judge_with_few_probabilities_does_not_overstate(judge, rate):
    """It is mistaken where it is surest, and nothing tells where."""
    found = pooled(gauss, lambda y, seed: flip(y, rate, seed=seed), 8, estimator=judge)
    assert found.stated < found.real + 0.2
    assert found.rate < 0.04


def test_suspect_is_never_proposed_the_label_it_has():
    """A label may be the likelier one to be given, and yet more likely wrong."""
    rng = np.random.default_rng(0)
    q = rng.choice([0.0, 0.85, 1.0], 3000)  # of class 1, of which 45% are labelled 0
    y = (rng.random(3000) < q).astype(int)
    given = flip(y, 0.45, only=1)
    p = 0.55 * q * rng.uniform(0.999, 1, 3000) + rng.uniform(0, 0.001, 3000)
    X = rng.normal(size=(3000, 1))
    audit = quick().fit(X, given, pred_probs=np.column_stack([1 - p, p]))
    found = columns_of(audit.issues_)
    suspects = found.is_label_issue
    assert (suspects & (found.label_quality > 0.5)).sum() > 100
    assert (found.given_label != found.predicted_label)[suspects].all()
    corrected = audit.clean(X, given, "correct")[1]
    assert_array_equal(corrected != given, suspects)
    assert (corrected != y).mean() < 0.5 * (given != y).mean()


# --------------------------------------------------------------------- given the means


def test_trusted_labels_are_never_suspect(gaussians):
    trusted = np.zeros(gaussians.y.size, dtype=bool)
    trusted[np.flatnonzero(gaussians.wrong)[::2]] = True
    trusted[np.flatnonzero(~gaussians.wrong)[::5]] = True
    for options in ({}, {"top": 5000}, {"precision": 0.01}):
        audit = quick(**options).fit(gaussians.X, gaussians.given, trusted=trusted)
        found = columns_of(audit.issues_)
        assert not found.is_label_issue[trusted].any()
        assert_array_equal(found.chance_wrong[trusted], 0)
        assert found.rank[trusted].min() > found.rank[~trusted].max()
        assert (found.chance_wrong[~trusted] > 0).any()
    assert found.is_label_issue.any()


def test_labels_before_a_review_tell_how_many_are_left():
    """Those that were put right were the surest; the others alone look clean."""
    X, y = make_classification(
        2000, 10, n_informative=6, class_sep=1.5, flip_y=0, random_state=1
    )
    given, wrong = flip_labels(y, 0.1, random_state=0)
    first = quick().fit(X, given)
    worst = np.argsort(columns_of(first.issues_).rank)[:100]
    reviewed, trusted = given.copy(), np.zeros(y.size, dtype=bool)
    reviewed[worst], trusted[worst] = y[worst], True
    left = wrong & ~trusted
    known = {"trusted": trusted, "original": given}
    audit = quick().fit(X, reviewed, **known)
    suspects = columns_of(audit.issues_).is_label_issue
    assert suspects.sum() > 0.3 * left.sum() and left[suspects].mean() > 0.8
    assert 0.5 * left.mean() < audit.noise_rate_ < 1.5 * left.mean()
    without = quick().fit(X, reviewed, trusted=trusted)
    assert without.noise_rate_ < 0.5 * audit.noise_rate_


def test_labels_that_a_review_has_kept_accuse_no_others():
    """No label is wrong, though some rows are exceptions."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = (X[:, 0] > 0) ^ (rng.random(2000) < 0.1)
    first = quick().fit(X, y)
    worst = np.argsort(columns_of(first.issues_).rank)[:50]
    trusted = np.isin(np.arange(2000), worst)
    known = quick().fit(X, y, trusted=trusted, original=y)
    assert known.noise_rate_ == quick().fit(X, y, trusted=trusted).noise_rate_
    assert known.noise_rate_ < 0.2 * first.noise_rate_


def test_labels_before_a_review_may_be_of_other_classes(gaussians):
    original = gaussians.given.astype(object)
    original[:3] = "a class of slips"
    audit = quick().fit(gaussians.X, gaussians.given, original=original)
    assert audit.classes_.tolist() == [0, 1]
    assert np.isfinite(audit.noise_rate_)
    with pytest.raises(ValueError, match=r"original is of shape \(5,\), for 200 rows"):
        quick().fit(gaussians.X, gaussians.given, original=original[:5])
    texts = gaussians.given.astype(str)
    with pytest.raises(ValueError, match="original has none of the labels of y: '"):
        quick().fit(gaussians.X, gaussians.given, original=texts)


def test_noise_of_trusted_labels_is_none(gaussians):
    every = np.ones(gaussians.y.size, dtype=bool)
    audit = quick().fit(gaussians.X, gaussians.given, trusted=every)
    assert audit.noise_rate_ == audit.noise_rate_std_ == 0
    assert np.isnan(audit.expected_precision_)
    assert_array_equal(audit.transitions_, np.eye(2))
    assert not columns_of(audit.issues_).is_label_issue.any()
    assert "No label is suspect" in audit.summary()
    assert audit.explain() == []


def test_share_of_wrong_labels_counts_trusted_rows_as_right():
    rng = np.random.default_rng(0)
    p = rng.choice([0.1, 0.3, 0.9], 400)
    given = (rng.random(400) < p).astype(int)
    trusted = np.arange(400) < 100
    audit = quick(top=300).fit(
        p[:, None], given, pred_probs=np.column_stack([1 - p, p]), trusted=trusted
    )
    found = columns_of(audit.issues_)
    transitions, std = estimate_noise_model(audit.belief_[100:], given[100:])
    chance = chance_wrong(audit.belief_[100:], given[100:], transitions)
    assert_allclose(found.chance_wrong, np.r_[np.zeros(100), chance])
    assert audit.noise_rate_ == pytest.approx(0.75 * chance.mean())
    assert audit.noise_rate_std_ == pytest.approx(0.75 * std)
    assert_allclose(audit.transitions_, transitions[2])
    assert_array_equal(found.is_label_issue, ~trusted)


def test_groups_do_not_judge_each_other():
    """Every row has a near twin: alone it knows its label, as a group it does not."""
    X, y = make_twonorm(120, random_state=0)
    given = flip(y, 0.2)
    twice, groups = np.tile(np.arange(120), 2), np.tile(np.arange(120), 2)
    near = 1e-9 * np.arange(240)[:, None]
    X, y, given = X[twice] + near, y[twice], given[twice]
    wrong = given != y
    quality = {}
    trees = ExtraTreesClassifier(9, random_state=0)
    for judge, named in ((None, groups), (trees, groups.astype(str))):
        for own in (None, named):
            audit = quick(estimator=judge).fit(X, given, groups=own)
            quality[own is None] = audit.issues_["label_quality"][wrong].mean()
        assert quality[True] > quality[False] + 0.15


@pytest.mark.parametrize(
    "judge, groups, said",
    [
        (None, np.zeros(7), r"groups is of shape \(7,\) for 200 rows"),
        (GaussianNB(), [None] * 200, "groups has missing entries"),
        (None, np.zeros(200), "one group"),
        (GaussianNB(), np.zeros(200), "one group"),
    ],
)
def test_groups_that_will_not_do(gaussians, judge, groups, said):
    with pytest.raises(ValueError, match=said):
        quick(estimator=judge).fit(gaussians.X, gaussians.given, groups=groups)


def test_given_probabilities(gaussians, chances):
    """Calibrated: too sure, and with too much of a class, they say the same."""
    audit = quick().fit(gaussians.X, gaussians.given, pred_probs=chances.tolist())
    assert audit.estimator_ is None
    found = columns_of(audit.issues_)
    assert gaussians.wrong[found.is_label_issue].mean() > 0.7
    assert audit.explain(n_similar=2)[0].reasons is None
    assert len(audit.explain(n_similar=2)[0].similar) == 2
    too_sure = chances**3 * [1, 5]
    too_sure /= too_sure.sum(axis=1, keepdims=True)
    mended = quick().fit(gaussians.X, gaussians.given, pred_probs=too_sure)
    assert_allclose(mended.belief_, audit.belief_, atol=0.03)


@pytest.mark.parametrize(
    "pred_probs, said",
    [
        (np.full((200, 3), 1 / 3), r"shape \(200, 3\); .* 200 rows .* 2 classes"),
        (np.full(200, 0.5), r"shape \(200,\)"),
        (np.full((200, 2), np.nan), "missing or negative"),
        (np.tile([0.5, 0.9], (200, 1)), "do not sum to 1"),
    ],
)
def test_given_probabilities_that_are_none(gaussians, pred_probs, said):
    with pytest.raises(ValueError, match=said):
        quick().fit(gaussians.X, gaussians.given, pred_probs=pred_probs)


@pytest.mark.parametrize(
    "library, classes, names",
    [
        (pl, ["no", "yes"], ["yes", "no"]),
        (pd, [0, 1], [1, 0]),
        (pd, [False, True], ["True", "False"]),
        (pl, [2.0, 7.0], ["7.0", "2.0"]),
    ],
)
def test_given_probabilities_go_by_the_names_of_columns(
    gaussians, chances, library, classes, names
):
    labels = np.array(classes)[gaussians.given]
    plain = quick().fit(gaussians.X, labels, pred_probs=chances)
    frame = library.DataFrame(dict(zip(names, chances.T[::-1], strict=True)))
    named = quick().fit(gaussians.X, labels, pred_probs=frame)
    assert_array_equal(named.belief_, plain.belief_)
    unnamed = quick().fit(gaussians.X, labels, pred_probs=library.DataFrame(chances))
    assert_array_equal(unnamed.belief_, plain.belief_)
    for wrong in (["a", "b"], [names[0], "?"], [*names, "c"]):
        given = np.resize(chances.T, (len(wrong), labels.size))
        frame = library.DataFrame(dict(zip(wrong, given, strict=True)))
        with pytest.raises(ValueError, match=r"pred_probs has the columns \["):
            quick().fit(gaussians.X, labels, pred_probs=frame)


def test_probabilities_without_a_table(gaussians, chances, tmp_path):
    X, given = gaussians.X, gaussians.given
    whole = quick().fit(X, given, pred_probs=chances)
    audit = quick().fit(X, given).fit(None, given, pred_probs=chances)
    pd.testing.assert_frame_equal(audit.issues_, whole.issues_)
    assert not hasattr(audit, "n_features_in_")
    assert audit.contradictions_ == []
    for each in audit.explain():
        assert each.reasons is None
        assert each.similar == []
    assert audit.summary() == whole.summary()
    audit.write_page(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert '"contradictions":null,"columns":[]' in page
    whole.write_page(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert '"contradictions":[],"columns":[{' in page
    suspects = np.asarray(audit.issues_["is_label_issue"])
    images = [object() for _ in given]
    left, labels = audit.clean(images, given)
    assert left == [each for each, out in zip(images, suspects, strict=True) if not out]
    assert_array_equal(labels, given[~suspects])
    assert_array_equal(
        find_label_issues(None, given, pred_probs=chances, quick=True), whole.issues_
    )
    X, y = audit.clean(None, given)
    assert X is None and y.size == (~suspects).sum()
    with pytest.raises(ValueError, match="X is None; give rows, or pred_probs"):
        quick().fit(None, given)


def test_ranks_as_cleanlab_does_where_noise_is_symmetric(gaussians, chances):
    rank = pytest.importorskip("cleanlab.rank")
    audit = quick().fit(gaussians.X, gaussians.given, pred_probs=chances)
    assert audit.transitions_[0, 1] == pytest.approx(audit.transitions_[1, 0])
    score = rank.get_label_quality_scores(
        gaussians.given, audit.belief_, method="self_confidence"
    )
    order = np.argsort(np.asarray(audit.issues_["rank"]))
    assert (np.diff(score[order]) >= -1e-12).all()
    raw = rank.get_label_quality_scores(
        gaussians.given, chances, method="self_confidence"
    )
    assert spearmanr(raw, audit.issues_["rank"]).statistic > 0.98


# --------------------------------------------------------------------- other estimators


def test_given_probabilities_are_of_the_rows_that_the_index_of_labels_says(
    gaussians, chances
):
    y = pd.Series(gaussians.given, index=[f"row {row}" for row in range(200)])
    shuffled = pd.DataFrame(chances, index=y.index).sample(frac=1, random_state=0)
    for X in (None, gaussians.X):
        with pytest.raises(ValueError, match=r"give pred_probs\.reindex\(y\.index\)"):
            quick().fit(X, y, pred_probs=shuffled)
        found = quick().fit(X, y, pred_probs=shuffled.reindex(y.index))
        by_place = quick().fit(X, y, pred_probs=chances)
        assert_array_equal(found.belief_, by_place.belief_)


@pytest.mark.filterwarnings("ignore:y has 6000 classes")
def test_long_lists_are_cut_short_in_errors():
    y = np.arange(6000)
    for fit in (
        lambda: find_label_issues(None, y, pred_probs=np.ones((6000, 2))),
        lambda: find_label_issues(y[:, None], y, pred_probs=pd.DataFrame({"a": y})),
        lambda: find_label_issues(y[:, None], y % 2, original=y + 2),
        lambda: quick().fit(y[:, None], y % 2).explain(list(y / 2)),
        lambda: SPLForestClassifier(class_weight=dict.fromkeys(y, 2)).fit(
            y[:, None], y % 2
        ),
    ):
        with pytest.raises(ValueError) as error:
            fit()
        assert len(str(error.value)) < 500


@pytest.mark.parametrize(
    "name", ["y", "groups", "trusted", "original", "pred_probs", "ids"]
)
def test_all_that_is_said_of_rows_has_their_index(gaussians, chances, tmp_path, name):
    X = pd.DataFrame(gaussians.X, index=[f"row {row}" for row in range(200)])
    numbers = np.arange(200)
    values = {"groups": numbers // 2, "trusted": numbers < 3, "pred_probs": chances}
    own = values.get(name, gaussians.given)
    own = (pd.Series if own.ndim == 1 else pd.DataFrame)(own, index=X.index)
    others = own.sample(frac=1, random_state=0), own.reset_index(drop=True)
    mend = rf"and X has \['row 0.*give {name}\.reindex\(X\.index\), or .*set_axis\("
    audit = quick().fit(X, gaussians.given)
    for other in (*others, own.iloc[[0, *range(199)]]):
        with pytest.raises(ValueError, match=f"{name} has the index .*, {mend}"):
            if name == "ids":
                audit.write_page(tmp_path / "page.html", ids=other)
            else:
                quick().fit(X, **{"y": gaussians.given, name: other})
    if name != "ids":  # nothing to compare
        quick().fit(gaussians.X, **{"y": gaussians.given, name: others[0]})


@pytest.mark.parametrize("sureness", [0.3, 3.0])
def test_how_sure_a_judge_is_does_not_matter(sureness):
    """Right in 99 of 100, and less sure, or surer, of all rows than it should be."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    given = flip(y, 0.1)
    says = np.where(rng.random(2000) < 0.99, y, 1 - y)
    odds = np.exp(sureness * rng.normal(2, 0.7, 2000))
    p = np.where(says == 1, odds, 1 / odds) / (odds + 1 / odds)
    audit = quick().fit(None, given, pred_probs=np.column_stack([1 - p, p]))
    found = columns_of(audit.issues_).is_label_issue
    assert found[given != y].mean() > 0.6
    assert (given != y)[found].mean() > 0.85
    assert audit.noise_rate_ == pytest.approx(0.1, abs=0.03)


def test_certain_judge_leaves_half_a_row_of_doubt():
    """Probabilities of 0 and 1, all of which are right."""
    given = np.arange(200) % 2
    audit = quick().fit(None, given, pred_probs=np.eye(2)[given])
    assert 1 - audit.belief_.max() == pytest.approx(1 / 400, rel=0.02)
    assert audit.belief_.min() == pytest.approx(1 / 400, rel=0.02)


def test_any_classifier_may_judge():
    judge = make_pipeline(StandardScaler(), LogisticRegression())
    X, y = make_twonorm(300, random_state=0)
    names = np.array(["no", "yes"])
    given = flip(y, 0.15)
    before = repr(judge)
    audit = LabelAudit(judge, random_state=0).fit(X, names[given])
    assert repr(judge) == before
    assert not hasattr(judge, "classes_")
    found = columns_of(audit.issues_)
    assert (given != y)[found.is_label_issue].mean() > 0.8
    assert found.is_label_issue[given != y].mean() > 0.25
    assert audit.estimator_.predict(X[:5]).dtype.kind == "U"
    explanation = audit.explain()[0]
    assert explanation.reasons
    assert len(explanation.similar) == 3


def test_folds_are_drawn_by_the_seed(gaussians):
    belief = [
        LabelAudit(GaussianNB(), random_state=seed)
        .fit(gaussians.X, gaussians.given)
        .belief_
        for seed in (0, 0, 1)
    ]
    assert_array_equal(belief[0], belief[1])
    assert not np.allclose(belief[0], belief[2])


def test_folds_of_a_rare_class(gaussians):
    labels = gaussians.given.copy()
    labels[[3, 70, 150]] = 2
    with pytest.warns(UserWarning, match="only 3 rows, so there are as many folds"):
        audit = LabelAudit(GaussianNB()).fit(gaussians.X, labels)
    assert not np.isnan(audit.belief_).any()
    labels[[3, 70]] = 0
    with pytest.raises(ValueError, match=r"only one row, which.*leave it out"):
        LabelAudit(GaussianNB()).fit(gaussians.X, labels)
    with pytest.warns(UserWarning, match="only 3 groups, so there are as many folds"):
        LabelAudit(GaussianNB()).fit(
            gaussians.X, gaussians.given, groups=np.arange(200) % 3
        )


def test_a_judge_that_answers_with_no_probabilities():
    message = r"GaussianNB answers predict_proba with \[nan, nan\]"
    with pytest.raises(ValueError, match=message):
        LabelAudit(GaussianNB()).fit(np.ones((40, 1)), [0, 1] * 20)


@pytest.mark.parametrize("judge", [LinearSVC(), "forest"])
def test_judge_without_probabilities(gaussians, judge):
    with pytest.raises(TypeError, match=r"no predict_proba.*pred_probs"):
        LabelAudit(judge).fit(gaussians.X, gaussians.given)


def test_row_that_every_model_has_seen_is_no_suspect(gaussians):
    """The only row of its class is in every bag."""
    labels = gaussians.given.copy()
    labels[5] = 7
    audit = quick(top=5000).fit(gaussians.X, labels)
    found = columns_of(audit.issues_)
    assert np.isnan([found.label_quality[5], found.chance_wrong[5]]).all()
    assert found.predicted_label[5] == 7
    assert found.rank[5] == 200
    assert_array_equal(np.flatnonzero(~found.is_label_issue), [5])
    assert 0 < audit.expected_precision_ < 1
    assert 0 < audit.noise_rate_ < 0.5
    assert len(audit.explain()) == 199
    assert "have seen the label: row 5. That is so of the only row" in audit.summary()
    own = found.is_label_issue  # each is proposed another label
    assert (found.given_label[own] != found.predicted_label[own]).all()
    assert [audit.explain([row]) for row in (3, 7)] == [
        [each] for each in audit.explain([3, 7])
    ]


# ------------------------------------------------------------------------ kinds of data


def mixed_frame(n=240):
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], n)
    size = rng.normal(size=n)
    y = ((colour == "red") ^ (size > 0)).astype(int)
    given = flip(y, 0.1)
    colour = np.where(rng.random(n) < 0.05, None, colour)
    size = np.where(rng.random(n) < 0.05, np.nan, size)
    return colour, size, np.array(["out", "in"])[given], given != y


def test_categories_and_missing_values_in_frames(installed):
    colour, size, labels, wrong = mixed_frame()
    frames = {
        "pandas": pd.DataFrame({"colour": pd.Categorical(colour), "size": size}),
        "polars": pl.DataFrame(
            {
                "colour": pl.Series(colour.tolist(), dtype=pl.Categorical),
                "size": pl.Series(size).fill_nan(None),
            }
        ),
    }
    belief = {}
    for kind, X in frames.items():
        labels_too = pd.Series(labels) if kind == "pandas" else pl.Series(labels)
        audit = quick().fit(X, labels_too)
        belief[kind] = audit.belief_
        found = columns_of(audit.issues_)
        assert wrong[found.is_label_issue].mean() > 0.8
        assert found.is_label_issue[wrong].mean() > 0.3
        assert audit.feature_names_in_.tolist() == ["colour", "size"]
        kept, y_kept = audit.clean(X, labels_too)
        assert isinstance(kept, type(X))
        assert kept.shape == ((~found.is_label_issue).sum(), 2)
        assert_array_equal(y_kept, labels[~found.is_label_issue])
        reasons = [each.reasons for each in audit.explain()]
        values = {reason.value for own in reasons for reason in own}
        assert values & {"red", "green", "blue"}
    assert_allclose(belief["pandas"], belief["polars"], atol=0.05)


@pytest.mark.parametrize("libraries", [("pandas",), ("polars",), ()])
def test_result_in_whichever_library_is_there(
    installed, fitted, gaussians, libraries, monkeypatch
):
    installed.intersection_update(libraries)
    kind = {"pandas": pd.DataFrame, "polars": pl.DataFrame}
    labels = np.array(["no", "yes"])[gaussians.given]
    for y, own in ((labels, str), (gaussians.given > 0, bool)):
        audit = quick().fit(gaussians.X, y)
        issues = audit.issues_
        assert type(issues) is (kind[libraries[0]] if libraries else dict)
        assert list(getattr(issues, "columns", issues)) == list(COLUMNS)
        assert_array_equal(issues["rank"], fitted.issues_["rank"])
        assert_array_equal(issues["given_label"], y)
        assert isinstance(np.asarray(issues["given_label"]).tolist()[0], own)
        for how in ("drop", "correct"):
            cleaned = audit.clean(gaussians.X, y, how)[1]
            assert cleaned.dtype == y.dtype
        assert audit.summary().startswith("200 labels")
        assert len(audit.explain()) == np.count_nonzero(issues["is_label_issue"])


@pytest.mark.parametrize("library", [pd, pl])
def test_contradictions_in_categories(library):
    """Equal rows are found by brute force, with many categories and missing cells."""
    rng = np.random.default_rng(0)
    columns = [
        rng.choice([*map(str, range(130)), None], 300),
        rng.choice(["x", "y", None], 300),
        rng.choice([0.0, 1.5, np.nan], 300),
    ]
    y = rng.integers(0, 2, 300)
    if library is pd:
        columns[:2] = [pd.Categorical(own) for own in columns[:2]]
    else:
        columns[:2] = [
            pl.Series(own.tolist(), dtype=pl.Enum(sorted({*own} - {None})))
            for own in columns[:2]
        ]
    X = library.DataFrame(dict(zip("abc", columns, strict=True)))
    groups = {}
    for row in range(300):
        cells = (
            None if own[row] != own[row] else own[row] for own in map(list, columns)
        )
        groups.setdefault(tuple(cells), []).append(row)
    expected = [rows for rows in groups.values() if len({*y[rows]}) > 1]
    assert len(expected) > 20
    audit = quick().fit(X, y)
    assert sorted(own.rows.tolist() for own in audit.contradictions_) == expected
    for own in audit.contradictions_:
        assert_array_equal(own.codes, y[own.rows])
    n, n_groups = sum(map(len, expected)), len(expected)
    line = f"{n} rows equal others except for their labels, in {n_groups} groups: some"
    assert line in audit.summary()


# --------------------------------------------------------------------- what can be done


def test_clean_drops_or_corrects(fitted, gaussians):
    suspects = columns_of(fitted.issues_).is_label_issue
    X, y = fitted.clean(gaussians.X, gaussians.given)
    assert_array_equal(X, gaussians.X[~suspects])
    assert_array_equal(y, gaussians.given[~suspects])
    X, y = fitted.clean(gaussians.X, gaussians.given, "correct")
    assert X is gaussians.X
    assert_array_equal(y[~suspects], gaussians.given[~suspects])
    assert_array_equal(y[suspects], fitted.issues_["predicted_label"][suspects])
    assert (y != gaussians.y).mean() < 0.5 * gaussians.wrong.mean()


def test_clean_wants_the_data_that_were_audited(fitted, gaussians):
    other = gaussians.given.copy()
    other[7] = 1 - other[7]
    for y in (other, gaussians.given[:-1], gaussians.given.astype(str)):
        with pytest.raises(ValueError, match="not what was audited"):
            fitted.clean(gaussians.X, y)
    swapped = gaussians.X.copy()
    alike = np.flatnonzero(gaussians.given == gaussians.given[3])[-2:]
    swapped[alike] = swapped[alike[::-1]]
    with pytest.raises(ValueError, match=f"X is not .*: row {alike[0]} differs"):
        fitted.clean(swapped, gaussians.given)
    with pytest.raises(ValueError, match="X has 199 rows, and 200 were audited"):
        fitted.clean(gaussians.X[1:], gaussians.given)
    with pytest.raises(ValueError, match="how='flip' is unknown; give 'drop'"):
        fitted.clean(gaussians.X, gaussians.given, "flip")


def test_clean_keeps_the_kind_of_labels(gaussians):
    names = np.array(["a", "longer"])[gaussians.given]
    audit = quick().fit(gaussians.X, names)
    for labels in (names, names.astype(object), pd.Series(names), names.tolist()):
        dropped, corrected = (
            audit.clean(gaussians.X, labels, how)[1] for how in ("drop", "correct")
        )
        assert dropped.dtype == corrected.dtype
        if labels is names:
            assert corrected.dtype == names.dtype
        assert set(corrected.tolist()) == {"a", "longer"}
    audit = quick().fit(gaussians.X, gaussians.given)
    expected = audit.clean(gaussians.X, gaussians.given, "correct")[1]
    for kind in ("Int64", "uint8", "float32"):
        whole = pd.Series(gaussians.given, dtype=kind)
        corrected = quick().fit(gaussians.X, whole).clean(None, whole, "correct")[1]
        assert corrected.dtype == kind
        assert_array_equal(corrected.to_numpy(dtype=int), expected)


@pytest.mark.parametrize("kind", ["object", "category"])
def test_clean_keeps_frames_and_series_of_pandas(gaussians, kind):
    names = np.array(["a", "longer"])[gaussians.given]
    index = pd.Index([f"row {row}" for row in range(names.size)], name="who")
    X = pd.DataFrame(gaussians.X, index=index, columns=["one", "two"])
    y = pd.Series(names, index=index, name="label", dtype=kind)
    audit = quick().fit(X, y)
    suspects = columns_of(audit.issues_).is_label_issue
    assert suspects.any()
    left, kept = audit.clean(X, y)
    pd.testing.assert_frame_equal(left, X[~suspects])
    pd.testing.assert_series_equal(kept, y[~suspects])
    before = y.copy()
    same, corrected = audit.clean(X, y, "correct")
    assert same is X
    pd.testing.assert_series_equal(y, before)
    pd.testing.assert_index_equal(corrected.index, index)
    assert (corrected.name, corrected.dtype) == ("label", y.dtype)
    pd.testing.assert_index_equal(audit.issues_.index, index)
    assert_array_equal(
        corrected[suspects].astype(str), audit.issues_["predicted_label"][suspects]
    )
    assert_array_equal(corrected[~suspects].astype(str), names[~suspects])


def test_clean_keeps_frames_of_polars_and_arrow(gaussians):
    names = np.array(["a", "longer"])[gaussians.given]
    X = pl.DataFrame(gaussians.X, schema=["one", "two"])
    y = pl.Series("label", names)
    audit = quick().fit(X, y)
    suspects = columns_of(audit.issues_).is_label_issue
    left, kept = audit.clean(X, y)
    assert left.equals(X.filter(~suspects))
    assert kept.equals(y.filter(~suspects))
    arrow = X.to_arrow()
    left, _ = quick().fit(arrow, names).clean(arrow, names)
    assert pl.from_arrow(left).equals(X.filter(~suspects))
    corrected = audit.clean(X, y, "correct")[1]
    assert corrected.name == "label"
    assert_array_equal(corrected.to_numpy() != names, suspects)


def test_explanations_name_the_columns_that_have_names(gaussians):
    named = pd.DataFrame(gaussians.X, columns=["income", "age"])
    by_name, by_number = (
        quick().fit(X, gaussians.given).explain(n_reasons=2)
        for X in (named, gaussians.X)
    )
    names = [reason.column for each in by_name for reason in each.reasons]
    numbers = [reason.column for each in by_number for reason in each.reasons]
    assert names == [named.columns[number] for number in numbers]
    assert set(names) == {"income", "age"}


def test_summary_states_no_share_that_is_nothing(fitted):
    audit = copy(fitted)
    audit.noise_rate_, audit.noise_rate_std_ = 0.0004, 0.0004
    said = "200 labels, of which none or next to none look wrong.\n"
    assert audit.summary().startswith(said)
    audit.noise_rate_ = 0.02
    assert audit.summary().startswith("200 labels, of which about 2.0% look wrong.\n")
    audit.noise_rate_std_ = 0.001
    assert "about 2.0% (± 0.1%) look wrong" in audit.summary()


def test_summary_says_how_to_see_as_many_as_are_wrong(gaussians):
    audit = quick().fit(gaussians.X, gaussians.given)
    n_suspects = int(audit.issues_["is_label_issue"].sum())
    audit.noise_rate_ = (n_suspects + 3) / 200
    n_wrong = n_suspects + 3
    line = (
        f"About {n_wrong} may be wrong; top={n_wrong}, on the command line "
        f"--top {n_wrong}, lists as many."
    )
    assert line in audit.summary().splitlines()
    audit.noise_rate_ = n_suspects / 200
    assert "lists as many" not in audit.summary()


def test_top_and_precision_take_the_worst(fitted, gaussians):
    rank, wrong = columns_of(fitted.issues_).rank, fitted.issues_["chance_wrong"]
    options = [{"top": 17}, {"top": 5000}, {"precision": 0.6}, {"precision": 0.8}]
    sizes = []
    for option in options:
        audit = quick(**option).fit(gaussians.X, gaussians.given)
        found = columns_of(audit.issues_)
        sizes.append(found.is_label_issue.sum())
        assert_array_equal(found.rank, rank)
        assert_array_equal(found.is_label_issue, found.rank <= sizes[-1])
        expected = wrong[found.is_label_issue].mean()
        assert audit.expected_precision_ == pytest.approx(expected)
        if "precision" in option:
            worst = np.argsort(rank)[: sizes[-1] + 1]
            assert wrong[worst].mean() < option["precision"] <= expected
    assert sizes[:2] == [17, 200] and sizes[2] > sizes[3] > 0
    lines = quick(top=12).fit(gaussians.X, gaussians.given).summary().splitlines()
    assert lines[1].startswith("12 suspects; of these about ")
    assert sum(int(line.split()[0]) for line in lines[2:]) == 12
    assert all("look like" in line for line in lines[2:])


@pytest.mark.parametrize("rows", [[200], [-1], [0.5], [True, False], ["a"]], ids=repr)
def test_rows_to_explain_are_numbers(fitted, rows):
    with pytest.raises(ValueError, match="numbers of rows, from 0 to 199"):
        fitted.explain(rows)
    assert fitted.explain([]) == []


# ------------------------------------------------------------------------- as estimator


@pytest.mark.parametrize("library", [None, pl])
def test_pickle_explains_as_well(gaussians, library):
    X = (
        gaussians.X
        if library is None
        else library.DataFrame(dict(zip("ab", gaussians.X.T, strict=True)))
    )
    audit = quick().fit(X, gaussians.given)
    copy = pickle.loads(pickle.dumps(audit))
    assert_array_equal(copy.issues_["rank"], audit.issues_["rank"])
    assert copy.explain() == audit.explain()
    assert copy.summary() == audit.summary()


@pytest.mark.parametrize(
    "options, said",
    [
        ({"precision": 0.0}, "'precision' parameter"),
        ({"precision": 1.0}, "'precision' parameter"),
        ({"top": 0}, "'top' parameter"),
        ({"n_jobs": 0}, "n_jobs=0 has no meaning"),
        ({"precision": 0.9, "top": 3}, "precision=0.9 and top=3 both say"),
        ({"categorical_features": ["no such"]}, "'no such'"),
    ],
)
def test_parameters_that_will_not_do(gaussians, options, said):
    with pytest.raises(ValueError, match=said):
        quick(**options).fit(gaussians.X, gaussians.given)


@pytest.mark.parametrize(
    "change",
    [
        {"X": np.zeros((3, 2))},
        {"X": np.full((200, 2), np.inf)},
        {"y": [None] * 200},
        {"groups": np.zeros(200)},
        {"trusted": np.zeros(3, dtype=bool)},
        {"pred_probs": np.zeros((200, 2))},
    ],
    ids=lambda change: next(iter(change)),
)
def test_fit_that_fails_changes_nothing(gaussians, change):
    audit = quick().fit(gaussians.X, gaussians.given)
    before = dict(vars(audit))
    given = {"X": gaussians.X[:, :1], "y": gaussians.given, **change}
    if given["X"].shape == (200, 1):
        given["X"] = gaussians.X
    with pytest.raises((ValueError, TypeError)):
        audit.fit(**given)
    assert vars(audit).keys() == before.keys()
    assert all(vars(audit)[name] is value for name, value in before.items())


def test_progress_is_shown_if_asked_for(gaussians, capfd):
    quick(verbose=1).fit(gaussians.X, gaussians.given)
    said = capfd.readouterr()
    assert said.out == ""
    assert "trees" in said.err
    quick().fit(gaussians.X, gaussians.given)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("share", [0.05, 0.5])
def test_columns_that_know_nothing_accuse_hardly_anybody(share):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 5)), (rng.random(600) < share).astype(int)
    audit = quick(random_state=0).fit(X, y)
    assert np.mean(audit.issues_["is_label_issue"]) < 0.03


@pytest.mark.parametrize("library", [pd, pl])
def test_texts_of_a_frame_are_categories_or_left_out(library):
    rng = np.random.default_rng(0)
    n = 120
    cells = {
        0: rng.normal(size=n),
        "code": rng.integers(0, 3, size=n),
        "city": [["Bern", "Ulm", None][k % 3] for k in range(n)],
        "name": [f"person {k}" for k in range(n)],
        "day": [date(2024, 1, 1 + k % 4) for k in range(n)],
        "box": [["x", None][k % 2] for k in range(n)],
    }
    frame = library.DataFrame({str(name): column for name, column in cells.items()})
    if library is pd:
        frame["day"] = pd.to_datetime(frame["day"])
    y = np.where(cells[0] > 0, "yes", "no")
    audit = LabelAudit(quick=True, random_state=0, categorical_features=[1])
    with pytest.warns(UserWarning, match="too many different texts .* in 'name', and"):
        audit.fit(frame, y)
    names = ["0", "code", "city", "day", "box"]
    assert audit.feature_names_in_.tolist() == names
    by_hand = frame[names].copy() if library is pd else frame[names]
    if library is pd:
        by_hand["day"] = by_hand["day"].astype(str)
        by_hand = by_hand.astype(dict.fromkeys(names[2:], "category"))
    else:
        texts = [pl.col(names[2:]).cast(pl.String).cast(pl.Categorical)]
        by_hand = by_hand.with_columns(texts)
    expected = LabelAudit(quick=True, random_state=0, categorical_features=["code"])
    expected.fit(by_hand, y)
    np.testing.assert_array_equal(audit.belief_, expected.belief_)
    assert len(audit.clean(frame, y)[0].columns) == 6
    moved = frame[::-1]
    with pytest.raises(ValueError, match="X is not what was audited: row 0 differs"):
        audit.clean(moved, y)
    audit.explain([0])
    with (
        pytest.raises(ValueError, match="no column to judge labels by: 'name' have"),
        pytest.warns(UserWarning),
    ):
        find_label_issues(frame[["name"]], y)


def test_texts_of_a_frame_beside_given_probabilities():
    X = pd.DataFrame({"name": [f"person {k}" for k in range(40)]})
    y = np.arange(40) % 2
    given = np.column_stack([1 - 0.8 * y, 0.2 + 0.6 * y])
    given /= given.sum(axis=1, keepdims=True)
    assert len(find_label_issues(X, y, pred_probs=given)) == 40
    twice = pd.concat([X, X], axis=1)
    with pytest.raises(ValueError, match="several columns named 'name'; rename them"):
        find_label_issues(twice, y)
    spans = pl.DataFrame({"span": [timedelta(k) for k in range(40)]})
    with pytest.raises(ValueError, match=r"'span' has dtype .*Make numbers of it"):
        find_label_issues(spans, y)


def test_estimator_gets_the_texts_of_a_frame_as_they_are():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=90), "word": [f"w{k}" for k in range(90)]})
    y = (X["x"] > 0).astype(int)
    encoded = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["word"]), remainder="passthrough"
    )
    audit = LabelAudit(make_pipeline(encoded, LogisticRegression()), random_state=0)
    assert audit.fit(X, y).feature_names_in_.tolist() == ["x", "word"]
    assert audit.explain([0])[0].reasons is not None
