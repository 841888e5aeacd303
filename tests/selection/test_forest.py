"""SPLForestClassifier: a pool of boosters and forests, judged out of bag."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score, recall_score

from splboost import (
    LogitBoostClassifier,
    SPLBoostClassifier,
    SPLForestClassifier,
)
from splboost._data.table import read_table
from splboost.boosting.adaboost import DISCRETE
from splboost.boosting.state import State
from splboost.datasets import flip_labels
from splboost.pace import Hard
from splboost.selection import belief, pool
from splboost.selection.members import (
    Forest,
    Logits,
    TrainingRows,
    TrustingState,
    Votes,
)
from splboost.trees import CARTClassifier, CARTRegressor
from splboost.trees.binning import bin_table
from splboost.trees.ensemble import TreeEnsemble


def make_rows(n=240, n_classes=2, seed=0, weight=None):
    """Few distinct values, so that bins do not depend on which rows there are."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, size=(n, 5)).astype(float)
    signal = X[:, 0] + X[:, 1] * (X[:, 2] > 5) + rng.normal(scale=4, size=n)
    y = np.searchsorted(
        np.quantile(signal, np.arange(1, n_classes) / n_classes), signal
    )
    table = read_table(CARTClassifier(), X, None, reset=True)
    weight = np.ones(n) if weight is None else weight
    return X, y, rows_of(bin_table(table, np.ones(n)), y, n_classes, weight)


def rows_of(binned, y, n_classes, weight):
    none, every = np.zeros(y.size, dtype=bool), np.ones(y.size, dtype=bool)
    codes = y.astype(np.uint8)
    return TrainingRows(
        binned, codes, n_classes, weight, weight, None, None, none, every
    )


def draw_half(y, seed=1):
    rng = np.random.default_rng(seed)
    bag = np.zeros(y.size)
    for k in np.unique(y):
        rows = np.flatnonzero(y == k)
        bag[rng.permutation(rows)[: rows.size // 2]] = 1.0
    return bag


# ------------------------------------------------------------------------- the members


@pytest.mark.parametrize(
    ("n_classes", "plateau", "depth"),
    [(2, 1.3, 1), (3, 1.3, 3), (2, 2.0, 3), (3, np.inf, 1)],
)
def test_votes_are_splboost_on_the_bag(n_classes, plateau, depth):
    X, y, rows = make_rows(n_classes=n_classes)
    bag = draw_half(y)
    run = Votes(depth, plateau).run(rows, bag, 0, range(1, 13))
    tree = CARTClassifier(max_depth=depth, min_weight_fraction_leaf=1e-4)
    booster = SPLBoostClassifier(
        tree,
        n_estimators=12,
        pace=Hard(plateau=plateau, prior_corrected=True),
        on_perfect="continue",
    )
    inside = bag > 0
    booster.fit(X[inside], y[inside])
    staged = booster.staged_decision_function(X)
    for score, (_, found) in zip(staged, run, strict=True):
        own = found[:, 0] if n_classes == 2 else found * (n_classes - 1)
        assert_allclose(own, score, atol=1e-9)
    assert booster.n_selected_[-1] < inside.sum() or plateau > 1.3


@pytest.mark.parametrize("n_classes", [2, 3])
def test_logits_are_logitboost_on_the_bag(n_classes):
    X, y, rows = make_rows(n_classes=n_classes)
    bag = draw_half(y)
    run = Logits(3).run(rows, bag, 0, range(26))
    tree = CARTRegressor(max_depth=3, min_samples_leaf=5, min_weight_fraction_leaf=1e-4)
    booster = LogitBoostClassifier(
        tree,
        n_estimators=25,
        learning_rate=0.1,
    )
    inside = bag > 0
    booster.fit(X[inside], y[inside])
    assert_allclose(next(run)[1], 0, atol=1e-12)  # classes are of one size
    staged = booster.staged_decision_function(X)
    for score, (_, found) in zip(staged, run, strict=True):
        own = found[:, 0] if n_classes == 2 else found
        assert_allclose(own, score, atol=1e-8)


def test_logits_start_from_the_shares_of_the_classes():
    _, y, rows = make_rows()
    bag = np.where(y == 1, 0.25, 1.0)
    share = (bag[y == 1].sum() + 1) / (bag.sum() + 2)
    assert_allclose(expit(2 * Logits(3).start(rows, bag)), share)


def test_trees_of_a_forest_are_grown_on_draws_from_the_bag():
    _, y, rows = make_rows(n_classes=3)
    bag = draw_half(y)
    ((gathered, score),) = Forest(5).run(rows, bag, 7, [10])
    assert len(gathered) == 10
    for tree, _ in gathered:
        # Rows are drawn from the bag with repeats, as many as it has.
        assert tree.total[0, :3].sum() / tree.scale == pytest.approx(bag.sum())
        leaves = tree.node[:, 4] < 0
        assert tree.total[leaves, 3].min() >= 5
    share = np.mean([tree.total[:, :3].sum(axis=0) for tree, _ in gathered], axis=0)
    assert share.min() > 0
    assert_allclose(score.sum(axis=1), 1)
    assert len({tree.total[0, 0] for tree, _ in gathered}) > 1


@pytest.mark.parametrize(
    ("member", "n_classes"),
    [
        (Votes(1, 2.0), 2),
        (Votes(4, 2.0), 3),
        (Logits(4), 2),
        (Logits(4), 3),
        (Forest(1), 3),
        (Forest(10, max_features="1"), 2),
        (Forest(3, random_cuts=True), 3),
    ],
)
def test_trees_that_are_kept_give_the_scores(member, n_classes):
    X, y, rows = make_rows(n_classes=n_classes)
    bag = draw_half(y)
    rounds = [10] if isinstance(member, Forest) else [3, 20]
    *_, (_, in_stages) = member.run(rows, bag, 3, rounds)
    ((gathered, at_once),) = member.run(rows, bag, 3, rounds[-1:])
    assert_array_equal(in_stages, at_once)
    ensemble = TreeEnsemble.from_grown(
        [tree for tree, _ in gathered], n_classes, rows.binned.categories
    )
    score = np.tile(member.start(rows, bag), (y.size, 1))
    table = read_table(CARTClassifier(), X, None, reset=True)
    ensemble.add(
        table, np.concatenate([output for _, output in gathered]), score, n_threads=1
    )
    assert_allclose(score, at_once, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_no_pace_drops_a_trusted_row(n_classes):
    trusted = np.arange(240) % 3 == 0
    _, y, rows = make_rows(n_classes=n_classes)
    paces = Votes(1, 1.5).paces(rows, np.ones(240))
    given = DISCRETE, rows.codes, n_classes, np.ones(240), paces
    state, free = TrustingState(trusted, *given), State(*given)
    wrong = 2.0 * (rows.codes[:, None] != np.arange(n_classes)) - 1
    for each in (state, free):
        each.move_to(wrong[:, -each.n_outputs :])
    free.refresh(paced=False)
    state.refresh(paced=True)
    assert_array_equal(state.weight[0], np.where(trusted, free.weight[0], 0))
    assert state.n_selected == trusted.sum()
    assert not state.one_class
    alone = TrustingState(y == 0, *given)
    alone.move_to(wrong[:, -alone.n_outputs :])
    alone.refresh(paced=True)
    assert alone.one_class


def test_a_bag_of_one_class_teaches_nothing():
    _, y, rows = make_rows()
    bag = (y == 1).astype(float)
    for member in (Votes(1, 2.0), Logits(3)):
        for trees, score in member.run(rows, bag, 0, [1, 4]):
            assert not trees
            assert_allclose(score, np.tile(member.start(rows, bag), (240, 1)))


def test_rare_classes_get_a_higher_age():
    _, _, rows = make_rows()
    bag = np.where(rows.codes == 1, 0.1, 1.0)
    common, rare = Votes(1, 2.0).paces(rows, bag)
    assert rare.resolved_age > 2 > common.resolved_age


def test_without_a_pace_there_is_none():
    plateaus = {
        getattr(member, "plateau", np.inf) for member in pool.make_members(paced=False)
    }
    assert plateaus == {np.inf}
    with_pace = pool.make_members(paced=True)
    assert any(getattr(member, "plateau", np.inf) < np.inf for member in with_pace)


# ------------------------------------------------------------------------- the judging


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_the_factor_is_that_of_the_lowest_brier_score(n_outputs):
    rng = np.random.default_rng(0)
    score = 2 * rng.normal(size=(400, n_outputs))
    n_classes = max(2, n_outputs)
    weight = rng.uniform(0.5, 2, size=400)
    codes = rng.integers(0, n_classes, 400).astype(np.uint8)
    likely = score[:, 0] > 0 if n_outputs == 1 else score.argmax(axis=1)
    codes = np.where(rng.random(400) < 0.6, likely, codes).astype(np.uint8)
    factor, loss = pool.fit_factor(score, codes, weight)

    def losses(factor):
        if n_outputs == 1:
            upper = expit(2 * factor * score[:, 0])
            p = np.column_stack([1 - upper, upper])
        else:
            p = softmax(factor * score, axis=1)
        return 0.5 * ((p - np.eye(n_classes)[codes]) ** 2).sum(axis=1)

    best = minimize_scalar(
        lambda log: weight @ losses(np.exp(log)), bounds=(-4, 1), method="bounded"
    )
    assert factor == pytest.approx(np.exp(best.x), rel=1e-2)
    assert_allclose(loss, losses(factor), atol=1e-12)


def test_settings_are_weighed_by_random_draws():
    rng = np.random.default_rng(0)
    losses = rng.random((5, 300))
    losses[1] = losses[0] + 0.01  # never wins
    losses[4] = losses[3]  # the first of equals wins
    share = pool.bootstrap_weights(losses, np.ones(300), np.arange(300), rng)
    assert share.sum() == pytest.approx(1)
    assert share[1] == 0
    assert share[4] == 0
    assert np.count_nonzero(share) > 1  # they are all as good


def test_rows_of_one_unit_are_drawn_together():
    # Two settings, each right on half of the rows: by rows a draw, by units as well;
    # but of two units one always outweighs the other.
    losses = np.array([[0.0] * 50 + [1.0] * 50, [1.0] * 50 + [0.0] * 50])
    mixed = np.vstack([losses, np.full((1, 100), 0.45)])

    def weight_of_third(units):
        rng = np.random.default_rng(0)
        return pool.bootstrap_weights(mixed, np.ones(100), units, rng)[2]

    assert weight_of_third(np.arange(100)) > 0.4
    assert weight_of_third(np.repeat([0, 1], 50)) < 0.2


def draw_labels(p, rng):
    return (rng.random(len(p))[:, None] > p.cumsum(axis=1)).sum(axis=1)


def test_calibration_undoes_what_flattened_and_shifted_probabilities():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1, 1], size=5000)
    codes = draw_labels(p, rng)
    spoilt = p**0.5 * [1.0, 2.0, 0.4]
    spoilt /= spoilt.sum(axis=1, keepdims=True)
    found = belief.calibrate(spoilt, codes, np.ones(5000))
    assert found.exponent == pytest.approx(2, rel=0.1)
    assert_allclose(found.apply(spoilt), p, atol=0.04)
    assert_allclose(
        found.apply(spoilt).mean(axis=0), np.bincount(codes) / 5000, atol=0.01
    )


def test_calibration_is_the_most_likely_one():
    """Any other exponent or shift is worse, few rows for no change included."""
    rng = np.random.default_rng(1)
    p = rng.dirichlet([1, 1], size=400)
    codes, weight = (
        draw_labels(p**2 / (p**2).sum(axis=1)[:, None], rng),
        rng.random(400),
    )
    found = belief.calibrate(p, codes, weight)

    def loss(exponent, shift):
        q = softmax(exponent * np.log(p) + shift, axis=1)[np.arange(400), codes]
        return -weight @ np.log(q) + 0.5 * (np.log(exponent) ** 2 + shift @ shift)

    best = loss(found.exponent, found.shift)
    for step in ([0.05, 0], [0, 0.05], [-0.05, 0.02]):
        assert loss(found.exponent, found.shift + step) > best
    for factor in (0.97, 1.03):
        assert loss(found.exponent * factor, found.shift) > best


def test_calibration_claims_no_more_than_the_rows_can_show():
    p = np.tile([[0.01, 0.99], [0.99, 0.01]], (50, 1))
    codes = np.tile([1, 0], 50)
    found = belief.calibrate(p, codes, np.ones(100))
    assert found.apply(p).min() >= 0.5 / 102
    assert_allclose(found.apply(p).sum(axis=1), 1)
    nothing = belief.calibrate(np.full((3, 2), np.nan), codes[:3], np.ones(3))
    assert nothing.exponent == 1


def test_rare_classes_have_their_say():
    """A setting that finds them is worse on all rows together, and better by half."""
    rng = np.random.default_rng(0)
    codes = (np.arange(1000) % 10 == 0).astype(np.uint8)
    blind = np.full(1000, -1.1)  # half the log-odds of the shares
    finder = np.where((codes == 1) | (rng.random(1000) < 0.25), 0.5, -1.5)
    member = pool.make_members(paced=True)[0]
    settings = [pool.Setting(0, member, k) for k in range(2)]
    scores = np.stack([blind, finder])[:, :, None].astype(np.float32)
    bags = [pool.Bag(size, np.zeros(1000), {}) for size in range(len(pool.SHARES))]
    rows = rows_of(None, codes, 2, np.ones(1000))
    chosen, _ = pool.judge(rows, settings, scores, bags, rng)
    assert [setting.n_rounds for setting in chosen] == [1]
    fitted = [pool.fit_factor(score, codes, np.ones(1000)) for score in scores]
    losses = np.array([loss for _, loss in fitted])
    assert losses[0].mean() < losses[1].mean() - 0.02
    assert losses[0, codes == 1].mean() > losses[1, codes == 1].mean() + 0.5


@pytest.mark.parametrize("n_classes", [2, 4])
def test_belief_is_the_chance_that_a_label_is_right(n_classes):
    """Exactly, where the model knows both the classes and the rate of wrong labels."""
    rng = np.random.default_rng(1)
    of_class = rng.dirichlet(np.full(n_classes, 0.1), size=3000)
    of_class[:400] = np.eye(n_classes)[rng.integers(0, n_classes, 400)]
    rate = 0.2
    given = (1 - rate) * of_class + rate / (n_classes - 1) * (1 - of_class)
    codes = rng.integers(0, n_classes, 3000)
    trusted = np.arange(3000) % 11 == 0
    given[5] = np.nan
    found = belief.believe(given, codes, np.ones(3000), trusted)
    own = of_class[np.arange(3000), codes]
    right = (1 - rate) * own / ((1 - rate) * own + rate / (n_classes - 1) * (1 - own))
    told = trusted | (np.arange(3000) == 5)
    assert_allclose(found[~told], 0.5 + 0.5 * right[~told], atol=1e-9)
    assert (found[told] == 1).all()
    assert found.min() == pytest.approx(0.5)


def test_all_labels_are_believed_where_nothing_is_known():
    nothing = np.full((5, 2), np.nan)
    codes, trusted = np.zeros(5, dtype=int), np.zeros(5, dtype=bool)
    assert_array_equal(belief.believe(nothing, codes, np.ones(5), trusted), np.ones(5))
    even = np.full((5, 2), 0.5)  # nothing can be learnt from such labels
    assert np.isfinite(belief.believe(even, codes, np.ones(5), trusted)).all()


@pytest.mark.parametrize(
    ("given", "n_used"),
    [
        ((30, 5000, 2), [18, 23, 50]),
        ((30, 10_000, 2), [9, 11, 25]),
        ((30, 10**6, 2), [6, 8, 17]),
        ((30, 5000, 4), [9, 11, 25]),
        ((2, 100, 2), [2, 2, 3]),
    ],
)
def test_each_row_is_out_of_as_many_bags_of_each_size(given, n_used):
    assert pool.count_bags(*given) == n_used


@pytest.mark.parametrize("n_classes", [2, 3])
def test_out_of_bag_scores_are_means_over_the_bags_without_a_row(n_classes):
    weight = np.random.default_rng(0).uniform(0.5, 1.5, 240)
    _, y, rows = make_rows(n_classes=n_classes, weight=weight)
    forest, votes = members = [Forest(5), Votes(1, 2.0)]
    bags = [
        pool.Bag(size, draw_half(y, seed), {member: seed + 7 for member in members})
        for seed, size in enumerate([0, 0, 0, 1, 1, 1, 2])
    ]
    bags[6] = bags[6]._replace(weight=np.zeros(y.size))  # all rows are out of it
    settings = [
        pool.Setting(0, forest, 10, 0.5),
        pool.Setting(1, votes, 8, 0.3),
        pool.Setting(1, votes, 2, 0.2),
    ]
    mixture, found = pool.grow(rows, settings, bags, n_jobs=None, verbose=0)
    n_out, judging = pool.count_out(bags, y.size)
    assert_array_equal(judging, (n_out > 0).all(axis=0))
    total, known = np.zeros((y.size, n_classes)), np.zeros(y.size)
    factors = {}
    for setting in settings:
        member, score = setting.member, np.zeros((y.size, rows.n_outputs))
        for bag in bags:
            if bag.size == setting.size:
                seed, rounds = bag.seeds[member], [setting.n_rounds]
                _, of_bag = next(member.run(rows, bag.weight, seed, rounds))
                score[bag.weight == 0] += of_bag[bag.weight == 0]
        out = n_out[setting.size] > 0
        score[out] = member.scores(score[out] / n_out[setting.size][out, None])
        factor, _ = pool.fit_factor(score[judging], y[judging], weight[judging])
        factors[setting.weight] = factor
        total[out] += setting.weight * pool.probabilities(score[out], factor)
        known[out] += setting.weight
    with np.errstate(invalid="ignore"):
        assert_allclose(found, total / known[:, None], rtol=1e-4)
    stages = [stage for *_, stages in mixture.parts for stage in stages]
    assert [weight for _, _, weight in stages] == [0.5, 0.2, 0.3]
    for _, factor, weight in stages:
        assert factor == pytest.approx(factors[weight], rel=1e-3)


# ----------------------------------------------------------------------- the classifier


@pytest.fixture(scope="module")
def noisy():
    X, y = make_classification(
        500, 8, n_informative=4, class_sep=1.5, flip_y=0, random_state=0
    )
    y_noisy, flipped = flip_labels(y, 0.2, random_state=0)
    return X, y, y_noisy, flipped


@pytest.fixture(scope="module")
def fitted(noisy):
    X, _, y_noisy, _ = noisy
    return SPLForestClassifier(n_bags=8, random_state=0).fit(X, y_noisy)


def test_it_is_not_fooled(noisy, fitted):
    X, y, y_noisy, flipped = noisy
    assert fitted.score(X, y) > 0.93
    oob = fitted.classes_[fitted.oob_decision_function_.argmax(axis=1)]
    assert np.mean(oob == y) > 0.88
    assert fitted.oob_score_ == np.mean(oob == y_noisy)
    wrong = np.zeros(y.size, dtype=bool)
    wrong[flipped] = True
    assert average_precision_score(wrong, -fitted.label_quality_) > 0.8
    assert fitted.noise_rate_ == pytest.approx(0.2, abs=0.08)
    assert 0 < fitted.noise_rate_std_ < 0.1


def test_what_was_chosen(fitted):
    settings = fitted.settings_
    assert settings["weight"].sum() == pytest.approx(1)
    assert settings["weight"].is_monotonic_decreasing
    assert set(settings["kind"]) <= {"SPLBoost", "LogitBoost", "forest", "extra trees"}
    assert settings["oob_brier"].between(0, 0.25).all()
    assert set(settings["bag_share"]) <= set(pool.SHARES)


@pytest.mark.parametrize("library", [pd, pl])
@pytest.mark.parametrize(
    "members",
    [
        [Logits(3)],
        [Votes(1, np.inf), Logits(3), Forest(5)],
    ],
)
def test_columns_have_their_types_whatever_was_chosen(library, members, installed):
    installed.remove("polars" if library is pd else "pandas")
    clf = SPLForestClassifier()
    clf._describe([pool.Setting(0, member, 9, 0.25, 0.1) for member in members])
    table = clf.settings_
    assert isinstance(table, library.DataFrame)
    words, number, whole = pl.String, pl.Float64, pl.Int64
    if library is pd:
        words, number, whole = pd.Series(["a"]).dtype, "float64", "int64"
    assert {name: table[name].dtype for name in table.columns} == {
        "kind": words,
        "max_depth": number,
        "min_samples_leaf": number,
        "max_features": words,
        "plateau": number,
        "n_estimators": whole,
        "bag_share": number,
        "oob_brier": number,
        "weight": number,
    }
    for k, member in enumerate(members):
        for name in table.columns[:5]:
            value, expected = table[name][k], getattr(member, name, None)
            assert pd.isna(value) if expected is None else value == expected


def test_probabilities_are_means_over_settings_and_bags(noisy, fitted):
    """By hand, from the members' own runs."""
    X, _, y_noisy, _ = noisy
    clf = SPLForestClassifier(n_bags=3, random_state=1).fit(X, y_noisy)
    mixture = clf._mixture
    by_hand = np.zeros((X.shape[0], 2))
    table = read_table(CARTClassifier(), X, None, reset=True)
    for member, start, stages in mixture.parts:
        score = np.tile(start, (X.shape[0], 1))
        for model, factor, count in stages:
            model.trees.add(table, model.output, score, n_threads=1)
            p = expit(2 * factor * member.scores(score)[:, 0])
            by_hand += count * np.column_stack([1 - p, p])
    assert_allclose(clf.predict_proba(X), clf._calibration.apply(by_hand), atol=1e-9)
    assert sum(count for *_, stages in mixture.parts for _, _, count in stages) == (
        pytest.approx(1)
    )


def test_any_number_of_threads_gives_the_same(noisy):
    X, _, y_noisy, _ = noisy
    clf = SPLForestClassifier(n_bags=3, random_state=0).fit(X, y_noisy)
    again = clone(clf).set_params(n_jobs=2).fit(X, y_noisy)
    assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert_array_equal(again.oob_decision_function_, clf.oob_decision_function_)
    other = clone(clf).set_params(random_state=1).fit(X, y_noisy)
    assert not np.array_equal(other.predict_proba(X), clf.predict_proba(X))


def test_out_of_bag_means_that_no_row_of_the_group_was_seen():
    """Copies of a row under a random label: whoever has seen one knows the others."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(60, 3)), 6, axis=0)
    y = np.repeat(rng.integers(0, 2, 60), 6)
    groups = np.repeat(np.arange(60), 6)
    clf = SPLForestClassifier(n_bags=6, random_state=0)
    assert clf.fit(X, y).oob_score_ > 0.9
    assert clf.fit(X, y, groups=groups).oob_score_ < 0.7


def test_trusted_rows_are_believed(noisy):
    """The forest says more for wrong labels if it is told that they are right."""
    X, _, y_noisy, flipped = noisy
    strange = np.zeros(500, dtype=bool)
    strange[flipped] = True
    clf = SPLForestClassifier(n_bags=4, random_state=0)

    def trust(trusted):
        p = clf.fit(X, y_noisy, trusted=trusted).predict_proba(X)
        return p[np.arange(500), y_noisy][strange].mean()

    assert trust(strange) > trust(np.zeros(500, dtype=bool)) + 0.01


def test_trusted_labels_are_not_noise(noisy):
    X, _, y_noisy, _ = noisy
    clf = SPLForestClassifier(n_bags=2, random_state=0)
    assert clf.fit(X, y_noisy).noise_rate_ > 0
    for trusted in (
        pd.Series([True] * 500, dtype="boolean"),
        np.array([True, np.bool_(True)] * 250, dtype=object),
        pl.Series([True] * 500),
    ):
        assert clf.fit(X, y_noisy, trusted=trusted).noise_rate_ == 0


def estimate(probability, codes, trusted=None, weight=None, units=None):
    """Of two classes, from the probability of the second."""
    n = len(codes)
    return belief.estimate_noise(
        np.c_[1 - np.asarray(probability), probability],
        np.asarray(codes),
        np.zeros(n, dtype=bool) if trusted is None else trusted,
        np.ones(n) if weight is None else weight,
        np.arange(n) if units is None else units,
        np.random.default_rng(0),
    )


def test_noise_is_counted_among_the_surest_fifth():
    """A tenth of them is wrong; all others are, too, but nobody is sure of these."""
    sure, unsure = np.full(200, 0.95), np.full(400, 0.6)
    codes = np.r_[np.arange(200) % 10 != 0, np.zeros(400)].astype(int)
    rate, spread = estimate(np.r_[sure, unsure], codes)
    assert rate == pytest.approx(0.1)
    assert spread == pytest.approx(np.sqrt(0.1 * 0.9 / 200), rel=0.3)


def test_trusted_rows_say_nothing_of_the_noise_of_others():
    """30% of the untrusted half are wrong, though the trusted half is surer."""
    trusted = np.arange(1000) < 500
    probability = np.where(trusted, 0.99, 0.9)
    codes = np.where(trusted, 1, np.arange(1000) % 10 >= 3)
    rate, spread = estimate(probability, codes, trusted)
    assert rate == pytest.approx(0.15)
    assert 0 < spread < 0.05
    assert estimate(probability, codes)[0] == 0
    assert estimate(probability, codes, np.ones(1000, dtype=bool)) == (0.0, 0.0)


def test_a_hair_of_doubt_makes_no_difference():
    """Of rows that are alike, models are surer of those whose label is another."""
    codes = (np.arange(500) % 10 != 0).astype(int)
    probability = np.where(codes == 1, 0.900, 0.901)
    assert estimate(probability, codes)[0] == pytest.approx(0.1)


def test_no_more_than_half_of_two_classes_can_be_noise():
    codes = np.arange(500) % 10 < 2
    assert estimate(np.full(500, 0.9), codes.astype(int))[0] == pytest.approx(0.5)


def test_weights_and_units_count_in_the_noise():
    codes = (np.arange(500) % 10 != 0).astype(int)
    weight = np.where(codes == 1, 1.0, 9.0)
    assert estimate(np.full(500, 0.9), codes, weight=weight)[0] == pytest.approx(0.5)
    alone = estimate(np.full(500, 0.9), codes)[1]
    together = estimate(np.full(500, 0.9), codes, units=np.arange(500) // 50)[1]
    of_one = estimate(np.full(500, 0.9), codes, units=np.arange(500) % 10)[1]
    assert of_one > 3 * alone
    assert together > 0  # units alike do not vary, but there could be another
    assert estimate(np.full(500, 0.9), np.ones(500, dtype=int))[1] > 0


def test_a_rare_class_is_not_eaten():
    """7% of the rows, no wrong label."""
    X, y = make_classification(
        1500,
        8,
        n_informative=5,
        weights=[0.93],
        flip_y=0,
        class_sep=1.2,
        random_state=3,
    )
    train, test = np.arange(1500) < 900, np.arange(1500) >= 900
    options = {"n_bags": 4, "random_state": 0}
    recalls = []
    for paced in (True, False):
        clf = SPLForestClassifier(paced=paced, **options).fit(X[train], y[train])
        recalls.append(recall_score(y[test], clf.predict(X[test])))
        expected = clf.predict_proba(X[test])[:, 1].mean()
        assert expected == pytest.approx(y[test].mean(), abs=0.015)
    assert recalls[0] > 0.5
    assert recalls[0] > recalls[1] - 0.1


def test_classes_of_any_number_and_name():
    X, y = make_classification(
        450, 6, n_informative=5, n_redundant=0, n_classes=3, random_state=0
    )
    names = np.array(["ash", "birch", "cedar"])[y]
    clf = SPLForestClassifier(n_bags=4, random_state=0).fit(X, names)
    assert clf.classes_.tolist() == ["ash", "birch", "cedar"]
    assert clf.predict_proba(X).shape == (450, 3)
    assert_allclose(clf.predict_proba(X).sum(axis=1), 1)
    assert clf.score(X, names) > 0.85
    assert clf.oob_score_ > 0.6


def test_classes_of_one_row_are_judged_by_nobody(noisy):
    X, _, y_noisy, _ = noisy
    y = y_noisy.copy()
    y[:2] = 10, 11
    clf = SPLForestClassifier(n_bags=2, random_state=0)
    message = r"classes are in every bag \(10, 11\): nothing is judged"
    with pytest.warns(UserWarning, match=message):
        clf.fit(X, y)
    assert clf.classes_.tolist() == [0, 1, 10, 11]
    assert np.isnan(clf.label_quality_[:2]).all()
    assert np.isfinite(clf.label_quality_[2:]).all()


def test_no_warning_of_classes_that_do_not_count(noisy, recwarn):
    X, _, y_noisy, _ = noisy
    y = np.where(np.arange(500) % 7 == 0, 2, y_noisy)
    SPLForestClassifier(n_bags=2, class_weight={2: 0}, random_state=0).fit(X, y)
    assert not [w for w in recwarn if "every bag" in str(w.message)]


def test_frames_with_categories_and_missing_values(noisy):
    X, y, y_noisy, _ = noisy
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)])
    frame.loc[::7, "x0"] = np.nan
    frame["kind"] = pd.Categorical(np.where(y == 1, "up", "down"))
    clf = SPLForestClassifier(n_bags=4, random_state=0).fit(frame, y_noisy)
    assert clf.score(frame, y) > 0.98
    assert clf.feature_names_in_[-1] == "kind"
    assert clf.feature_importances_.argmax() == 8
    assert clf.feature_importances_.sum() == pytest.approx(1)
    other = pl.DataFrame(frame.drop(columns="kind")).with_columns(
        pl.Series("kind", frame["kind"].astype(str), dtype=pl.Categorical)
    )
    assert_array_equal(clf.predict(other), clf.predict(frame))


@pytest.mark.parametrize("most, least", [(1, 0), (1e10, 5e-324)])
def test_rows_of_weight_zero_do_not_exist(noisy, most, least):
    """Nor do those of which nothing is left beside the others."""
    X, _, y_noisy, _ = noisy
    weight = np.full(500, float(most))
    weight[::5] = least
    clf = SPLForestClassifier(n_bags=3, random_state=0)
    weighted = clone(clf).fit(X, y_noisy, weight)
    there = weight == most
    without = clone(clf).fit(X[there], y_noisy[there])
    assert_array_equal(weighted.predict_proba(X), without.predict_proba(X))
    assert np.isnan(weighted.label_quality_[::5]).all()
    assert_array_equal(weighted.label_quality_[there], without.label_quality_)


def test_a_weight_of_five_counts_as_five_copies_on_average():
    """The statistical version of scikit-learn's check; copies stay together."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(150, 3))
    y = (rng.random(150) < np.where(X[:, 0] > 0.5, 0.5, 0.2)).astype(int)
    weight = np.where((y == 1) & (X[:, 0] > 0.5), 5, 1)
    number = np.repeat(np.arange(150), weight)
    n_seeds = 4
    weighted, copied, plain = (np.zeros((n_seeds, 150)) for _ in range(3))
    for seed in range(n_seeds):
        clf = SPLForestClassifier(n_bags=4, random_state=seed)
        weighted[seed] = clf.fit(X, y, weight).predict_proba(X)[:, 1]
        plain[seed] = clf.fit(X, y).predict_proba(X)[:, 1]
        clf.fit(X[number], y[number], groups=number)
        copied[seed] = clf.predict_proba(X)[:, 1]
    p = [each.mean(axis=0)[X[:, 0] > 0.5].mean() for each in (weighted, copied, plain)]
    assert abs(p[0] - p[1]) < 0.2 * abs(p[2] - p[1])
    assert p[0] > p[2] + 0.15


def test_weights_have_no_unit(noisy):
    X, _, y_noisy, _ = noisy
    weight = np.random.default_rng(0).uniform(0.5, 2, 500)
    clf = SPLForestClassifier(n_bags=3, random_state=0)
    one = clf.fit(X, y_noisy, weight).predict_proba(X)
    assert_allclose(
        clf.fit(X, y_noisy, weight / 1024).predict_proba(X), one, atol=1e-12
    )


def test_class_weights_are_no_part_of_accuracy_and_noise(noisy):
    X, _, y_noisy, _ = noisy
    rare = np.flatnonzero((y_noisy == 0) | (np.arange(500) % 8 == 0))
    clf = SPLForestClassifier(n_bags=3, class_weight="balanced", random_state=0)
    clf.fit(X[rare], y_noisy[rare])
    right = clf.classes_[clf.oob_decision_function_.argmax(axis=1)] == y_noisy[rare]
    assert clf.oob_score_ == pytest.approx(right.mean())


def test_weights_of_classes_are_taken_back():
    """By Bayes' rule; a class of no weight has no say."""
    p = np.array([[0.2, 0.3, 0.5]])
    weighed = p * [1, 4, 2]
    weighed /= weighed.sum()
    assert_allclose(belief.unweigh(weighed, np.array([1.0, 4.0, 2.0])), p)
    two = belief.unweigh(np.array([[0.6, 0.4, 0.0]]), np.array([3.0, 1.0, 0.0]))
    assert_allclose(two, [[1 / 3, 2 / 3, 0]])
    assert belief.unweigh(p, None) is p


def test_class_weights_change_probabilities_but_not_what_labels_are_worth():
    X, y = make_classification(600, 6, weights=[0.85], class_sep=0.6, random_state=3)
    plain = SPLForestClassifier(n_bags=4, random_state=0).fit(X, y)
    weighed = clone(plain).set_params(class_weight={0: 1, 1: 6}).fit(X, y)
    rare = y == 1

    def of_rare(clf):
        return clf.oob_decision_function_[rare, 1].mean()

    change = of_rare(weighed) - of_rare(plain)

    assert change > 0.2
    worth = [clf.label_quality_[rare].mean() for clf in (plain, weighed)]
    assert abs(worth[1] - worth[0]) < 0.2 * change
    assert weighed.noise_rate_ == pytest.approx(plain.noise_rate_, abs=0.02)


def test_a_rows_own_label_is_no_part_of_its_score():
    """Its score is that of bags without it, whatever those with it have learned."""
    _, y, rows = make_rows()
    members = pool.make_members(paced=True)
    seeds = {member: k + 1 for k, member in enumerate(members)}
    bags = [
        pool.Bag(size, draw_half(y, seed=10 + size + 3 * k), seeds)
        for size in range(3)
        for k in range(2)
    ]
    out = np.flatnonzero(np.all([bag.weight == 0 for bag in bags[:2]], axis=0))[0]
    turned = y.copy()
    turned[out] = 1 - turned[out]
    scores = [
        pool.scout(each, members, bags, n_jobs=None, verbose=0)[1]
        for each in (rows, rows_of(rows.binned, turned, 2, rows.weight))
    ]
    per_size = len(scores[0]) // 3
    assert_array_equal(scores[0][:per_size, out], scores[1][:per_size, out])
    assert not np.array_equal(scores[0][per_size:], scores[1][per_size:])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"groups": [1, 2]}, r"groups is of shape \(2,\) for 500 rows"),
        ({"groups": [1, None] * 250}, "groups has missing entries"),
        ({"groups": [2.0**53, 1] * 250}, "groups holds 9007199254740992.0 as a float"),
        ({"groups": np.zeros(500)}, "groups has one group only, .* give more"),
        ({"trusted": np.ones(500)}, r"trusted is of shape \(500,\) and type float64"),
        ({"trusted": True}, r"trusted is of shape \(\)"),
        (
            {"trusted": pd.Series([True, None] * 250, dtype="boolean")},
            "trusted has missing entries; give True or False",
        ),
        ({"trusted": [True, 1] * 250}, r"trusted is of shape \(500,\) and type int"),
    ],
)
def test_errors_of_arguments(noisy, arguments, message, monkeypatch):
    """They come before anything is fitted."""
    X, _, y_noisy, _ = noisy
    monkeypatch.setattr("splboost.selection.forest.scout", None)
    clf = SPLForestClassifier(n_bags=2)
    with pytest.raises(ValueError, match=message):
        clf.fit(X, y_noisy, **arguments)
    assert not hasattr(clf, "classes_")


@pytest.mark.parametrize(
    "parameters",
    [{"n_bags": 1}, {"n_bags": 2.5}, {"paced": "no"}, {"class_weight": "some"}],
)
def test_errors_of_parameters(noisy, parameters):
    X, _, y_noisy, _ = noisy
    with pytest.raises(ValueError, match=next(iter(parameters))):
        SPLForestClassifier(**parameters).fit(X, y_noisy)


def test_bag_of_next_to_no_weight():
    """The scale of such weights would be infinite."""
    X, y = np.arange(12.0)[:, None] % 7, np.arange(12) % 2
    weight = np.where(np.arange(12) == 5, 1, 1e-300)
    for random_state in range(3):
        forest = SPLForestClassifier(n_bags=2, random_state=random_state)
        forest.fit(X, y, sample_weight=weight)
        assert np.isfinite(forest.predict_proba(X)).all()
