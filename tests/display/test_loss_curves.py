"""Pictures of losses and weights: the curves are the formulas, with their paces."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier

from reference.logit import working_response
from reference.potentials import BrownPotential, RobustPotential
from splboost import (
    AdaBoostClassifier,
    BrownBoostClassifier,
    GentleBoostClassifier,
    L2BoostRegressor,
    LogitBoostClassifier,
    RBoostClassifier,
    RealAdaBoostClassifier,
    RobustBoostClassifier,
    SavageBoostClassifier,
    SPLBoostClassifier,
)
from splboost.boosting.custom import MarginLossBooster
from splboost.datasets import make_gaussians
from splboost.display import LossDisplay, WeightDisplay
from splboost.losses import Savage
from splboost.pace import Hard, Linear, Logarithmic, Mixture, Pace, Polynomial

M = np.linspace(-4, 3, 141)
E = np.exp(-M)
PACES = [Hard(age=3.0), Linear(age=4.0), Polynomial(age=3.0, t=4.0), Mixture(age=3.0)]
PACES += [Logarithmic(plateau=2.5)]


def drawn(display):
    """The values of each line by its label."""
    lines = display.ax_.get_lines()[: len(display.curves)]
    assert lines == display.lines_
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == [line.get_label() for line in lines]
    assert labels == [curve.label for curve in display.curves]
    for line in lines:
        np.testing.assert_array_equal(line.get_xdata(), lines[0].get_xdata())
    return {line.get_label(): line.get_ydata() for line in lines}


def assert_curves(display, expected):
    found = drawn(display)
    assert list(found) == list(expected)
    for label, values in expected.items():
        np.testing.assert_allclose(
            found[label], values, rtol=1e-10, atol=1e-12, err_msg=label
        )


# ---------------------------------------------------------------------------- formulas


def test_losses_and_weights_are_their_formulas():
    losses = {
        "exponential": E,
        "logistic": np.log(1 + E**2),
        "savage": 1 / (1 + np.exp(2 * M)) ** 2,
        "savage2": 1 / (1 + np.exp(M)) ** 2,
        "zero-one": M <= 0,
    }
    weights = {
        "exponential": E,
        "logistic": 2 / (1 + np.exp(2 * M)),
        "savage": 8 * np.exp(2 * M) / (1 + np.exp(2 * M)) ** 3,
        "savage2": 8 * np.exp(M) / (1 + np.exp(M)) ** 3,
    }
    assert_curves(LossDisplay.from_losses(margins=M), losses)
    assert_curves(WeightDisplay.from_losses(margins=M), weights)


def test_paces_make_latent_losses():
    ramp = np.maximum(1 - E / 3, 0)
    latent = {
        "exponential": E,
        "hard": np.minimum(E, 3),
        "linear": np.where(E < 4, E - E**2 / 8, 2),
        "bent": 2.25 * (1 - ramp ** (4 / 3)),
    }
    weights = {
        "exponential": E,
        "hard": E * (E < 3),
        "linear": E * np.maximum(1 - E / 4, 0),
        "bent": E * ramp ** (1 / 3),
    }
    paces = dict(zip(["hard", "linear", "bent"], PACES, strict=False))
    given = {"losses": "exponential", "paces": paces, "margins": M}
    assert_curves(LossDisplay.from_losses(**given), latent)
    assert_curves(WeightDisplay.from_losses(**given), weights)
    flat = WeightDisplay.from_losses("zero-one", paces=[None], margins=M)
    assert_curves(flat, {"zero-one": 0 * M, "no pace": E})


def test_labels_say_what_to_write():
    paces = ["linear", Linear(age=3.0), Polynomial(plateau=2.25, t=4.0), Mixture()]
    labels = drawn(LossDisplay.from_losses([Savage(), "savage2"], paces=paces))
    assert list(labels) == [
        "savage",
        "savage2",
        "Linear(plateau=2)",
        "Linear(age=3)",
        "Polynomial(plateau=2.25, t=4)",
        "Mixture(plateau=2)",
    ]


# ---------------------------------------------------------------------------- boosters

UNPACED = {
    "AdaBoost": (AdaBoostClassifier, {}, "exponential"),
    "RealAdaBoost": (RealAdaBoostClassifier, {}, "exponential"),
    "GentleBoost": (GentleBoostClassifier, {}, "exponential"),
    "LogitBoost": (LogitBoostClassifier, {"z_clip": "gradient"}, "logistic"),
    "SavageBoost": (SavageBoostClassifier, {}, "savage"),
    "RBoost": (RBoostClassifier, {}, "savage2"),
}


@pytest.mark.parametrize(("z_max", "z_clip"), [(2.0, "gradient"), (4.0, "value")])
def test_weights_of_logit_boost_are_what_a_round_works_with(z_max, z_clip):
    """The weight handed to the learner times the size of the target."""
    target, weight = working_response(1, expit(2 * M), z_max, z_clip)
    booster = LogitBoostClassifier(z_max=z_max, z_clip=z_clip)
    display = WeightDisplay.from_estimators([booster], margins=M)
    pull = weight * target
    np.testing.assert_allclose(display.lines_[0].get_ydata(), pull / pull[M == 0])


def test_weights_of_fisher_steps_are_clipped():
    p = expit(M)
    pull = p**2 * (1 - p) ** 2 * np.minimum(1 / p, 3.0)
    booster = RBoostClassifier(variant="fisher", z_max=3.0)
    display = WeightDisplay.from_estimators([booster], margins=M)
    np.testing.assert_allclose(display.lines_[0].get_ydata(), pull / pull[M == 0])


def test_weights_of_a_working_set_of_your_own():
    class Newton(MarginLossBooster):
        def margin_loss(self):
            return Savage()

        def working_set(self, margin, y):
            return expit(margin) * expit(-margin), y / expit(margin)

    display = WeightDisplay.from_estimators([Newton()], margins=M)
    pull = expit(-M)
    np.testing.assert_allclose(display.lines_[0].get_ydata(), pull / pull[M == 0])


@pytest.mark.parametrize(
    ("name", "pace"),
    [*zip(UNPACED, [*PACES, Linear(plateau=2.0)], strict=True)],
    ids=str,
)
def test_paces_of_boosters(name, pace):
    """Weights times v at the loss; losses bent by the pace in units of the loss."""
    Booster, options, loss = UNPACED[name]
    booster = Booster(pace=pace, **options)
    plain = drawn(LossDisplay.from_losses(loss, margins=M))[loss]
    weight = drawn(WeightDisplay.from_losses(loss, margins=M))[loss]
    own = pace.for_loss(2, booster._loss, booster._default_plateau)
    values = [
        line.get_ydata()
        for Display in (LossDisplay, WeightDisplay)
        for line in Display.from_estimator(booster, margins=M).lines_
    ]
    expected = plain, own.latent(plain), weight, weight * own.weight(plain)
    np.testing.assert_allclose(values, expected, rtol=1e-10)


def test_a_booster_and_the_same_without_its_pace():
    display = LossDisplay.from_estimator(LogitBoostClassifier(pace=Linear(plateau=2.0)))
    labels = ["LogitBoost without a pace", "LogitBoost, Linear(plateau=1.609)"]
    assert list(drawn(display)) == labels
    # the exponential loss is 2 where the odds are 1 to 4, the logistic log 5
    assert display.lines_[1].get_ydata()[0] == pytest.approx(np.log(5))
    assert list(drawn(LossDisplay.from_estimator(GentleBoostClassifier()))) == [
        "GentleBoost"
    ]


def test_a_curve_for_each_pace_of_the_classes():
    pace = {"no": "hard", "yes": None, "perhaps": "hard"}
    booster = SPLBoostClassifier(pace=pace)
    labels = list(drawn(WeightDisplay.from_estimators({"mine": booster})))
    assert labels == [
        "mine, Hard(plateau=2), class no and perhaps",
        "mine, no pace, class yes",
    ]


def test_a_fitted_booster_shows_the_paces_that_it_used():
    X, y = make_gaussians(200, random_state=0)
    keep = (y == 1) | (np.arange(y.size) % 4 == 0)
    pace = Hard(age=2.0, prior_corrected=True)
    booster = SPLBoostClassifier(pace=pace, n_estimators=5).fit(X[keep], y[keep])
    display = WeightDisplay.from_estimators([booster], margins=M)
    values = list(drawn(display).values())
    ages = [booster.paces_[label].age for label in (0, 1)]
    assert ages[0] > 2 > ages[1]
    np.testing.assert_allclose(values, [E * (E < age) for age in ages])


def test_a_pace_of_your_own():
    class Welsch(Pace):
        def weight(self, loss):
            return np.exp(-np.asarray(loss, dtype=float))

    display = LossDisplay.from_estimator(
        AdaBoostClassifier(pace=Welsch()), margins=M[::10]
    )
    np.testing.assert_allclose(
        drawn(display)["AdaBoost, Welsch()"], 1 - np.exp(-E[::10]), rtol=1e-8
    )


# ------------------------------------------------------------ potentials and their time


@pytest.mark.parametrize(
    ("booster", "potential"),
    [
        (
            RobustBoostClassifier(theta=0.5, sigma=0.2, variant="two-sided"),
            RobustPotential(0.1, 0.5, 0.2, "two-sided"),
        ),
        (BrownBoostClassifier(epsilon=0.3), BrownPotential(0.3)),
    ],
)
def test_potentials_at_chosen_times(booster, potential):
    times = 0, 0.5, 0.8
    name = type(booster).__name__.removesuffix("Classifier")
    losses, weights = (
        {f"{name}, {time:.0%} of time": of(M, time * potential.end) for time in times}
        for of in (potential.value, lambda *at: np.exp(potential.log_weight(*at)))
    )
    assert_curves(LossDisplay.from_estimator(booster, times=times, margins=M), losses)
    assert_curves(
        WeightDisplay.from_estimator(booster, times=times, margins=M), weights
    )


# ------------------------------------------------------------------------- the picture


def test_curves_that_climb_leave_the_picture_and_plateaus_are_in_it():
    paces = [Hard(age=age) for age in (2.0, 6.0)]
    display = LossDisplay.from_losses(["exponential", "logistic"], paces=paces)
    _, top = display.ax_.get_ylim()
    assert 6 < top < 7
    _, top = LossDisplay.from_losses("savage").ax_.get_ylim()
    assert 1 < top < 1.2
    _, top = WeightDisplay.from_losses().ax_.get_ylim()
    assert np.e < top < 3.2


def test_colours():
    """A colour for each loss; paces that differ by their strength are shades of one."""
    paces = [Linear(age=2.0), Linear(age=4.0), Hard(age=2.0), Linear(plateau=3.0)]
    display = LossDisplay.from_losses(paces=paces)
    colours = [line.get_color() for line in display.lines_]
    assert len({str(colour) for colour in colours}) == len(colours)
    linear = np.array([colours[5], colours[6], colours[8]])
    faint = (1 - linear) / (1 - linear).max(axis=1, keepdims=True)
    np.testing.assert_allclose(faint, faint[[0, 0, 0]], atol=1e-6)
    assert np.all(np.diff(linear.sum(axis=1)) < 0)  # darker and darker
    many = {str(age): Savage() for age in range(20)}
    looks = [
        (str(line.get_color()), line.get_linestyle())
        for line in LossDisplay.from_losses(many).lines_
    ]
    assert len(set(looks)) == 20


def test_axes_may_be_given():
    figure, axes = plt.subplots(1, 2)
    display = LossDisplay.from_losses("logistic", ax=axes[1])
    assert display.ax_ is axes[1] and display.figure_ is figure
    assert not axes[0].get_lines()
    assert display.plot(margins=[1, -1]) is display
    assert display.figure_ is not figure
    assert display.lines_[0].get_xdata().tolist() == [-1, 1]
    assert display.ax_.get_xlim() == (-1, 1)
    weights = WeightDisplay(curves=display.curves).plot(margins=M)
    assert_curves(weights, {"logistic": 2 / (1 + np.exp(2 * M))})


# --------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"losses": "hinge"}, "'hinge' is no known loss; pass 'exponential', 'log"),
        ({"losses": [3]}, "3 is no known loss"),
        ({"losses": []}, "nothing to draw; name a loss .'exponential', "),
        ({"paces": ["soft"]}, "pace='soft' is no known regulariser"),
        ({"margins": [0.0]}, r"margins=\[0.0\] must be two or more finite numbers"),
        ({"margins": [0.0, np.nan]}, "np.linspace"),
        ({"margins": [[0.0, 1.0]]}, "in a row"),
    ],
)
def test_what_cannot_be_drawn(options, message):
    with pytest.raises(ValueError, match=message):
        LossDisplay.from_losses(**options)
    assert not plt.get_fignums()


def test_what_is_no_booster():
    for given in (RandomForestClassifier(), L2BoostRegressor(), SPLBoostClassifier):
        with pytest.raises(TypeError, match=r"estimator=\w+: .*SPLBoostClassifier\(\)"):
            LossDisplay.from_estimator(given)
        with pytest.raises(TypeError, match=r"estimator=\w+: "):
            LossDisplay.from_estimators([given])
    with pytest.raises(ValueError, match="nothing to draw"):
        LossDisplay.from_estimators([])
    with pytest.raises(ValueError, match=r"times=\[1.5\] must be shares"):
        LossDisplay.from_estimator(BrownBoostClassifier(), times=[1.5])
    with pytest.raises(ValueError, match="pace='soft'"):
        LossDisplay.from_estimator(AdaBoostClassifier(pace="soft"))
    assert not plt.get_fignums()
