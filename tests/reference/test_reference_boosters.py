"""The references of AdaBoost's rivals against the properties that define them."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from reference import (
    BrownPotential,
    RobustPotential,
    brown_boost,
    gentle_boost,
    logit_boost,
    probability_learner,
    r_boost,
    real_boost,
    regression_learner,
    residual_scale,
    robust_boost,
    savage_boost,
    tree_learner,
    weighted_median,
)
from reference.margins import (
    MAX_CURVATURE,
    exponential,
    pace_margin,
    savage,
    savage2,
    savage2_curvature,
    savage2_log_weight,
    savage_log_weight,
)
from reference.potentials import solve_step
from reference.rivals import Paced, Step, Stop, run_columns, set_up

MARGINS = np.linspace(-8, 8, 161)
VARIANTS = ["one-sided", "two-sided"]
POTENTIALS = {
    "one-sided": RobustPotential(0.15, theta=0.2),
    "two-sided": RobustPotential(0.15, theta=0.2, variant="two-sided"),
    "brown": BrownPotential(0.3),
}
CLASSIFIERS = {  # name: booster, options, an age that the pace feels
    "real": (real_boost, {}, 1.5),
    "gentle": (gentle_boost, {}, 1.5),
    "logit": (logit_boost, {}, 1.2),
    "logit gradient": (logit_boost, {"z_clip": "gradient"}, 1.2),
    "logit unclipped": (logit_boost, {"z_max": np.inf}, 1.2),
    "savage": (savage_boost, {}, 0.5),
    "savage search": (savage_boost, {"line_search": True}, 0.5),
    "r gentle": (r_boost, {"variant": "gentle"}, 0.5),
    "r fisher": (r_boost, {"variant": "fisher"}, 0.5),
    "r mm": (r_boost, {"variant": "mm"}, 0.4),
    "r discrete": (r_boost, {"variant": "discrete"}, 0.5),
}
BY_COLUMN = [name for name in CLASSIFIERS if name[:4] not in ("real", "logi")]
POTENTIAL_BOOSTERS = {
    "one-sided": (robust_boost, {"epsilon": 0.15}),
    "two-sided": (robust_boost, {"epsilon": 0.15, "variant": "two-sided"}),
    "brown": (brown_boost, {"epsilon": 0.3}),
}
every_classifier = pytest.mark.parametrize("name", CLASSIFIERS)
every_potential = pytest.mark.parametrize("name", POTENTIALS)


def noisy_classes(n=60, n_classes=2, seed=0, flipped=0.1):
    """Classes cut along a line, some labels drawn at random; values repeat."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(1)
    score = X[:, 0] + 0.6 * X[:, 1]
    cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
    y = np.digitize(score, cuts)
    wrong = rng.random(n) < flipped
    return X, np.where(wrong, rng.integers(n_classes, size=n), y)


def long_servedio(n=800, seed=0):
    """The problem of Long and Servedio, a tenth of the labels wrong."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], size=n)
    X = np.repeat(y[:, None], 21, axis=1)
    kind = rng.choice(4, size=n)
    for i in range(n):
        if kind[i] == 1:
            X[i, 11:] *= -1
        elif kind[i] >= 2:
            X[i, rng.choice(11, size=6, replace=False)] *= -1
            X[i, 11 + rng.choice(10, size=4, replace=False)] *= -1
    clean = (y > 0).astype(int)
    return X, clean, np.where(rng.random(n) < 0.1, 1 - clean, clean)


# ------------------------------------------------------------------------------- losses


def test_savage_is_the_brier_score():
    p = 1 / (1 + np.exp(-2 * MARGINS))
    np.testing.assert_allclose(savage(MARGINS), (1 - p) ** 2)
    np.testing.assert_allclose(savage(-MARGINS), p**2)
    np.testing.assert_allclose(savage2(2 * MARGINS), savage(MARGINS))


@pytest.mark.parametrize(
    "loss, log_weight, peak",
    [
        (savage, savage_log_weight, -np.log(2) / 2),
        (savage2, savage2_log_weight, -np.log(2)),
    ],
)
def test_weight_is_the_slope_and_peaks_where_it_should(loss, log_weight, peak):
    h = 1e-5
    slope = (loss(MARGINS + h) - loss(MARGINS - h)) / (2 * h)
    np.testing.assert_allclose(np.exp(log_weight(MARGINS)), -slope, atol=1e-9)
    found = minimize_scalar(lambda m: -log_weight(m), bounds=(-3, 3), method="bounded")
    assert found.x == pytest.approx(peak, abs=1e-5)


def test_curvature_of_savage2():
    h = 1e-4
    second = (savage2(MARGINS + h) - 2 * savage2(MARGINS) + savage2(MARGINS - h)) / h**2
    np.testing.assert_allclose(savage2_curvature(MARGINS), second, atol=1e-6)
    fine = savage2_curvature(np.linspace(-10, 10, 200_001))
    assert fine.max() == pytest.approx(MAX_CURVATURE, abs=1e-9)
    assert pytest.approx(0.15406, abs=1e-5) == MAX_CURVATURE
    assert fine.min() == pytest.approx(-0.1202, abs=1e-4)
    assert savage2_curvature(-np.log(2)) == pytest.approx(0, abs=1e-15)
    assert savage2_curvature(0.4657) == pytest.approx(MAX_CURVATURE, abs=1e-8)


@pytest.mark.parametrize("scale, loss", [(2, exponential), (2, savage), (1, savage2)])
def test_columns_without_a_score_have_the_loss_of_margin_zero(scale, loss):
    y = np.array([0, 1, 2, 3])
    seen = loss(pace_margin(np.zeros((4, 4)), y, scale))
    np.testing.assert_allclose(seen, loss(0.0))


def test_pace_margin_has_the_odds_of_the_columns():
    F, y = np.random.default_rng(0).normal(size=(5, 3)), np.array([0, 1, 2, 0, 1])
    q = 1 / (1 + np.exp(-2 * F))
    own = (q / q.sum(axis=1, keepdims=True))[np.arange(5), y]
    odds = (1 - own) / own / 2
    seen = pace_margin(F, y, 2.0)
    np.testing.assert_allclose(exponential(seen), np.sqrt(odds))
    np.testing.assert_allclose(savage(seen), (odds / (1 + odds)) ** 2)


# --------------------------------------------------------------------------- potentials


@every_potential
def test_potential_starts_at_the_target(name):
    potential = POTENTIALS[name]
    assert potential.value(0.0, 0.0) == pytest.approx(potential.epsilon, abs=1e-14)


def test_robust_ends_at_its_goal():
    for variant in VARIANTS:
        potential = RobustPotential(0.1, 0.3, 0.2, variant)
        assert potential.mu(1.0) == pytest.approx(0.3)
        assert potential.sigma(1.0) == pytest.approx(0.2)


@every_potential
def test_weight_is_proportional_to_the_slope_of_the_potential(name):
    potential, h, t = POTENTIALS[name], 1e-6, 0.1
    rise = potential.value(MARGINS + h, t) - potential.value(MARGINS - h, t)
    weight = np.exp(potential.log_weight(MARGINS, t))
    ratio = -rise[weight > 1e-3] / weight[weight > 1e-3]
    np.testing.assert_allclose(ratio, ratio.mean(), rtol=1e-5)
    assert np.all(rise[weight == 0] == 0)


def test_two_sided_potential_solves_its_equation():
    potential, h = POTENTIALS["two-sided"], 1e-4
    for t in (0.1, 0.5, 0.9):
        m = np.linspace(-3, 3, 25)

        def value(dm, dt, m=m, t=t):
            return potential.value(m + dm, t + dt)

        in_time = (value(0, h) - value(0, -h)) / (2 * h)
        slope = (value(h, 0) - value(-h, 0)) / (2 * h)
        curvature = (value(h, 0) - 2 * value(0, 0) + value(-h, 0)) / h**2
        residual = in_time + (2 * potential.rho - m) * slope + curvature / 2
        np.testing.assert_allclose(residual, 0, atol=1e-5)


@pytest.mark.parametrize("name", POTENTIAL_BOOSTERS)
@pytest.mark.parametrize("seed", range(3))
def test_rounds_keep_the_potential_and_leave_no_edge(name, seed):
    booster, options = POTENTIAL_BOOSTERS[name]
    X, y = noisy_classes(seed=seed, flipped=0.4)
    omega = np.random.default_rng(seed).uniform(0.5, 2, size=len(y))
    model = booster(X, y, n_estimators=8, sample_weight=omega, **options)
    potential = (
        BrownPotential(**options) if name == "brown" else RobustPotential(**options)
    )
    assert len(model.F) >= 2
    for F, learner, details in zip(model.F, model.learners, model.details, strict=True):
        m, u = (2 * y - 1) * F, (2 * y - 1) * (2 * learner(X) - 1)
        weight = np.exp(potential.log_weight(m, details["t"]))
        average = omega @ potential.value(m, details["t"]) / omega.sum()
        assert abs(omega @ (weight * u)) < 1e-12 * len(y)
        assert average == pytest.approx(details["potential"] / omega.sum())
        if details["t"] < potential.end:
            assert average == pytest.approx(potential.epsilon, abs=1e-12)
        else:
            assert average < potential.epsilon
            assert model.stop_reason == "finished"
    if model.stop_reason == "finished":
        assert model.details[-1]["t"] > 0.999 * potential.end


@pytest.mark.parametrize("variant", VARIANTS)
def test_large_goal_is_reached_in_one_round(variant):
    X, y = noisy_classes()
    model = robust_boost(X, y, n_estimators=20, epsilon=0.4, variant=variant)
    assert (len(model.F), model.stop_reason) == (1, "finished")
    assert model.details[0]["t"] == 1.0


@pytest.mark.parametrize("name", POTENTIAL_BOOSTERS)
def test_small_goal_gets_stuck(name):
    booster, options = POTENTIAL_BOOSTERS[name]
    X = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0]])
    y = np.array([0, 0, 1, 1, 1, 0])
    options = {**options, "epsilon": 0.05}
    model = booster(X, y, n_estimators=50, **options)
    assert model.stop_reason in ("stuck", "no edge")
    assert model.details[-1]["t"] < 0.5


@pytest.mark.parametrize("name", POTENTIALS)
def test_a_hair_of_an_edge_is_stuck(name):
    m, u, omega = np.zeros(2), np.array([1.0, -1.0]), np.array([1.0001, 1.0])
    with pytest.raises(Stop, match="stuck"):
        solve_step(POTENTIALS[name], m, u, omega, 0.0, 2.0)


def test_the_score_decays():
    X, y = noisy_classes(flipped=0.4)
    model = robust_boost(X, y, n_estimators=4, epsilon=0.2)
    before, after, details = model.F[0], model.F[1], model.details[1]
    vote = 2 * model.learners[1](X) - 1
    expected = np.exp(-details["dt"]) * before + details["ds"] * vote
    np.testing.assert_allclose(after, expected)


def test_a_goal_without_a_positive_rho_is_refused():
    with pytest.raises(ValueError, match=r"epsilon=0\.6"):
        robust_boost(*noisy_classes(), n_estimators=1, epsilon=0.6, variant="two-sided")


# --------------------------------------------------------------------- forms that agree


@pytest.mark.parametrize("paced", [False, True])
@pytest.mark.parametrize("booster", [real_boost, logit_boost])
def test_two_columns_equal_one(booster, paced):
    X, y = noisy_classes()
    options = {"n_estimators": 12, "learning_rate": 0.7}
    if paced:
        options |= {"kind": "linear", "age": 2.0}
    one = booster(X, y, **options)
    two = booster(X, y, two_columns=True, **options)
    assert len(one.F) == 12
    for F, G, v, w in zip(one.F, two.F, one.v, two.v, strict=True):
        np.testing.assert_allclose(G, np.column_stack([-F, F]), atol=1e-9)
        np.testing.assert_allclose(v, w, atol=1e-9)
    assert (one.v[-1] < 1).any() == paced


@pytest.mark.parametrize("drawn", [False, True])
@pytest.mark.parametrize("name", [*BY_COLUMN, *POTENTIAL_BOOSTERS])
def test_each_class_is_boosted_against_the_rest(name, drawn):
    booster, options = (CLASSIFIERS | POTENTIAL_BOOSTERS)[name][:2]
    X, y = noisy_classes(n_classes=3, n=40)
    rng = np.random.default_rng(1)
    rows = [rng.permutation(40)[:25] for _ in range(4)] if drawn else None
    options = {"n_estimators": 4, "rows_per_round": rows, **options}
    model = booster(X, y, **options)
    for k in range(3):
        alone = booster(X, (y == k).astype(int), **options)
        np.testing.assert_array_equal(model.F[-1][:, k], alone.F[-1])
        fitted = [learners[k] for learners in model.learners]
        assert sum(learner is not None for learner in fitted) == len(alone.F)


def test_a_column_that_has_ended_is_left_alone():
    X, y = noisy_classes(n_classes=3)
    calls = []

    def make_step():
        n_learners = 0

        def step(y, F, v, rows, first):
            nonlocal n_learners
            n_learners += 1
            calls.append(int(y[0]))
            assert first == (n_learners == 1)
            if n_learners > 1 + 2 * y[0]:
                raise Stop("enough")
            return Step(lambda X: np.ones(len(X)))

        return step

    s = set_up(X, y, n_estimators=9)
    model = run_columns(s, make_step, Paced(s, lambda F: np.zeros(len(y))))
    expected = np.where(np.arange(3) == y[0], 3.0, 1.0)
    np.testing.assert_array_equal(model.F[-1], np.tile(expected, (60, 1)))
    assert (len(model.F), model.stop_reason) == (3, "enough")
    assert (calls.count(0), calls.count(1)) == (4, 4)


@pytest.mark.parametrize("name", BY_COLUMN)
def test_columns_share_a_pace_that_sees_their_odds(name):
    booster, options, age = CLASSIFIERS[name]
    X, y = noisy_classes(n=90, n_classes=3, flipped=0.3)
    model = booster(X, y, n_estimators=8, kind="linear", age=age, **options)
    q = 1 / (1 + np.exp(-(1 if booster is r_boost else 2) * model.F[-1]))
    own = q[np.arange(90), y] / q.sum(axis=1)
    odds = (1 - own) / own / 2
    loss = np.sqrt(odds) if booster is gentle_boost else (odds / (1 + odds)) ** 2
    np.testing.assert_allclose(model.v[-1], np.maximum(0, 1 - loss / age), atol=1e-12)
    assert len(np.unique(model.v[-1])) > 2


# -------------------------------------------------------------------------- every rival


@every_classifier
def test_pace_acts_after_the_warm_rounds(name):
    booster, options, age = CLASSIFIERS[name]
    X, y = noisy_classes(n=100, flipped=0.3)
    options = {**options, "n_estimators": 8}
    plain = booster(X, y, **options)
    paced = booster(X, y, kind="hard", age=age, warm_rounds=4, **options)
    for F, G in zip(plain.F[:4], paced.F[:4], strict=True):
        np.testing.assert_array_equal(F, G)
    assert all((v == 1).all() for v in paced.v[:3])
    assert (paced.v[3] == 0).any()
    assert np.abs(plain.F[4] - paced.F[4]).max() > 1e-6


FITTING_WEIGHTS = {  # name: the weight as a function of m = yF
    "real": lambda m: np.exp(-m),
    "gentle": lambda m: np.exp(-m),
    "logit": lambda m: 1 / np.cosh(m) ** 2,
    "savage": lambda m: np.exp(2 * m) / (1 + np.exp(2 * m)) ** 3,
    "r gentle": lambda m: np.exp(m) / (1 + np.exp(m)) ** 3,
    "r fisher": lambda m: 1 / np.cosh(m / 2) ** 4,
    "r mm": np.ones_like,
    "r discrete": lambda m: np.exp(m) / (1 + np.exp(m)) ** 3,
}


@pytest.mark.parametrize("name", FITTING_WEIGHTS)
def test_learner_gets_the_weights_of_the_booster(name):
    booster, options, _ = CLASSIFIERS[name]
    X, y = noisy_classes()
    omega = np.random.default_rng(0).uniform(0.5, 2, size=60)
    if booster in (real_boost, savage_boost):
        fit = probability_learner(max_depth=1)
    elif name == "r discrete":
        fit = tree_learner(max_depth=1)
    else:
        fit = regression_learner(max_depth=1)
    seen = []

    def weak(X, target, D):
        seen.append(D)
        return fit(X, target, D)

    model = booster(
        X, y, n_estimators=3, sample_weight=omega, weak=weak, kind="linear",
        age=10.0, warm_rounds=1, **options,
    )  # fmt: skip
    D = omega * model.v[1] * FITTING_WEIGHTS[name]((2 * y - 1) * model.F[1])
    np.testing.assert_allclose(seen[2], D * omega.sum() / D.sum())


@every_classifier
def test_drawn_rows_alone_shape_the_learner(name):
    booster, options, _ = CLASSIFIERS[name]
    X, y = noisy_classes()
    rows = [np.arange(0, 60, 2)]
    whole = booster(X, y, n_estimators=1, rows_per_round=rows, **options)
    flipped = y.copy()
    flipped[1:20:2] = 1 - flipped[1:20:2]
    other = booster(X, flipped, n_estimators=1, rows_per_round=rows, **options)
    values = [m.learners[0](X) for m in (whole, other)]
    np.testing.assert_array_equal(*values)


# ---------------------------------------------------------------------- single boosters


def test_real_boost_takes_half_log_odds_of_the_leaves():
    X, y = np.array([[0.0], [0], [0], [0], [1], [1]]), np.array([0, 0, 0, 1, 1, 1])
    model = real_boost(X, y, n_estimators=1)
    assert model.F[0][0] == pytest.approx(np.log((1 / 4) / (3 / 4)) / 2)
    assert model.F[0][5] == pytest.approx(np.log((5 / 6) / (1 / 6)) / 2)  # clipped


def test_samme_r_clips_and_centres():
    X, y = np.array([[0.0], [0], [1], [1], [1]]), np.array([0, 1, 2, 2, 2])
    model = real_boost(X, y, n_estimators=1)
    log_p = np.log([1 / 5, 1 / 5, 3 / 5])
    np.testing.assert_allclose(model.F[0][4], 2 * (log_p - log_p.mean()))


def test_gentle_boost_takes_the_mean_label_of_the_leaves():
    X, y = np.array([[0.0], [0], [0], [0], [1], [1]]), np.array([0, 0, 0, 1, 1, 1])
    model = gentle_boost(X, y, n_estimators=2)
    assert model.F[0][0] == pytest.approx(-0.5)
    w = np.exp([-0.5, 0.5])  # the right and the wrong rows of the left leaf
    expected = -0.5 + (-3 * w[0] + w[1]) / (3 * w[0] + w[1])
    assert model.F[1][0] == pytest.approx(expected)


def test_no_edge_adds_nothing():
    X, y = np.array([[0.0], [0], [1], [1]]), np.array([0, 1, 0, 1])
    for booster, options, _ in CLASSIFIERS.values():
        model = booster(X, y, n_estimators=5, **options)
        assert model.stop_reason == "no edge"
        assert len(model.F) == (booster is logit_boost)


def test_ten_drawn_rounds_without_edge_end_the_run():
    X, y = np.array([[0.0], [0], [1], [1]]), np.array([0, 1, 1, 1])
    without, with_edge = np.array([0, 1]), np.arange(4)
    for n_before, n_learners in ((9, 1), (10, 0)):
        rows = [without] * n_before + [with_edge] + [without] * 20
        model = gentle_boost(X, y, n_estimators=31, rows_per_round=rows)
        assert (len(model.F), model.stop_reason) == (n_learners, "no edge")


def test_selected_rows_of_one_class_end_the_run():
    X, y = noisy_classes()
    model = gentle_boost(
        X, y, n_estimators=9, kind="hard", age=[1e-9, np.inf], warm_rounds=2
    )
    assert (len(model.F), model.stop_reason) == (2, "one class")


def test_no_selected_row_ends_the_run():
    X, y = noisy_classes()
    model = gentle_boost(X, y, n_estimators=9, kind="hard", age=1e-9, warm_rounds=2)
    assert (len(model.F), model.stop_reason) == (2, "no sample selected")


def test_clipping_keeps_the_response_or_the_gradient():
    """One misfit in a leaf of 19: its response is clipped from 20 to 4."""
    X, y = np.zeros((20, 1)), np.r_[np.ones(1, int), np.zeros(19, int)]
    F = {}
    for z_clip in ("response", "gradient"):
        model = logit_boost(X, y, n_estimators=60, z_clip=z_clip)
        F[z_clip] = model.F[-1][0]
    assert F["gradient"] == pytest.approx(np.log(1 / 19) / 2, abs=1e-3)
    assert F["response"] < F["gradient"] - 0.1


def test_savage_line_search_lowers_the_loss():
    X, y = noisy_classes()
    model = savage_boost(X, y, n_estimators=12, line_search=True)
    assert np.all(np.diff(model.latent) < 0)
    alphas = {details["alpha"] for details in model.details}
    assert alphas <= set(2.0 ** np.arange(-6, 2))
    assert len(alphas) > 1


def test_savage_line_search_may_double_a_timid_step():
    X, y = noisy_classes()

    def weak(X, y, D):
        return lambda X: np.where(X[:, :1] > 0, [0.4, 0.6], [0.6, 0.4])

    model = savage_boost(X, y, n_estimators=1, line_search=True, weak=weak)
    assert model.details[0]["alpha"] == 2.0


@pytest.mark.parametrize("variant", ["gentle", "fisher", "mm"])
def test_r_boost_fits_a_leaf_as_the_formulas_say(variant):
    X, t = np.zeros((20, 1)), np.r_[1, np.zeros(19, int)]
    F, y = 0.0, 2 * t - 1
    for G in r_boost(X, t, n_estimators=12, variant=variant).F:
        p, e = 1 / (1 + np.exp(-F)), np.exp(y * F)
        slope = 2 * e / (1 + e) ** 3
        target, weight = {
            "gentle": (y, slope),
            "fisher": (np.clip((t - p) / (p * (1 - p)), -4, 4), (p * (1 - p)) ** 2),
            "mm": (slope * y / MAX_CURVATURE, 1.0),
        }[variant]
        F = F + np.average(target, weights=weight * np.ones(20))
        np.testing.assert_allclose(G, F, rtol=1e-6)


def test_r_boost_takes_the_best_alpha():
    X, y = noisy_classes()
    model = r_boost(X, y, n_estimators=3, variant="discrete")
    sign = 2 * y - 1
    u = sign * (2 * model.learners[2](X) - 1)
    grid = np.linspace(0, 2, 20_001)
    losses = savage2(sign * model.F[1] + np.outer(grid, u)).sum(axis=1)
    assert model.details[2]["alpha"] == pytest.approx(grid[losses.argmin()], abs=1e-4)


def test_r_boost_ends_without_weight():
    X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    model = r_boost(X, y, n_estimators=100, variant="gentle")
    weight = [np.exp(savage2_log_weight((2 * y - 1) * F)).mean() for F in model.F]
    assert model.stop_reason == "no weight"
    assert weight[-1] < 1e-6 <= weight[-2]


# --------------------------------------------------------------------------- regression


def test_weighted_median_is_the_lower_one():
    values = np.array([4.0, 1, 3, 2])
    assert weighted_median(values, np.ones(4)) == 2
    assert weighted_median(values, np.array([1.0, 1, 1, 0])) == 3
    assert weighted_median(values, np.array([5.0, 1, 1, 1])) == 4
    assert residual_scale(values, np.ones(4)) == pytest.approx(1.4826)


# ------------------------------------------------------------------------ known results


@pytest.mark.parametrize(
    "name, is_fooled",
    [
        ("real", True),
        ("logit gradient", True),
        ("logit", False),
        ("savage", False),
        ("r fisher", False),
        ("r discrete", False),
    ],
)
def test_long_servedio_fools_the_convex_boosters_only(name, is_fooled):
    booster, options, _ = CLASSIFIERS[name]
    X, clean, y = long_servedio()
    model = booster(X, y, n_estimators=200, **options)
    error = np.mean((model.F[-1] > 0) != clean)
    assert error > 0.2 if is_fooled else error < 0.05
