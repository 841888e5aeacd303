"""Kernels of potentials: where samples stand, and sums over them.

At time t a sample of margin m stands at a = (m - mean(t)) / width(t); its potential is
``height`` erfc(a) and its weight exp(-a²). A move lets time run on by a duration, in
which margins fade, and adds a step to the margins of samples that the weak classifier
gets right; from the others it takes it away.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from splboost._tools.compiling import kernel
from splboost._tools.maths import exp as exponential
from splboost.boosting.potentials.course import FARTHEST


class Sums(NamedTuple):
    """Sums over samples, with u = 1 where the weak classifier is right, else -1."""

    weight: float  # w
    edge: float  # u w
    slope: float  # w a
    edge_slope: float  # u w a
    edge_curve: float  # u w a²
    potential: float
    gap: float  # u times the potential


class Tangent(NamedTuple):
    """Sums over more samples, to first order about a move."""

    step: float
    duration: float
    sums: Sums
    edge_by_step: float
    edge_by_time: float
    potential_by_edge: float  # and by the step
    potential_by_time: float


class Crowd(NamedTuple):
    """Samples, or cells of them, and others that are known by their sums only."""

    margin: NDArray[np.float64]
    right: NDArray[np.bool_]
    weight: NDArray[np.float64]
    total: float  # summed weight of all
    lowest_right: float  # margins, of samples with weight
    highest_wrong: float
    others: Tangent


NO_OTHERS = Tangent(
    0.0, 0.0, Sums(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0), 0.0, 0.0, 0.0, 0.0
)


@kernel
def scaled_erfc(x):
    """exp(x²) erfc(x) for x from 0 to 26, right to a few units in the last place.

    A rational function fitted to it on this range. All of its coefficients are
    positive, so that nothing cancels.
    """
    p = 6.148966326338251e-05
    q = 1.0898759044247621e-04 * x + 2.0786328172705485e-03
    p = p * x + 1.1727429835574393e-03
    q = q * x + 1.945542398212074e-02
    p = p * x + 1.0945802720475852e-02
    q = q * x + 1.1569904886065592e-01
    p = p * x + 6.46898267835036e-02
    q = q * x + 4.789827042920128e-01
    p = p * x + 2.647948937822163e-01
    q = q * x + 1.4315244200254273
    p = p * x + 7.758926655670608e-01
    q = q * x + 3.110171929063267
    p = p * x + 1.6277246022393892
    q = q * x + 4.828772789206118
    p = p * x + 2.367282706375069
    q = q * x + 5.108656650976629
    p = p * x + 2.187327160797292
    q = q * x + 3.315706327892792
    return (p * x + 1.0) / (q * x + 1.0)


@kernel
def weigh_and_rate(a, floor):
    """exp(-a²), or 0 at the floor, and erfc(a), for a from -26 to 26."""
    weight = exponential(-a * a)
    tail = weight * scaled_erfc(abs(a))
    return weight if a > floor else 0.0, tail if a >= 0 else 2 - tail


@kernel
def place(course, time):
    """Mean and width at a time."""
    left = course.end - time
    if course.pull == 0:
        return course.goal - course.drift * left, course.spread
    mean = (course.goal - course.drift) * math.exp(left) + course.drift
    grown = course.spread * math.exp(left)
    return mean, math.sqrt(grown * grown + math.expm1(2 * left))


@kernel
def face(raw, is_own, fade, margin):
    """Write the margins: faded scores as a sample's own label sees them."""
    for i in range(raw.size):
        margin[i] = fade * (raw[i] if is_own[i] else -raw[i])


@kernel(fastmath={"reassoc"})
def weigh_samples(margin, sample_weight, course, time, weight):
    """Write the weights of samples; the sum of their potentials."""
    mean, width = place(course, time)
    scale, shift = 1 / width, -mean / width
    total = 0.0
    for i in range(margin.size):
        a = min(max(scale * margin[i] + shift, course.floor), FARTHEST)
        w, rate = weigh_and_rate(a, course.floor)
        weight[i] = sample_weight[i] * w
        total += sample_weight[i] * rate
    return course.height * total


@kernel
def count_selected(weight):
    """How many samples have a weight in any column."""
    selected = np.zeros(weight.shape[1], dtype=np.bool_)
    for k in range(weight.shape[0]):
        for i in range(selected.size):
            selected[i] |= weight[k, i] > 0
    return selected.sum()


@kernel(fastmath={"reassoc"})
def share_missed(weight, right):
    """Share of the weight that the weak classifier gets wrong."""
    missed = total = 0.0
    for i in range(weight.size):
        missed += 0.0 if right[i] else weight[i]
        total += weight[i]
    return missed / total


@kernel(fastmath={"reassoc"})
def add_up_samples(margin, right, sample_weight, course, time, duration, step):
    """Sums over samples as they are after a move."""
    mean, width = place(course, time + duration)
    scale = math.exp(-course.pull * duration) / width
    if_right, if_wrong = (step - mean) / width, (-step - mean) / width
    weight = edge = slope = edge_slope = edge_curve = potential = gap = 0.0
    for i in range(margin.size):
        shift = if_right if right[i] else if_wrong
        u = 1.0 if right[i] else -1.0
        a = min(max(scale * margin[i] + shift, course.floor), FARTHEST)
        w, rate = weigh_and_rate(a, course.floor)
        w *= sample_weight[i]
        rate *= sample_weight[i] * course.height
        weight += w
        edge += u * w
        slope += w * a
        edge_slope += u * (w * a)
        edge_curve += u * (w * a * a)
        potential += rate
        gap += u * rate
    return Sums(weight, edge, slope, edge_slope, edge_curve, potential, gap)


@kernel
def add_up_after(crowd, course, time, duration, step):
    """Sums over a crowd as it is after a move."""
    near = add_up_samples(
        crowd.margin, crowd.right, crowd.weight, course, time, duration, step
    )
    others = crowd.others
    stepped, waited = step - others.step, duration - others.duration
    edge = others.edge_by_step * stepped + others.edge_by_time * waited
    # The potential falls with the edge, also as this changes on the way.
    mean_edge = others.sums.edge + edge - 0.5 * others.edge_by_step * stepped
    potential = (
        others.potential_by_edge * mean_edge * stepped
        + others.potential_by_time * waited
    )
    return Sums(
        near.weight + others.sums.weight,
        near.edge + others.sums.edge + edge,
        near.slope + others.sums.slope,
        near.edge_slope + others.sums.edge_slope,
        near.edge_curve + others.sums.edge_curve,
        near.potential + others.sums.potential + potential,
        near.gap + others.sums.gap,
    )


@kernel
def draw_tangent(sums, course, time, duration, step):
    """How the sums change with the move.

    By the step a changes as u / width, and by the duration as pull a / width² + pull
    step u / width - drift / width.
    """
    width = place(course, time + duration)[1]
    by_a, by_u = course.pull / (width * width), course.pull * step / width
    by_one = -course.drift / width
    fall = -2 * course.height / math.sqrt(math.pi)
    return Tangent(
        step,
        duration,
        sums,
        -2 * sums.slope / width,
        -2 * (by_a * sums.edge_curve + by_u * sums.slope + by_one * sums.edge_slope),
        fall / width,
        fall * (by_a * sums.slope + by_u * sums.edge + by_one * sums.weight),
    )
