"""The regularisers against their definition: argmin, integral, conjugate."""

import math
import pickle
import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import GridSearchCV

from splboost.pace import (
    DEFAULT_PLATEAU,
    Hard,
    Linear,
    Logarithmic,
    Mixture,
    Pace,
    Polynomial,
    check_pace,
    resolve_pace,
)

INF = math.inf
BUILT_IN = [Hard, Linear, Polynomial, Mixture, Logarithmic]
HUBER = Mixture(age=INF, gamma=0.7)
PACES = [
    Hard(age=2.0),
    Linear(age=3.0),
    Polynomial(age=6.0),
    Polynomial(age=3.0, t=4.0),
    Mixture(age=2.0),
    Mixture(age=2.0, gamma=0.6),
    Mixture(age=2.0, gamma=5.0),
    Logarithmic(age=4.0),
    Logarithmic(age=0.8, zeta=0.2),  # the literature's form: age = 1 - zeta
    *[kind() for kind in BUILT_IN],
]
every_pace = pytest.mark.parametrize("pace", PACES, ids=repr)
every_kind = pytest.mark.parametrize("kind", BUILT_IN)


def cut(pace):
    """The loss from which nothing is believed."""
    age = pace.resolved_age
    return age**2 if isinstance(pace, Mixture) else age


def paper_penalty(pace, v):
    """f of the SP-regularisers as the literature writes it, at the resolved age."""
    age = pace.resolved_age
    if isinstance(pace, Hard):
        return -age * v
    if isinstance(pace, Linear):
        return age * (v**2 / 2 - v)
    if isinstance(pace, Polynomial):
        return age * (v**pace.t / pace.t - v)
    if isinstance(pace, Mixture):
        gamma = pace.gamma or age
        return gamma**2 / (v + gamma / age)
    zeta = pace.zeta
    return age / (1 - zeta) * (zeta * v - zeta**v / np.log(zeta))


# -- weight, penalty and latent loss belong together ---------------------------------


@every_pace
def test_penalty_is_that_of_the_paper(pace):
    v = np.linspace(0, 1, 101)
    np.testing.assert_allclose(pace.penalty(v), paper_penalty(pace, v), rtol=1e-13)


@every_pace
def test_weight_is_the_argmin(pace):
    v = np.linspace(0, 1, 20001)
    f = paper_penalty(pace, v)
    for loss in cut(pace) * np.array([0, 1e-3, 0.05, 0.2, 0.26, 0.5, 0.8, 0.99, 1.3]):
        best = v[np.argmin(v * loss + f)]
        assert pace.weight(loss) == pytest.approx(best, abs=2.6e-5)


@every_pace
def test_latent_is_the_least_cost_and_the_integral(pace):
    v = np.linspace(0, 1, 20001)
    f = paper_penalty(pace, v)
    kinks = {cut(pace)}
    if isinstance(pace, Mixture):
        age, gamma = pace.resolved_age, pace.gamma or pace.resolved_age
        kinks.add((age * gamma / (age + gamma)) ** 2)
    for loss in cut(pace) * np.array([1e-6, 0.05, 0.3, 0.8, 1.0, 1.7]):
        inside = sorted(k for k in kinks if k < loss)
        ends = [0.0, *inside, loss]
        integral = sum(
            quad(pace.weight, a, b, epsabs=1e-13, epsrel=1e-12)[0]
            for a, b in pairwise(ends)
        )
        assert pace.latent(loss) == pytest.approx(integral, rel=1e-9)
        least = np.min(v * loss + f) - f.min()
        assert pace.latent(loss) == pytest.approx(least, abs=1e-6 * cut(pace))


@every_pace
def test_numerical_fallbacks_agree_with_the_formulas(pace):
    loss = cut(pace) * np.concatenate([[0], np.geomspace(1e-8, 1e3, 60)])
    np.testing.assert_allclose(Pace.latent(pace, loss), pace.latent(loss), rtol=1e-9)
    v = np.linspace(0, 1, 21)
    np.testing.assert_allclose(
        Pace.penalty(pace, v), pace.penalty(v) - pace.penalty(1.0), atol=1e-9
    )
    assert Pace.peak(pace) == pytest.approx(pace.peak(), rel=1e-6)
    assert Pace.resolved_plateau.fget(pace) == pytest.approx(pace.resolved_plateau)


@every_pace
def test_nothing_is_believed_from_the_cut_on(pace):
    # The root of a rounded square may lie a digit below the age.
    edge = cut(pace) * (1 + 4e-16) if isinstance(pace, Mixture) else cut(pace)
    assert np.all(pace.weight([edge, 2 * edge, INF]) == 0)
    assert np.all(pace.weight([0.0, cut(pace) * (1 - 1e-6)]) > 0)
    assert pace.weight(0.0) == 1


def test_families():
    loss = np.geomspace(1e-3, 30, 200)
    for method in ("weight", "latent"):
        linear = getattr(Linear(age=3.0), method)(loss)
        np.testing.assert_allclose(
            getattr(Polynomial(age=3.0, t=2.0), method)(loss), linear, atol=1e-15
        )
        # Near 1, zeta bends the ramp no more.
        nearly = getattr(Logarithmic(age=3.0, zeta=0.999), method)(loss)
        np.testing.assert_allclose(nearly, linear, atol=1e-3)
        cliff = getattr(Polynomial(age=3.0, t=1e9), method)(loss)
        np.testing.assert_allclose(cliff, getattr(Hard(age=3.0), method)(loss), 1e-7)


def test_shapes_of_the_paper():
    # lowerconvex lies below the linear ramp with exponent 10/3, upperconvex above, 1/3
    assert Polynomial(age=1.0).weight(0.5) == pytest.approx(0.5 ** (10 / 3))
    assert Polynomial(age=1.0, t=4).weight(0.5) == pytest.approx(0.5 ** (1 / 3))
    c = 4.685
    residual = np.linspace(0, 6, 50)
    tukey = np.where(residual < c, (1 - (residual / c) ** 2) ** 2, 0.0)
    biweight = Polynomial(age=c**2 / 2, t=1.5).weight(residual**2 / 2)
    np.testing.assert_allclose(biweight, tukey, atol=1e-15)


# -- the two scales -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pace", "age"),
    [
        (Hard(plateau=2.0), 2.0),
        (Linear(plateau=2.0), 4.0),
        (Polynomial(plateau=2.0, t=1.3), 2.0 * 1.3 / 0.3),
        (Polynomial(plateau=2.0, t=4), 8 / 3),
        (Mixture(plateau=2.0), 2.0),
        (Mixture(plateau=2.0, gamma=0.5), 2 + math.sqrt(6)),
        (
            Logarithmic(plateau=2.0),
            2 * 0.9 / (0.9 / abs(math.log(0.1)) - 0.1),
        ),
    ],
    ids=repr,
)
def test_age_of_a_plateau(pace, age):
    assert pace.resolved_plateau == 2.0
    assert pace.resolved_age == pytest.approx(age, rel=1e-14)
    back = clone(pace).set_params(age=age, plateau=None)
    assert back.resolved_age == age
    assert back.resolved_plateau == pytest.approx(2.0, rel=1e-14)
    np.testing.assert_allclose(back.weight([0.3, 1, 3]), pace.weight([0.3, 1, 3]))


@every_kind
def test_default_plateau(kind):
    assert DEFAULT_PLATEAU == 2.0
    assert kind().resolved_plateau == 2.0
    assert not kind().is_off


@pytest.mark.parametrize(
    ("pace", "peak"),
    [
        (Hard(age=3.0), 3.0),
        (Linear(age=3.0), 1.5),
        (Polynomial(plateau=2.0), 2.0),
        (Polynomial(age=4.0, t=4), 3.0),
        (Mixture(plateau=2.0), 1.0),
        (Mixture(age=2.0, gamma=6.0), 2.25),  # the end of full belief, above age²/4
        (Mixture(age=2.0, gamma=0.5), 1.0),
        (HUBER, INF),
    ],
    ids=repr,
)
def test_peak(pace, peak):
    assert pace.peak() == pytest.approx(peak, rel=1e-14)
    assert Pace.peak(pace) == pytest.approx(peak, rel=1e-6)


def test_peak_logarithmic():
    assert Logarithmic(plateau=2.0).peak() / 2 == pytest.approx(1.23, abs=0.005)


@every_kind
def test_infinite_plateau_is_off(kind):
    loss = np.array([0, 1e-300, 0.5, 1e300, INF])
    paces = [kind(plateau=INF), kind(age=INF)]
    if kind is Mixture:
        paces.append(Mixture(plateau=INF, gamma=0.1))
    if kind is Logarithmic:
        paces.append(Logarithmic(plateau=INF, zeta=0.9))
    for pace in paces:
        assert pace.is_off
        assert pace.weight(loss).tobytes() == np.ones(5).tobytes()
        latent = pace.latent(loss)
        assert latent.tobytes() == loss.tobytes()
        assert latent is not loss
        assert pace.peak() == pace.resolved_age == pace.resolved_plateau == INF
        np.testing.assert_array_equal(pace.penalty([0, 0.5, 1]), [INF, INF, 0])


def test_mixture_without_a_cut_is_huber():
    loss = np.array([0, 0.3, 0.49, 1.0, 4.0, 1e300, INF])
    root = np.sqrt(loss)
    assert not HUBER.is_off
    assert HUBER.resolved_plateau == INF
    expected = np.where(loss <= 0.49, 1, 0.7 / np.maximum(root, 0.7))
    np.testing.assert_allclose(HUBER.weight(loss), expected, rtol=1e-15)
    latent = np.where(loss <= 0.49, loss, 1.4 * root - 0.49)
    np.testing.assert_allclose(HUBER.latent(loss), latent, rtol=1e-14)
    np.testing.assert_allclose(HUBER.penalty([0, 0.5, 1]), [INF, 0.98, 0.49])


# -- inputs and outputs ---------------------------------------------------------------


@pytest.mark.parametrize("pace", [*PACES, HUBER, Hard(plateau=INF)], ids=repr)
def test_no_warning_at_any_loss(pace):
    loss = np.array([0, 5e-324, 1e-300, 1e-10, 1.0, 1e10, 1e300, INF])
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        weight, latent = pace.weight(loss), pace.latent(loss)
        penalty = pace.penalty([0, 5e-324, 0.5, 1])
        Pace.latent(pace, loss)
        Pace.penalty(pace, [0, 0.5, 1])
    assert np.all((weight >= 0) & (weight <= 1))
    assert np.all(np.diff(weight) <= 0)
    assert np.all(np.diff(latent) >= 0)
    assert np.all(latent <= loss * (1 + 1e-15))
    np.testing.assert_allclose(latent[2:4], loss[2:4], rtol=1e-9)
    assert not np.isnan(penalty).any()


@pytest.mark.parametrize("pace", [*PACES, Linear(plateau=INF)], ids=repr)
@pytest.mark.parametrize("method", ["weight", "latent", "penalty"])
def test_shape_and_type(pace, method):
    call = getattr(pace, method)
    values = np.array([[0.0, 0.25, 1.0], [0.5, 0.125, 0.75]], dtype=np.float32)
    out = call(values)
    assert out.shape == (2, 3)
    assert out.dtype == np.float64
    np.testing.assert_array_equal(call(values.tolist()), out)
    single = call(0.125)
    assert isinstance(single, np.float64)
    assert single == pytest.approx(out[1, 1], rel=1e-15)
    assert isinstance(call(np.array(1)), np.float64)
    assert call([]).shape == (0,)


def test_inputs_are_left_alone():
    for pace in [*PACES, Linear(plateau=INF)]:
        values = np.linspace(0, 1, 11)
        for method in ("weight", "latent", "penalty"):
            getattr(pace, method)(values)
            np.testing.assert_array_equal(values, np.linspace(0, 1, 11))


@pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan])
def test_penalty_wants_v_in_the_unit_interval(bad):
    with pytest.raises(ValueError, match=r"v must lie in \[0, 1\].*clip"):
        Hard().penalty([0.5, bad])


# -- properties -----------------------------------------------------------------------

ages = st.floats(1e-3, 1e3)
losses = st.floats(0, allow_nan=False, allow_infinity=True)


@st.composite
def shaped(draw):
    """Any regulariser, without its age."""
    kind = draw(st.sampled_from(BUILT_IN))
    shape = {
        Polynomial: {"t": draw(st.floats(1.01, 50))},
        Mixture: {"gamma": draw(st.none() | st.floats(1e-2, 1e2))},
        Logarithmic: {"zeta": draw(st.floats(1e-6, 0.99))},
    }
    return kind(**shape.get(kind, {}))


@given(shaped(), ages, losses, losses)
def test_weight_falls_with_the_loss(pace, age, a, b):
    pace.set_params(age=age)
    near, far = pace.weight(sorted([a, b]))
    assert 0 <= far <= near <= 1


@given(shaped(), ages, ages, losses)
def test_weight_grows_with_the_age(pace, a, b, loss):
    young, old = sorted([a, b])
    before = pace.set_params(age=young).weight(loss)
    assert before <= pace.set_params(age=old).weight(loss) + 1e-12


@given(shaped(), ages, losses, losses)
def test_latent_is_concave_between_zero_and_the_plateau(pace, age, a, b):
    pace.set_params(age=age)
    near, far = sorted([a, b])
    low, high = pace.latent([near, far])
    slack = 1e-9 * pace.resolved_plateau
    assert 0 <= low <= high + slack <= pace.resolved_plateau + 2 * slack
    if far < INF:  # it lies below each of its tangents
        assert high <= low + pace.weight(near) * (far - near) + slack


@given(shaped(), st.floats(1e-2, 1e4))
def test_plateau_there_and_back(pace, plateau):
    age = pace.set_params(plateau=plateau).resolved_age
    back = clone(pace).set_params(plateau=None, age=age)
    assert back.resolved_plateau == pytest.approx(plateau, rel=1e-9)


# -- parameters and errors ------------------------------------------------------------


def test_parameters():
    shared = {"age": None, "plateau": None, "prior_corrected": False}
    assert Hard().get_params() == Linear().get_params() == shared
    assert Polynomial().get_params() == {**shared, "t": 1.3}
    assert Mixture().get_params() == {**shared, "gamma": None}
    assert Logarithmic().get_params() == {**shared, "zeta": 0.1}
    pace = Polynomial(age=3.0, t=4, prior_corrected=True)
    for copy in (clone(pace), pickle.loads(pickle.dumps(pace))):
        assert copy is not pace
        expected = {"age": 3.0, "plateau": None, "t": 4, "prior_corrected": True}
        assert copy.get_params() == expected
    assert repr(Mixture(2.0, gamma=0.5)) == "Mixture(age=2.0, gamma=0.5)"
    assert pace.set_params(age=None, plateau=6.0).resolved_age == pytest.approx(8.0)
    with pytest.raises(TypeError):
        Hard(1.0, 2.0)


def test_grid_search_over_the_age():
    class Holder(ClassifierMixin, BaseEstimator):
        def __init__(self, pace=None):
            self.pace = pace

        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def score(self, X, y):
            return -abs(self.pace.resolved_age - 3.0)

    grid = {"pace__age": [1.0, 3.0, 5.0]}
    search = GridSearchCV(Holder(Linear()), grid, cv=2).fit(np.ones((8, 1)), [0, 1] * 4)
    assert search.best_params_ == {"pace__age": 3.0}


@every_kind
def test_both_scales_is_an_error(kind):
    pace = kind(age=2.0, plateau=3.5)  # the constructor stores only
    with pytest.raises(ValueError, match=r"age=2\.0 and plateau=3\.5; set one to None"):
        pace.weight(1.0)
    with pytest.raises(ValueError, match=kind.__name__):
        resolve_pace(pace)


BAD = [
    *[(kind, {name: bad}) for kind in BUILT_IN for name in ("age", "plateau")
      for bad in (0, -1.5, math.nan, -INF, "2", True, [2.0])],
    *[(Polynomial, {"t": bad}) for bad in (1, 0.5, INF, math.nan, None, "2")],
    *[(Mixture, {"gamma": bad}) for bad in (0, -1.0, INF, math.nan, "age", False)],
    *[(Mixture, {"age": INF, "gamma": -1.0}), (Mixture, {"plateau": INF, "gamma": 0})],
    *[(Logarithmic, {"zeta": bad}) for bad in (0, 1, -0.1, 2.0, math.nan, None)],
]  # fmt: skip


@pytest.mark.parametrize(("kind", "params"), BAD)
def test_bad_values(kind, params):
    name, bad = list(params.items())[-1]
    pace = kind(**params)
    is_number = isinstance(bad, (int, float)) and not isinstance(bad, bool)
    for use in (lambda: pace.weight(1.0), pace.peak, lambda: resolve_pace(pace)):
        with pytest.raises(ValueError if is_number else TypeError) as caught:
            use()
        message = str(caught.value)
        assert message.startswith(f"{kind.__name__}: {name} must be a ")
        assert f"got {name}={bad!r}; " in message


@every_kind
@pytest.mark.parametrize("bad", [None, 1, "yes"])
def test_prior_corrected_is_a_boolean(kind, bad):
    pace = kind(prior_corrected=bad)
    message = f"{kind.__name__}: prior_corrected must be True or False, got .*{bad!r}"
    for use in (lambda: pace.weight(1.0), lambda: resolve_pace(pace)):
        with pytest.raises(TypeError, match=message):
            use()


@pytest.mark.parametrize("age", [2, np.float32(2), np.int64(2), np.float64(2)])
def test_any_real_number_will_do(age):
    np.testing.assert_array_equal(Linear(age=age).weight([1.0, 1.5]), [0.5, 0.25])
    assert type(Linear(age=age).resolved_age) is float


def test_resolve_pace():
    assert resolve_pace(None) is None
    names = ["hard", "linear", "polynomial", "mixture", "logarithmic"]
    for name, kind in zip(names, BUILT_IN, strict=True):
        pace = resolve_pace(name)
        assert type(pace) is kind
        assert pace.resolved_plateau == 2.0
    pace = Linear(age=2.0)
    assert resolve_pace(pace) is pace
    own = Welsch()
    assert resolve_pace(own) is own

    with pytest.raises(ValueError, match=r"'Hard'") as caught:
        resolve_pace("Hard")
    assert all(repr(name) in str(caught.value) for name in names)
    with pytest.raises(TypeError, match=r"pace=Hard is a class; pass Hard\(\)"):
        resolve_pace(Hard)
    with pytest.raises(TypeError, match=r"pace must be a Pace.*got pace=2\.5"):
        resolve_pace(2.5)

    class Stray:
        def weight(self, loss):
            return loss

    with pytest.raises(TypeError, match=r"derive its class from splboost\.pace\.Pace"):
        resolve_pace(Stray())


# -- a regulariser of one's own -------------------------------------------------------


class Welsch(Pace):
    def weight(self, loss):
        return np.exp(-np.asarray(loss, dtype=float))


class Steps(Pace):
    """Two jumps, one of them where no grid would have a point."""

    def weight(self, loss):
        loss = np.asarray(loss, dtype=float)
        return np.where(loss < 1, 1.0, np.where(loss < math.pi, 0.25, 0.0))


class Slow(Pace):
    """Falls over many decades, and not to 0 at any float."""

    def weight(self, loss):
        return 1 / (1 + np.asarray(loss, dtype=float) / 1e6) ** 2


OWN = {
    Welsch: (lambda x: -np.expm1(-x), 1.0, lambda v: 1 - v + v * np.log(v)),
    Steps: (
        lambda x: np.minimum(x, 1) + 0.25 * np.clip(x - 1, 0, math.pi - 1),
        1.0,
        lambda v: np.maximum(0.25 - v, 0) * math.pi + np.minimum(1 - v, 0.75),
    ),
    Slow: (lambda x: 1e6 * (x / (1e6 + x)), 1e6, lambda v: 1e6 * (1 - np.sqrt(v)) ** 2),
}


@pytest.mark.parametrize("own", OWN)
def test_own_pace_needs_only_a_weight(own):
    latent, peak, penalty = OWN[own]
    pace = own()
    points = np.concatenate(
        [np.geomspace(1e-12, 1e6, 301), [1, 3.14, math.pi, 3.15, 1e150, 1e300]]
    )
    for loss in (points, np.random.default_rng(0).permutation(points), [0.3], [1e150]):
        loss = np.asarray(loss)
        np.testing.assert_allclose(pace.latent(loss), latent(loss), rtol=1e-10)
    assert np.all(np.diff(pace.latent(np.sort(points))) >= 0)
    assert isinstance(pace.latent(2.0), np.float64)
    assert pace.latent(INF) == pytest.approx(pace.resolved_plateau)
    assert pace.resolved_plateau == pytest.approx(latent(1e300), rel=1e-10)
    assert pace.peak() == pytest.approx(peak, rel=1e-6)
    assert not pace.is_off
    v = np.array([[0.001, 0.1, 0.25], [0.4, 0.9, 1.0]])
    np.testing.assert_allclose(pace.penalty(v), penalty(v), atol=1e-9 * peak)
    assert pace.penalty(0.4) == pytest.approx(penalty(0.4), rel=1e-9)
    assert pace.penalty(0.0) == pytest.approx(pace.resolved_plateau)
    report = check_pace(pace)
    assert report[2].endswith("skipped: no parameter named age")
    assert sum(line.endswith(": holds") for line in report) == 3


def test_own_latent_is_quick_on_many_rows():
    class Counted(Steps):
        points = 0

        def weight(self, loss):
            Counted.points += np.size(loss)
            return super().weight(loss)

    loss = np.random.default_rng(0).exponential(2.0, 20_000)
    Counted().latent(loss)
    assert Counted.points < 40 * len(loss)


def test_pace_without_weight_cannot_be_made():
    with pytest.raises(TypeError, match="weight"):
        Pace()


# -- check_pace -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "pace",
    [*PACES, HUBER, *[kind(prior_corrected=True) for kind in BUILT_IN]],
    ids=repr,
)
def test_check_passes_on_the_built_ins(pace):
    report = check_pace(pace)
    assert len(report) == 4
    assert all(line.endswith(": holds") for line in report)


def test_check_takes_names_and_losses():
    assert check_pace("hard") == check_pace(Hard(), losses=[3.0, 0.5])
    for bad in ([-1.0], [INF], [math.nan]):
        with pytest.raises(ValueError, match="losses must be finite and not negative"):
            check_pace("hard", losses=bad)
    with pytest.raises(TypeError, match="nothing to check"):
        check_pace(None)


@every_kind
def test_check_says_that_an_infinite_plateau_never_vanishes(kind):
    reason = r"\(ii\).*go to 0.*weight\(1e\+300\) = 1, as its age or plateau is inf"
    with pytest.raises(ValueError, match=reason):
        check_pace(kind(plateau=INF))


def broken(**methods):
    return type("Broken", (Welsch,), methods)()


class Aged(Pace):
    """exp(-loss / scale), the scale being some function of the age."""

    def __init__(self, age=2.0, scale=float):
        self.age = age
        self.scale = scale

    def weight(self, loss):
        return np.exp(-np.asarray(loss, dtype=float) / self.scale(self.age))


@pytest.mark.parametrize(
    ("pace", "message"),
    [
        (
            broken(weight=lambda self, loss: np.where(loss < 2, 0.5, loss < 3)),
            r"\(ii\).* not rise .*weight\(1\) = 0\.5 and weight\(2\) = 1",
        ),
        (
            broken(weight=lambda self, loss: 1.5 * np.exp(-loss)),
            r"\(ii\).*\[0, 1\].*weight\(0\) = 1\.5",
        ),
        (
            broken(weight=lambda self, loss: np.exp(-loss) - 0.1),
            r"\(ii\).*\[0, 1\].*weight\(4\) = -0\.08",
        ),
        (
            broken(weight=lambda self, loss: 0.2 + 0.8 * np.exp(-loss)),
            r"\(ii\).*go to 0 as the loss grows.*weight\(1e\+300\) = 0\.2\.",
        ),
        (
            broken(weight=lambda self, loss: np.ones_like(loss)),
            r"\(ii\).*go to 0 as the loss grows.*weight\(1e\+300\) = 1\.",
        ),
        (
            broken(weight=lambda self, loss: 0.5),
            r"\(ii\).*go to 0 as the loss grows.*weight\(1e\+300\) = 0\.5",
        ),
        (
            broken(penalty=lambda self, v: -(v**2)),
            r"\(i\) the penalty must be convex, but at v = 0\.005",
        ),
        (
            broken(penalty=lambda self, v: v**2 - v),
            r"\(i\) the weight must minimise.*weight\(0\) = 1 makes it 0, .* -0\.25",
        ),
        (
            broken(latent=lambda self, loss: np.minimum(loss, 1.0)),
            r"latent loss must be the integral.*latent\(1\) = 1 against 0\.632121",
        ),
        (
            Aged(scale=lambda age: 1 / age),
            r"\(iii\) the weight must go to 0.*weight\(1\) = 1 at age 1e-100",
        ),
        (
            Aged(scale=lambda age: age if age < 1 else age / 9),
            r"\(iii\).* not fall as the age.*weight\(1\) falls by .*from age 0\.6",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_check_names_the_failing_condition(pace, message):
    with pytest.raises(ValueError, match=message) as caught:
        check_pace(pace, losses=[1.0, 2.0, 4.0])
    assert "is no self-paced regulariser" in str(caught.value)


def test_check_uses_the_age():
    assert check_pace(Aged())[2].endswith(": holds")
    assert check_pace(Aged(age=None, scale=lambda age: age or 1.0))[2].endswith("holds")
