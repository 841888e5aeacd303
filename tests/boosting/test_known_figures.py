"""AdaBoost and SPLBoost on the synthetic problems, against figures known before.

The figures come from another implementation and few draws. Ours are means of ten; the
two must lie within two standard errors of their difference, with the spread of our
draws for both sides.
"""

import functools
import warnings

import numpy as np
import pytest

from splboost import AdaBoostClassifier
from splboost.datasets import (
    flip_labels,
    gaussians_log_odds,
    make_gaussians,
    make_long_servedio,
)
from splboost.pace import Hard, Linear, Polynomial
from splboost.trees import CARTClassifier

N_DRAWS = 20
UPPER, LOWER = Polynomial(age=3.0, t=4.0), Polynomial(age=3.0, t=1.3)


def draw_gaussians(seed):
    X, y = make_gaussians(random_state=seed)
    return X, flip_labels(y, {0: 0.15, 1: 0.15}, random_state=seed)


def draw_long_servedio(seed):
    X, y = make_long_servedio(800, random_state=seed)
    return X, flip_labels(y, 0.1, mode="probability", random_state=seed)


@functools.cache
def clean_test(draw):
    if draw is draw_gaussians:
        return make_gaussians(5000, random_state=1000)
    return make_long_servedio(10_000, random_state=1000)


def measure(draw, pace, depth, rounds):
    """Test error, share of turned and of right labels dropped: one row per draw."""
    rows = []
    tree = CARTClassifier(max_depth=depth, min_weight_fraction_leaf=0)
    model = AdaBoostClassifier(tree, n_estimators=rounds, pace=pace)
    X_test, y_test = clean_test(draw)
    for seed in range(N_DRAWS):
        X, (y, flipped) = draw(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
        dropped = model.sample_pace_ == 0
        error = 1 - model.score(X_test, y_test)
        rows.append([error, dropped[flipped].mean(), dropped[~flipped].mean()])
    return np.array(rows).T


def assert_near(ours, known, n_known):
    """Whether the mean of our draws is that of n_known others, within two errors."""
    spread = ours.std(ddof=1)
    errors = spread / np.sqrt([len(ours), n_known])
    difference = abs(ours.mean() - known)
    print(f"ours {ours.mean():.4f} ± {errors[0]:.4f}, known {known} ± {errors[1]:.4f}")
    assert difference <= 2 * np.hypot(*errors)


@pytest.mark.parametrize(
    ("pace", "depth", "error", "dropped"),
    [
        (None, 1, 0.089, 0.0),
        (Hard(age=1.5), 1, 0.092, 0.89),
        (Hard(age=2.0), 1, 0.066, 0.83),
        (Hard(age=2.5), 1, 0.061, 0.74),
        (Linear(age=3.0), 1, 0.064, 0.87),
        (UPPER, 1, 0.059, 0.74),
        (LOWER, 1, 0.113, 0.86),
        (None, 3, 0.119, 0.0),
        (Hard(age=1.5), 3, 0.074, 0.79),
        (Hard(age=2.0), 3, 0.074, 0.79),
        (Hard(age=2.5), 3, 0.096, 0.41),
        (Linear(age=3.0), 3, 0.077, 0.75),
        (UPPER, 3, 0.088, 0.52),
        (LOWER, 3, 0.070, 0.85),
    ],
    ids=str,
)
def test_gaussians(pace, depth, error, dropped):
    errors, dropped_wrong, dropped_right = measure(draw_gaussians, pace, depth, 60)
    assert_near(errors, error, 6)
    assert_near(dropped_wrong, dropped, 6)
    assert dropped_right.mean() < 0.1
    assert errors.min() > 0.0328 - 0.006  # the best there is, on so many test points


def test_gaussians_cannot_be_told_apart_better():
    X, y = clean_test(draw_gaussians)
    error = ((gaussians_log_odds(X) > 0) != y).mean()
    assert abs(error - 0.0328) < 2 * np.sqrt(0.0328 / len(y))


def test_self_paced_stumps_beat_adaboost_on_the_gaussians():
    plain = measure(draw_gaussians, None, 1, 60)[0]
    for pace in (Hard(age=2.0), Linear(age=4.0), Polynomial(plateau=2.0, t=1.3)):
        gain = plain - measure(draw_gaussians, pace, 1, 60)[0]
        assert gain.mean() > 2 * gain.std(ddof=1) / np.sqrt(N_DRAWS)


@pytest.mark.parametrize(
    ("pace", "rounds", "error", "n_known"),
    [
        (None, 400, 0.281, 1),
        (Hard(plateau=1.0), 250, 0.274, 2),
        (Hard(plateau=2.0), 250, 0.176, 2),
        (Hard(plateau=2.5), 250, 0.026, 2),
        (Linear(plateau=2.5), 250, 0.042, 2),
        (Polynomial(plateau=2.5, t=1.3), 250, 0.047, 2),
        (Polynomial(plateau=2.5, t=4.0), 250, 0.027, 2),
        (Hard(age=2.0), 400, 0.173, 1),
        (Hard(age=2.5), 400, 0.007, 1),
        (Linear(age=3.0), 400, 0.137, 1),
        (Linear(age=6.0), 400, 0.004, 1),
    ],
    ids=str,
)
def test_long_servedio(pace, rounds, error, n_known):
    errors = measure(draw_long_servedio, pace, 1, rounds)[0]
    assert_near(errors, error, n_known)


def test_long_servedio_defeats_adaboost_and_not_splboost():
    plain = measure(draw_long_servedio, None, 1, 400)[0]
    errors, wrong, right = measure(draw_long_servedio, Hard(age=2.5), 1, 400)
    assert plain.min() >= 0.2
    assert errors.max() <= 0.05
    assert wrong.mean() > 0.5
    assert right.mean() < 0.01


def test_too_small_a_plateau_drops_right_labels():
    wrong, right = measure(draw_long_servedio, Hard(plateau=1.0), 1, 100)[1:]
    assert wrong.mean() > 0.6
    assert 0.2 < right.mean() < 0.5
