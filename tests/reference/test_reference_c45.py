"""The reference of C4.5 against published figures and cases worked by hand."""

import numpy as np
import pytest

from reference import (
    C45Node,
    c45_attribute_gains,
    c45_extra_errors,
    c45_leaves,
    c45_to_tuple,
    c45_z,
    fit_c45,
    predict_c45,
    predict_proba_c45,
)

NAN = np.nan
SUNNY, OVERCAST, RAIN = 0, 1, 2
DONT, PLAY = 0, 1

# Quinlan (1993): outlook, temperature, humidity, windy, class
GOLF = np.array(
    [
        [SUNNY, 75, 70, True, PLAY],
        [SUNNY, 80, 90, True, DONT],
        [SUNNY, 85, 85, False, DONT],
        [SUNNY, 72, 95, False, DONT],
        [SUNNY, 69, 70, False, PLAY],
        [OVERCAST, 72, 90, True, PLAY],
        [OVERCAST, 83, 78, False, PLAY],
        [OVERCAST, 64, 65, True, PLAY],
        [OVERCAST, 81, 75, False, PLAY],
        [RAIN, 71, 80, True, DONT],
        [RAIN, 65, 70, True, DONT],
        [RAIN, 75, 80, False, PLAY],
        [RAIN, 68, 80, False, PLAY],
        [RAIN, 70, 96, False, PLAY],
    ],
    dtype=float,
)
GOLF_OPTIONS = {"n_classes": 2, "categorical": (0, 3)}
OUTLOOK, TEMPERATURE, HUMIDITY, WINDY = range(4)

# A first test of feature 0 is replaced by its first branch, a test of feature 1:
# feature 0, feature 1, class
RAISED = np.array(
    [
        [0, 0, 1],
        [0, 0, 1],
        [0, 1, 0],
        [0, 1, 0],
        [0, 1, 1],
        [1, 0, 1],
        [1, 0, 1],
        [2, 0, 0],
        [2, 0, 0],
        [2, 0, 1],
    ],
    dtype=float,
)
RAISED_OPTIONS = {"n_classes": 2, "categorical": (0, 1)}


def golf(unknown_outlook: bool = False):
    X, y = GOLF[:, :-1].copy(), GOLF[:, -1].astype(int)
    if unknown_outlook:
        X[5, OUTLOOK] = NAN
    return X, y


def entropy(*counts) -> float:
    shares = [count / sum(counts) for count in counts if count > 0]
    return -sum(share * np.log2(share) for share in shares)


def column(*values) -> np.ndarray:
    return np.array(values, dtype=float)[:, None]


def is_leaf(node: C45Node) -> bool:
    return not node.branches


def mixed_cases(seed: int, n: int = 40, n_classes: int = 2):
    """Two categorical and two numeric features with unknown values, whole weights."""
    random = np.random.default_rng(seed)
    X = np.column_stack(
        [
            random.permutation(np.arange(n) % 3),
            random.permutation(np.arange(n) % 2),
            random.integers(0, 8, n) / 4.0,
            random.normal(size=n).round(1),
        ]
    ).astype(float)
    score = X[:, 2] + X[:, 3] * X[:, 1] + (X[:, 0] == 1) + random.normal(0, 0.6, n)
    cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
    y = np.searchsorted(cuts, score)
    X[random.random(X.shape) < 0.15] = NAN
    return X, y, random.integers(1, 4, n).astype(float)


def outline(node: C45Node):
    """The tree without its class weights."""
    if is_leaf(node):
        return node.leaf_class
    return (node.feature, node.threshold, *(outline(b) for b in node.branches))


# ------------------------------------------------------------------- pessimistic errors


@pytest.mark.parametrize(
    ("confidence", "z"),
    [(0.0, 4.0), (0.25, 0.6925), (0.10, 1.28), (0.03, 1.99), (0.7, 0.125), (1.0, 0.0)],
)
def test_deviation_is_interpolated_in_the_table(confidence, z):
    assert c45_z(confidence) == pytest.approx(z, abs=1e-12)


@pytest.mark.parametrize(
    ("N", "e", "extra"),
    [
        (10, 0, 1.2945),
        (10, 0.5, 1.3676),
        (10, 1, 1.4406),
        (6, 2, 1.3426),
        (14, 5, 1.7950),
        (2, 1.5, 0.335),
        (2, 1.6, 0.268),
        (3, 3, 0.0),
    ],
)
def test_extra_errors(N, e, extra):
    assert c45_extra_errors(N, e) == pytest.approx(extra, abs=5e-5)


@pytest.mark.parametrize(("N", "rate"), [(6, 0.206), (9, 0.143), (1, 0.750)])
def test_published_bounds_without_an_error(N, rate):
    """U_25%(0, N) of the example of pruning in Quinlan (1993), chapter 4."""
    assert c45_extra_errors(N, 0) / N == pytest.approx(rate, abs=5e-4)


@pytest.mark.parametrize("confidence", [0.05, 0.25, 0.6])
@pytest.mark.parametrize(("N", "e"), [(3.5, 1.0), (14.0, 5.0), (100.0, 2.5)])
def test_bound_is_the_upper_end_of_the_normal_interval(N, e, confidence):
    """The bound q solves q - (e + 1/2) / N = z sqrt(q (1 - q) / N)."""
    q = (e + c45_extra_errors(N, e, confidence)) / N
    deviation = c45_z(confidence) * np.sqrt(q * (1 - q) / N)
    assert q - (e + 0.5) / N == pytest.approx(deviation, rel=1e-9)


def test_branches_of_the_estimate_meet():
    at_one = c45_extra_errors(12.0, 1.0)
    assert c45_extra_errors(12.0, 0.99989) == pytest.approx(at_one, abs=1e-4)
    assert c45_extra_errors(12.0, 1e-6) == pytest.approx(c45_extra_errors(12.0, 0.0))
    assert c45_extra_errors(12.0, 0.5e-6) == c45_extra_errors(12.0, 0.0)


# ---------------------------------------------------------------------------- golf data


def test_gains_of_the_golf_data():
    gains = c45_attribute_gains(*golf(), **GOLF_OPTIONS)
    assert gains[OUTLOOK] == pytest.approx((0.247, 1.577), abs=5e-4)
    assert gains[WINDY] == pytest.approx((0.048, 0.985), abs=5e-4)
    gain, split_info = gains[OUTLOOK]
    assert gain / split_info == pytest.approx(0.156, abs=5e-4)


def test_cuts_of_the_golf_data():
    """Humidity: best gain 0.102 at 80; six cuts leave two cases on each side.

    65 - 70 70 70 | 75 | 78 | 80 80 80 | 85 | 90 90 | 95 - 96
    """
    free = c45_attribute_gains(*golf(), mdl=False, **GOLF_OPTIONS)
    assert free[HUMIDITY] == pytest.approx((0.102, 0.940), abs=5e-4)
    charged = c45_attribute_gains(*golf(), **GOLF_OPTIONS)
    assert np.log2(6) / 14 > free[HUMIDITY][0]
    assert charged[HUMIDITY] is None
    assert charged[TEMPERATURE] is None


@pytest.mark.parametrize("pruning", [True, False])
def test_tree_of_the_golf_data(pruning):
    X, y = golf()
    tree = fit_c45(X, y, pruning=pruning, **GOLF_OPTIONS)
    assert c45_to_tuple(tree) == (
        OUTLOOK,
        None,
        (HUMIDITY, 75.0, (PLAY, (0.0, 2.0)), (DONT, (3.0, 0.0))),
        (PLAY, (0.0, 4.0)),
        (WINDY, None, (PLAY, (0.0, 3.0)), (DONT, (2.0, 0.0))),
    )
    np.testing.assert_array_equal(predict_c45(tree, X), y)
    assert [leaf.depth for leaf in c45_leaves(tree)] == [2, 2, 1, 2, 2]


def test_gains_with_an_unknown_outlook():
    """Quinlan (1993), chapter 3: 0.199 bits, split information 1.809, ratio 0.110."""
    gains = c45_attribute_gains(*golf(unknown_outlook=True), **GOLF_OPTIONS)
    gain, split_info = gains[OUTLOOK]
    assert gain == pytest.approx(0.199, abs=5e-4)
    assert split_info == pytest.approx(1.809, abs=5e-4)
    assert gain / split_info == pytest.approx(0.110, abs=5e-4)


@pytest.mark.parametrize("pruning", [True, False])
def test_tree_with_an_unknown_outlook(pruning):
    """The case goes to all three branches, by 5/13, 3/13 and 5/13."""
    tree = fit_c45(*golf(unknown_outlook=True), pruning=pruning, **GOLF_OPTIONS)
    five, three = round(5 / 13, 9), round(3 / 13, 9)
    assert c45_to_tuple(tree) == (
        OUTLOOK,
        None,
        (HUMIDITY, 75.0, (PLAY, (0.0, 2.0)), (DONT, (3.0, five))),
        (PLAY, (0.0, 3 + three)),
        (WINDY, None, (PLAY, (0.0, 3.0)), (DONT, (2.0, five))),
    )


def test_prediction_with_an_unknown_humidity():
    """The published case: sunny, 70, unknown, not windy; play with 44 per cent."""
    tree = fit_c45(*golf(unknown_outlook=True), **GOLF_OPTIONS)
    case = [[SUNNY, 70, NAN, False]]
    np.testing.assert_allclose(predict_proba_c45(tree, case), [[0.557, 0.443]], 2e-3)
    np.testing.assert_array_equal(predict_c45(tree, case), [DONT])


# ------------------------------------------------------------------------ numeric tests


def test_gain_is_charged_for_the_number_of_eligible_cuts():
    x, y = column(*range(8)), [0] * 4 + [1] * 4
    ((gain, split_info),) = c45_attribute_gains(x, y, n_classes=2)
    assert gain == pytest.approx(1 - np.log2(5) / 8)
    assert split_info == pytest.approx(1.0)


def test_unknown_cases_scale_the_gain_and_count_as_a_branch():
    x, y = column(*range(8), NAN, NAN), [0] * 4 + [1] * 4 + [0, 0]
    ((gain, split_info),) = c45_attribute_gains(x, y, n_classes=2)
    assert gain == pytest.approx(0.8 - np.log2(5) / 10)
    assert split_info == pytest.approx(entropy(4, 4, 2))


def test_charge_can_make_a_numeric_feature_unusable():
    x, y = column(*range(6)), [0, 0, 1, 1, 0, 0]
    gain = entropy(2, 4) - 4 / 6
    assert gain < np.log2(3) / 6
    assert c45_attribute_gains(x, y, n_classes=2) == [None]
    free = c45_attribute_gains(x, y, n_classes=2, mdl=False)
    assert free == [pytest.approx((gain, entropy(2, 4)))]


def test_the_first_of_equal_cuts_wins():
    x, y, weight = column(*range(6)), [1, 1, 0, 0, 1, 1], [1, 1, 2.1, 2.1, 1, 1]
    tree = fit_c45(x, y, weight, n_classes=2, mdl=False, max_depth=1, pruning=False)
    assert outline(tree) == (0, 1.0, 1, 0)


@pytest.mark.parametrize(
    ("weight", "n_classes", "threshold"),
    [
        (1.0, 2, 2.0),  # a side must hold 60 / 20 = 3
        (1.0, 3, 1.0),  # 60 / 30 = 2
        (1.0, 4, 1.0),  # min_cases = 2, not 60 / 40
        (13.0, 2, 1.0),  # 25, not 780 / 20 = 39
    ],
)
def test_smallest_side_of_a_cut(weight, n_classes, threshold):
    x, y = column(*range(60)), np.arange(60) < 2
    tree = fit_c45(
        x, y, np.full(60, weight), n_classes=n_classes, max_depth=1, pruning=False
    )
    assert tree.threshold == threshold


def test_smallest_side_holds_on_the_right_too():
    x, y = column(*range(60)), np.arange(60) >= 58
    tree = fit_c45(x, y, n_classes=2, max_depth=1, pruning=False)
    assert tree.threshold == 56.0


def test_smallest_side_is_a_share_of_the_known_weight():
    x, y = column(*range(60), *[NAN] * 60), np.arange(120) < 2
    ((gain, _),) = c45_attribute_gains(x, y, n_classes=2)
    known = entropy(2, 58) - 3 / 60 * entropy(2, 1)
    assert gain == pytest.approx(known / 2 - np.log2(55) / 120)


def test_cuts_with_less_than_min_cases_on_a_side_count_as_tried():
    """Sides must hold 25 to be tried, 30 to be chosen: 57 cuts, not the first."""
    x, y, weight = column(*range(60)), np.arange(60) < 2, np.full(60, 13.0)
    options = {"n_classes": 2, "min_cases": 30.0}
    assert fit_c45(x, y, weight, max_depth=1, **options).threshold == 2.0
    ((gain, _),) = c45_attribute_gains(x, y, weight, **options)
    known = entropy(2, 58) - 3 / 60 * entropy(2, 1)
    assert gain == pytest.approx(known - np.log2(57) / 780)


def test_values_closer_than_a_hundred_thousandth_are_not_cut():
    y = [0, 0, 1, 1]
    assert is_leaf(fit_c45(column(0, 0, 0.9e-5, 0.9e-5), y, n_classes=2))
    assert not is_leaf(fit_c45(column(0, 0, 1.1e-5, 1.1e-5), y, n_classes=2))


def test_threshold_is_a_value_of_any_training_row():
    """In the branch the cut lies between 1 and 10; 3 is elsewhere, 5 weighs nothing."""
    a = [0, 0, 0, 0, 1, 1, 1, 1, 1]
    x = [0, 1, 10, 11, 0, 3, 6, 12, 5]
    y = [0, 0, 1, 1, 2, 2, 2, 2, 2]
    weight = [1, 1, 1, 1, 1, 1, 1, 1, 0]
    X = np.column_stack([a, x])
    tree = fit_c45(X, y, weight, n_classes=3, categorical=(0,))
    assert outline(tree) == (0, None, (1, 3.0, 0, 1), 2)


def test_neighbours_in_floating_point_are_cut_apart():
    high = np.nextafter(1e13, np.inf)
    low = np.nextafter(high, np.inf)
    for values in [(1e13, high), (high, low)]:
        tree = fit_c45(column(*np.repeat(values, 2)), [0, 0, 1, 1], n_classes=2)
        assert outline(tree) == (0, values[0], 0, 1)


def test_a_numeric_feature_can_be_tested_again():
    x, y = column(*range(12)), [0] * 4 + [1] * 4 + [0] * 4
    tree = fit_c45(x, y, n_classes=2, mdl=False, pruning=False)
    assert outline(tree) == (0, 3.0, 0, (0, 7.0, 1, 0))


# -------------------------------------------------------------------- categorical tests


def test_two_branches_must_hold_enough():
    """Branches of 5, 1 and 1 cases are no test; 4, 2 and 1 are."""
    y = [0, 0, 0, 0, 0, 1, 1]
    options = {"n_classes": 2, "categorical": (0,)}
    assert c45_attribute_gains(column(0, 0, 0, 0, 0, 1, 2), y, **options) == [None]
    ((gain, split_info),) = c45_attribute_gains(
        column(0, 0, 0, 0, 1, 1, 2), y, **options
    )
    assert gain == pytest.approx(entropy(5, 2) - 2 / 7)
    assert split_info == pytest.approx(entropy(4, 2, 1))


def test_a_category_without_cases_is_a_leaf_of_the_majority():
    """Under b = 0 no case has a = 2; the unknown a goes where known cases are."""
    b = [0] * 9 + [1] * 8
    a = [0] * 3 + [1] * 5 + [NAN] + [0] * 3 + [1] * 3 + [2] * 2
    y = [0] * 3 + [1] * 5 + [1] + [2] * 8
    X = np.column_stack([b, a])
    tree = fit_c45(X, y, n_classes=3, categorical=(0, 1))
    assert c45_to_tuple(tree) == (
        0,
        None,
        (1, None, (0, (3.0, 0.375, 0.0)), (1, (0.0, 5.625, 0.0)), (1, (0.0, 0.0, 0.0))),
        (2, (0.0, 0.0, 8.0)),
    )
    share = predict_proba_c45(tree, [[0, 2], [0, NAN], [0, 7], [0, -1], [0, 0]])
    np.testing.assert_allclose(share[0], [0, 1, 0])
    np.testing.assert_allclose(share[1:4], np.tile([3 / 9, 6 / 9, 0], (3, 1)))
    np.testing.assert_allclose(share[4], [3 / 3.375, 0.375 / 3.375, 0])


@pytest.mark.parametrize("seed", range(3))
def test_a_category_is_tested_once_on_a_path(seed):
    X, y, _ = mixed_cases(seed)
    options = {"n_classes": 2, "categorical": (0, 1), "pruning": False}
    tree = fit_c45(X, y, min_cases=0.0, **options)
    assert max(leaf.depth for leaf in c45_leaves(tree)) > 2

    def walk(node, above):
        if is_leaf(node):
            return
        assert node.feature not in above
        for branch in node.branches:
            walk(branch, above | ({node.feature} if node.threshold is None else set()))

    walk(tree, set())


# ---------------------------------------------------------------- choice of the feature

# Many values: pure, gain 0.980, ratio 0.500. Few: gain 0.655, ratio 0.655.
MANY = [0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3]
FEW = [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]
BOTH_Y = [0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1]


def first_feature(X, y, weight=None, **options):
    options = {"n_classes": 2, "max_depth": 1, "pruning": False} | options
    return fit_c45(X, y, weight, **options).feature


def test_many_values_do_not_count_for_the_average():
    """4 values are many for a weight of 12, few for one of 24."""
    X = np.column_stack([MANY, FEW])
    gains = c45_attribute_gains(X, BOTH_Y, n_classes=2, categorical=(0, 1))
    assert gains[0] == pytest.approx((0.980, 1.959), abs=5e-4)
    assert gains[1] == pytest.approx((0.655, 1.0), abs=5e-4)
    assert first_feature(X, BOTH_Y, categorical=(0, 1)) == 1
    assert first_feature(X, BOTH_Y, np.full(12, 2.0), categorical=(0, 1)) == 0


def test_exactly_three_tenths_are_many():
    """Three values for a weight of 10 are many, for 10.1 no more."""
    assert first_feature(RAISED[:, :1], RAISED[:, -1], categorical=(0,)) == 0
    X = np.column_stack([RAISED[:, 0], np.zeros(10)])
    assert first_feature(X, RAISED[:, -1], categorical=(0,)) is None
    assert first_feature(X, RAISED[:, -1], np.full(10, 1.01), categorical=(0,)) == 0


def test_many_values_count_if_all_features_have_many():
    X = np.column_stack([MANY, MANY])
    assert first_feature(X, BOTH_Y, categorical=(0, 1)) == 0
    X = np.column_stack([MANY, np.zeros(12)])  # a numeric feature never has many
    assert first_feature(X, BOTH_Y, categorical=(0,)) is None


def test_a_feature_without_gain_counts_for_the_average():
    """The average falls from 0.817 to 0.545, and the ratio decides."""
    X = np.column_stack([MANY, FEW])
    X, y, copy = np.r_[X, X], BOTH_Y + BOTH_Y, np.repeat([0, 1], 12)
    assert first_feature(X, y, categorical=(0, 1)) == 0
    X = np.column_stack([X, copy])
    assert first_feature(X, y, categorical=(0, 1, 2)) == 1


def test_a_test_without_split_information_is_not_chosen():
    """Entropy of 2 in 10 000: 0.0027 bits, of 2 in 100 000: 0.0003 bits."""
    x, y = column(0, 1), [0, 1]
    assert first_feature(x, y, [2, 1e4], categorical=(0,)) == 0
    assert first_feature(x, y, [2, 1e5], categorical=(0,)) is None


@pytest.mark.parametrize("scale", [1.0, 1 / 3, 1e3])
def test_the_first_of_equal_features_wins(scale):
    X, y = golf()
    X = X[:, [WINDY, OUTLOOK, OUTLOOK]]
    weight = scale * np.ones(14)
    options = {"categorical": (0, 1, 2), "min_cases": 2 * scale, "n_classes": 2}
    tree = fit_c45(X, y, weight, **options, max_depth=1, pruning=False)
    assert tree.feature == 1


# --------------------------------------------------------------- weights and their sums


def test_rounding_does_not_decide():
    """Seven weights of 2/7 sum to a little less than 2."""
    weight = np.full(14, 2 / 7)
    assert weight[:7].sum() < 2.0
    x, y = column(*[0] * 7, *[1] * 7), [0] * 7 + [1] * 7
    for categorical in [(), (0,)]:
        tree = fit_c45(x, y, weight, n_classes=2, categorical=categorical, mdl=False)
        assert len(c45_leaves(tree)) == 2


def test_a_speck_of_another_class_leaves_a_node_pure():
    x, y = column(0, 0, 1, 1), [0, 0, 1, 1]
    assert is_leaf(fit_c45(x, y, [5, 5, 1e-10, 1e-10], n_classes=2, min_cases=1e-12))


def test_the_first_of_equally_heavy_classes_wins():
    tree = fit_c45(column(0, 0), [0, 1], [1.0, 1.0 + 1e-12], n_classes=2)
    assert tree.leaf_class == 0
    np.testing.assert_array_equal(predict_c45(tree, [[0.0]]), [0])
    tree = fit_c45(column(0, 0), [0, 1], [1.0, 1.0 + 1e-8], n_classes=2)
    assert tree.leaf_class == 1
    np.testing.assert_array_equal(predict_c45(tree, [[0.0]]), [1])


def test_too_light_a_node_is_a_leaf():
    x, y = column(0, 1), [0, 1]
    assert is_leaf(fit_c45(x, y, [1.9, 2.0], n_classes=2))
    assert not is_leaf(fit_c45(x, y, [2.0, 2.0], n_classes=2))


@pytest.mark.parametrize("pruning", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_whole_weights_are_repeated_rows(seed, pruning):
    X, y, weight = mixed_cases(seed, n_classes=2 + seed % 2)
    options = {"n_classes": 3, "categorical": (0, 1), "pruning": pruning}
    weighted = fit_c45(X, y, weight, **options)
    repeat = weight.astype(int)
    repeated = fit_c45(np.repeat(X, repeat, axis=0), np.repeat(y, repeat), **options)
    assert c45_to_tuple(weighted, 7) == c45_to_tuple(repeated, 7)
    assert len(c45_leaves(weighted)) > 2


@pytest.mark.parametrize("seed", range(5))
def test_order_and_rows_without_weight_do_not_matter(seed):
    X, y, weight = mixed_cases(seed)
    options = {"n_classes": 2, "categorical": (0, 1)}
    expected = c45_to_tuple(fit_c45(X, y, weight, **options), 7)
    X, y, weight = np.r_[X, X + 0.01], np.r_[y, 1 - y], np.r_[weight, 0 * weight]
    order = np.random.default_rng(seed).permutation(len(y))
    found = fit_c45(X[order], y[order], weight[order], **options)
    assert c45_to_tuple(found, 7) == expected


# ---------------------------------------------------------------------- leaf or subtree


def test_a_split_that_saves_no_error_collapses():
    x = column(*[0] * 10, *[1] * 9)
    y = [0] * 10 + [0] * 5 + [1] * 4
    ((gain, _),) = c45_attribute_gains(x, y, n_classes=2, categorical=(0,))
    assert gain > 0.1
    assert is_leaf(fit_c45(x, y, n_classes=2, categorical=(0,), pruning=False))
    y = [0] * 10 + [0] * 4 + [1] * 5
    assert not is_leaf(fit_c45(x, y, n_classes=2, categorical=(0,), pruning=False))


def test_max_depth():
    X, y = golf()
    assert is_leaf(fit_c45(X, y, max_depth=0, **GOLF_OPTIONS))
    tree = fit_c45(X, y, max_depth=1, pruning=False, **GOLF_OPTIONS)
    assert outline(tree) == (OUTLOOK, None, DONT, PLAY, PLAY)


def test_a_subtree_is_pruned_to_a_leaf():
    """Chapter 4 of Quinlan (1993): 6, 9 and 1 cases without error against 16 with one.

    The branches are expected to make 3.273 errors, the leaf about 2.51.
    """
    x, y = column(*[0] * 6, *[1] * 9, 2), [0] * 15 + [1]
    options = {"n_classes": 2, "categorical": (0,)}
    assert outline(fit_c45(x, y, pruning=False, **options)) == (0, None, 0, 0, 1)
    assert sum(c45_extra_errors(N, 0) for N in (6, 9, 1)) == pytest.approx(3.273, 1e-3)
    assert 1 + c45_extra_errors(16, 1) == pytest.approx(2.512, abs=1e-2)
    assert c45_to_tuple(fit_c45(x, y, **options)) == (0, (15.0, 1.0))


def test_the_largest_branch_is_raised():
    """Leaf 5.587, tree 6.114, the largest branch on all cases 5.473 errors."""
    X, y = RAISED[:, :-1], RAISED[:, -1]
    grown = fit_c45(X, y, pruning=False, **RAISED_OPTIONS)
    assert outline(grown) == (0, None, (1, None, 1, 0), 1, 0)

    def expected_errors(*leaves):
        return sum(e + c45_extra_errors(N, e) for N, e in leaves)

    assert expected_errors((10, 4)) == pytest.approx(5.587, abs=5e-4)
    assert expected_errors((2, 0), (3, 1), (2, 0), (3, 1)) == pytest.approx(6.114, 1e-4)
    assert expected_errors((7, 2), (3, 1)) == pytest.approx(5.473, abs=5e-4)

    pruned = fit_c45(X, y, **RAISED_OPTIONS)
    assert c45_to_tuple(pruned) == (1, None, (1, (2.0, 5.0)), (0, (2.0, 1.0)))
    assert [leaf.depth for leaf in c45_leaves(pruned)] == [1, 1]
    np.testing.assert_array_equal(pruned.class_weight, [4.0, 6.0])
    unknown = predict_proba_c45(pruned, [[0, NAN], [0, 2]])
    np.testing.assert_allclose(unknown, [[0.4, 0.6], [0.4, 0.6]])


def test_the_last_of_equally_large_branches_may_be_raised():
    """The first of two branches of five would be raised; the last is a leaf."""
    cases = np.array(
        [
            [0, 0, 0],
            [0, 0, 2],
            [1, 0, 0],
            [1, 0, 1],
            [1, 0, 1],
            [0, 1, 1],
            [0, 1, 2],
            [0, 1, 2],
            [1, 1, 1],
            [1, 1, 2],
        ]
    )
    tree = fit_c45(cases[:, :2], cases[:, 2], n_classes=3, categorical=(0, 1))
    assert outline(tree) == (1, None, (0, None, 0, 1), 2)


def test_a_raised_leaf_keeps_its_class_in_a_tie():
    """Raised, the second leaf holds four cases of class 1 too; it was of class 2."""
    counts = {  # feature 0, feature 1: cases of each class
        (0, 0): (2, 0, 1),
        (0, 1): (1, 1, 2),
        (1, 0): (1, 2, 0),
        (1, 1): (1, 1, 2),
        (2, 0): (2, 1, 1),
        (2, 1): (0, 2, 0),
    }
    X = np.repeat(list(counts), [sum(c) for c in counts.values()], axis=0)
    y = np.concatenate([np.repeat(range(3), c) for c in counts.values()])
    tree = fit_c45(X, y, n_classes=3, categorical=(0, 1))
    assert c45_to_tuple(tree) == (1, None, (0, (5.0, 3.0, 2.0)), (2, (2.0, 4.0, 4.0)))


def test_less_confidence_prunes_more():
    X, y, weight = mixed_cases(4)
    options = {"n_classes": 2, "categorical": (0, 1), "mdl": False}
    low, middle, high = (
        len(c45_leaves(fit_c45(X, y, weight, confidence=confidence, **options)))
        for confidence in (0.001, 0.25, 0.9)
    )
    assert low < middle < high


def cases_in_leaves(node: C45Node, X, y, weight):
    """Class weights that reach each leaf, one row after the other."""
    reached = {id(leaf): np.zeros(len(leaf.class_weight)) for leaf in c45_leaves(node)}

    def known_weight(node, rows):
        total = np.zeros(len(node.branches))
        for i, w in rows:
            if not np.isnan(X[i, node.feature]):
                total[branch_of(node, X[i, node.feature])] += w
        return total

    def branch_of(node, value):
        return int(value) if node.threshold is None else int(value > node.threshold)

    def walk(node, rows):
        if is_leaf(node):
            for i, w in rows:
                reached[id(node)][y[i]] += w
            return
        known = known_weight(node, rows)
        below = [[] for _ in node.branches]
        for i, w in rows:
            if np.isnan(X[i, node.feature]):
                for branch in np.flatnonzero(known):
                    below[branch].append((i, w * known[branch] / known.sum()))
            else:
                below[branch_of(node, X[i, node.feature])].append((i, w))
        for branch, part in zip(node.branches, below, strict=True):
            walk(branch, part)

    walk(node, list(enumerate(weight)))
    return [reached[id(leaf)] for leaf in c45_leaves(node)]


@pytest.mark.parametrize("pruning", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_leaves_hold_the_cases_that_reach_them(seed, pruning):
    X, y, weight = mixed_cases(seed, n_classes=2 + seed % 2)
    tree = fit_c45(
        X, y, weight, n_classes=3, categorical=(0, 1), pruning=pruning, mdl=seed > 3
    )
    found = [leaf.class_weight for leaf in c45_leaves(tree)]
    np.testing.assert_allclose(found, cases_in_leaves(tree, X, y, weight), atol=1e-9)
    assert np.sum(found) == pytest.approx(weight.sum())
    np.testing.assert_allclose(predict_proba_c45(tree, X).sum(axis=1), 1.0)
    for leaf in c45_leaves(tree):
        assert leaf.class_weight[leaf.leaf_class] == leaf.class_weight.max()
