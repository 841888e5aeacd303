"""The move of a round under a potential: how far to step and how long it takes.

At time t a sample of margin m stands at a = (m - mean(t)) / width(t); its potential is
``height`` erfc(a) and its weight exp(-a²). A move lets time run on by a duration, in
which margins fade, and adds a step to the margins of samples that the weak classifier
gets right; from the others it takes it away. A move has two equations to meet:

- E1: the weak classifier has no edge left, the sum of ±weight is 0;
- E2: the sum of the potentials is what it was.

The slope of that sum along the step is minus the edge, up to a factor. So E1 says that
the step is where the sum is lowest after this duration, and the move to take is the
first duration after which even the lowest sum is back where it began.

``search`` finds this move in some fifty evaluations of the sums. It is run on cells of
samples of like margin, and Newton's method leads from there to the move of the samples
in two or three. Without the cells, rounds of stumps take twice as long for 500 samples
and eight times for 5,000.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from splboost._tools.compiling import inner_kernel, jitable, kernel
from splboost._tools.maths import exp as exponential
from splboost.boosting.line_search import gather

FARTHEST = 26.0  # widths: exp(-26²) is near the smallest number there is

MOVED, FINISHED, NO_EDGE, STUCK, UNCLEAR = range(5)

EXACT = 1e-11  # of the summed weight: what may be left of E1 and E2
NO_GAIN = 1e-12  # of the summed weight: a fall of the potential that is none
SHORTEST = 1e-7  # of all time: a move that takes less leads nowhere
ENOUGH = 1e-3  # of all time: with no more left the end is reached
GRID = 50  # durations at which a search looks for the potential to be back
MOST_TRIALS = 200  # of a descent; it takes some three
FLAT = 6.0  # widths: erfc(6) is nothing beside erfc(0)
LONGEST = 8.0  # beyond the goal, in widths at the end or ones: no longer steps

FEW = 64  # so many samples are searched themselves
RUGGED = 512  # so few samples in a one-sided potential have dents cells do not show
CELLS_PER_WIDTH = 8
ROWS_PER_CELL = 450  # in a width, where they are many: a search takes its share
MOST_CELLS = 512
CELLS_ACROSS = 4.0  # cells in a width that sums over them need at least
NEARBY = 0.25  # widths: so far may the step of samples be from that of cells
DOUBT = 0.1  # of the summed weight, by squared cells per width: error of their sums

# Distances at which sums lower than a lowest one are looked for, in widths
OF_CELLS = 0.25, math.inf
OF_SAMPLES = 1 / 32, math.inf
OF_DENTS = 1 / 16, 0.25


class Course(NamedTuple):
    """A potential as numbers, for kernels."""

    pull: float  # rate at which margins fade
    goal: float  # mean at the end
    drift: float  # speed of the mean, beside what the pull does to it
    spread: float  # width at the end
    end: float
    floor: float  # a is not less: 0 in a one-sided potential
    height: float


def place(course: Course, time: float) -> tuple[float, float]:
    """Mean and width at a time."""
    left = course.end - time
    if course.pull == 0:
        return course.goal - course.drift * left, course.spread
    mean = (course.goal - course.drift) * math.exp(left) + course.drift
    grown = course.spread * math.exp(left)
    return mean, math.sqrt(grown * grown + math.expm1(2 * left))


class Points(NamedTuple):
    """Samples, or cells of samples of like margin."""

    margin: NDArray[np.float64]
    right: NDArray[np.bool_]
    weight: NDArray[np.float64]
    total: float  # summed weight
    lowest_right: float  # margins, of samples with weight
    highest_wrong: float


class Sums(NamedTuple):
    """Sums over points, with u = 1 where the weak classifier is right, else -1."""

    weight: float  # w
    edge: float  # u w
    slope: float  # w a
    edge_slope: float  # u w a
    edge_curve: float  # u w a²
    potential: float
    gap: float  # u times the potential


jitable(place)


@inner_kernel
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


@kernel(fastmath={"reassoc"})
def share_missed(weight, right):
    """Share of the weight that the weak classifier gets wrong."""
    missed = total = 0.0
    for i in range(weight.size):
        missed += 0.0 if right[i] else weight[i]
        total += weight[i]
    return missed / total


@kernel(fastmath={"reassoc"})
def add_up(points, course, time, duration, step):
    """Sums over points as they are after a move."""
    mean, width = place(course, time + duration)
    scale = math.exp(-course.pull * duration) / width
    if_right, if_wrong = (step - mean) / width, (-step - mean) / width
    weight = edge = slope = edge_slope = edge_curve = potential = gap = 0.0
    for i in range(points.margin.size):
        shift = if_right if points.right[i] else if_wrong
        u = 1.0 if points.right[i] else -1.0
        a = min(max(scale * points.margin[i] + shift, course.floor), FARTHEST)
        w, rate = weigh_and_rate(a, course.floor)
        w *= points.weight[i]
        rate *= points.weight[i] * course.height
        weight += w
        edge += u * w
        slope += w * a
        edge_slope += u * (w * a)
        edge_curve += u * (w * a * a)
        potential += rate
        gap += u * rate
    return Sums(weight, edge, slope, edge_slope, edge_curve, potential, gap)


@inner_kernel
def slopes(sums, course, time, step):
    """Slopes of the edge and of the potential, each by step and by duration.

    With the step a changes as u / width, and with the duration as pull a / width² +
    pull step u / width - drift / width. ``time`` is that after the move.
    """
    width = place(course, time)[1]
    by_a, by_u = course.pull / (width * width), course.pull * step / width
    by_one = -course.drift / width
    fall = -2 * course.height / math.sqrt(math.pi)
    return (
        -2 * sums.slope / width,
        -2 * (by_a * sums.edge_curve + by_u * sums.slope + by_one * sums.edge_slope),
        fall * sums.edge / width,
        fall * (by_a * sums.slope + by_u * sums.edge + by_one * sums.weight),
    )


@inner_kernel
def longest_step(points, course, time, duration):
    """Step beyond which nothing changes, or beyond reason."""
    mean, width = place(course, time + duration)
    fade = math.exp(-course.pull * duration)
    behind = mean - fade * points.lowest_right
    ahead = fade * points.highest_wrong - mean
    needed = FLAT * width + max(max(behind, ahead), 0.0)
    return min(needed, abs(course.goal) + LONGEST * max(course.spread, 1.0))


@inner_kernel
def settle(points, course, time, duration, step, enough):
    """Go from a step down to a lowest sum after a duration; step and sums there.

    There the edge falls through zero. In a one-sided potential it also leaps where a
    sample passes the floor, but only upwards, so that there is no lowest sum in a leap.
    The way ends early where the sum is below what is ``enough``.
    """
    width = place(course, time + duration)[1]
    lower, upper = 0.0, longest_step(points, course, time, duration)
    reach = width
    step = min(step, upper)
    sums = add_up(points, course, time, duration, step)
    for _ in range(MOST_TRIALS):
        at_zero = abs(sums.edge) <= 0.1 * EXACT * points.total
        if sums.potential < enough or at_zero or upper - lower <= 1e-15 * upper:
            break
        change = reach if sums.edge > 0 else -reach
        if sums.slope > 0:
            change = min(max(sums.edge * width / (2 * sums.slope), -reach), reach)
        trial = min(max(step + change, lower), upper)
        if trial == step:
            break
        there = add_up(points, course, time, duration, trial)
        if there.potential > sums.potential + 0.01 * EXACT * points.total:
            if trial > step:
                upper = trial
            else:
                lower = trial
            reach = 0.5 * abs(trial - step)
            continue
        if sums.edge > 0:
            lower = step
        else:
            upper = step
        step, sums, reach = trial, there, width
    return step, sums


@inner_kernel
def find_lower(points, course, time, duration, step, ceiling, distances):
    """A step with a sum below the ceiling, at a distance from the given one, else -1.

    With a longer step the samples that are right only lose potential and the others
    only gain. So between two steps the sum is at least that of the right ones after the
    longer and of the wrong ones after the shorter. An interval in which this is below
    the ceiling is halved, down to a grain.
    """
    width = place(course, time + duration)[1]
    longest = longest_step(points, course, time, duration)
    near, far = distances[0] * width, distances[1] * width
    grain = max(0.5 * near, longest / 4096)
    for start, end in (
        (max(step - far, 0.0), step - near),
        (step + near, min(step + far, longest)),
    ):
        if start > end:
            continue
        sums = add_up(points, course, time, duration, start)
        if sums.potential < ceiling:
            return start
        of_wrong = 0.5 * (sums.potential - sums.gap)
        sums = add_up(points, course, time, duration, end)
        if sums.potential < ceiling:
            return end
        waiting = [(start, end, of_wrong, 0.5 * (sums.potential + sums.gap))]
        while waiting:
            low, high, of_wrong, of_right = waiting.pop()
            if of_wrong + of_right >= ceiling or high - low <= grain:
                continue
            middle = 0.5 * (low + high)
            sums = add_up(points, course, time, duration, middle)
            if sums.potential < ceiling:
                return middle
            waiting.append((low, middle, of_wrong, 0.5 * (sums.potential + sums.gap)))
            waiting.append((middle, high, 0.5 * (sums.potential - sums.gap), of_right))
    return -1.0


@inner_kernel
def return_between(points, course, time, start, shorter, longer, step):
    """Duration and step at which the lowest sum near a step is back at the start.

    After the shorter duration it is below, after the longer it is not. Newton's method,
    with halving where it leaves the interval.
    """
    narrowest = 5e-16 * course.end
    duration = shorter
    while True:
        step, sums = settle(points, course, time, duration, step, -math.inf)
        risen = sums.potential - start
        if risen < 0:
            shorter = duration
        else:
            longer = duration
        close = abs(risen) <= 0.1 * EXACT * points.total and duration > 0
        if close or longer - shorter <= narrowest:
            return duration, step
        duration -= risen / slopes(sums, course, time + duration, step)[3]
        if not shorter < duration < longer:
            duration = 0.5 * (shorter + longer)


@kernel
def search(points, course, time, distances, cell):
    """The move of a round, found among all: outcome, step and duration.

    Durations of a grid are tried until no step leads below the start; the move to take
    lies between the last two. ``cell`` is the width of cells, 0 for samples. What cells
    say is unclear where the potential gets narrow, and where they are close to saying
    something else.
    """
    rest, width = course.end - time, place(course, time)[1]
    doubt = DOUBT * (cell / width) ** 2 * points.total
    start = add_up(points, course, time, 0.0, 0.0).potential
    ceiling = start - NO_GAIN * points.total
    enough = ceiling - doubt
    step = shorter = longer = 0.0
    for k in range(GRID + 1):
        longer = rest * k / GRID
        if place(course, time + longer)[1] < CELLS_ACROSS * cell:
            return UNCLEAR, 0.0, 0.0
        other, sums = settle(points, course, time, longer, step, enough)
        if sums.potential >= ceiling:
            other = find_lower(points, course, time, longer, other, ceiling, distances)
        if other < 0:
            break
        shorter, step, ceiling = longer, other, start
    if longer == 0:
        return NO_EDGE, 0.0, 0.0
    if other >= 0:
        while other >= 0:
            step, sums = settle(points, course, time, rest, other, -math.inf)
            ceiling = sums.potential - EXACT * points.total
            other = find_lower(points, course, time, rest, step, ceiling, distances)
        return FINISHED, step, rest
    ceiling = start + (doubt if cell > 0 else -EXACT * points.total)
    for _ in range(GRID):
        duration, step = return_between(
            points, course, time, start, shorter, longer, step
        )
        other = find_lower(points, course, time, duration, step, ceiling, distances)
        if other < 0:
            break
        if cell > 0:
            return UNCLEAR, 0.0, 0.0
        shorter, step = duration, other
    if step == 0:  # the best would be a step back
        return NO_EDGE, 0.0, 0.0
    return MOVED, step, duration


@kernel(fastmath={"reassoc"})
def survey(margin, right, weight):
    """The samples as points, and their least and greatest margin.

    Samples of weight 0 do not count.
    """
    total = 0.0
    lowest_right = lowest_wrong = np.inf
    highest_right = highest_wrong = -np.inf
    for i in range(margin.size):
        total += weight[i]
        low = margin[i] if weight[i] > 0 else np.inf
        high = margin[i] if weight[i] > 0 else -np.inf
        lowest_right = min(lowest_right, low if right[i] else np.inf)
        highest_right = max(highest_right, high if right[i] else -np.inf)
        lowest_wrong = min(lowest_wrong, np.inf if right[i] else low)
        highest_wrong = max(highest_wrong, -np.inf if right[i] else high)
    samples = Points(margin, right, weight, total, lowest_right, highest_wrong)
    return samples, min(lowest_right, lowest_wrong), max(highest_right, highest_wrong)


@inner_kernel
def refine(samples, course, time, start, outcome, step, duration):
    """The move of the samples, by Newton's method from that of cells.

    It is unclear where there is none nearby, or one that is not the best nearby.
    """
    if outcome == FINISHED:
        step, sums = settle(samples, course, time, duration, step, -math.inf)
        return FINISHED if sums.potential <= start else UNCLEAR, step, duration
    if outcome == UNCLEAR:
        return UNCLEAR, 0.0, 0.0
    # Without an edge among cells this begins at no move at all. Where that meets both
    # equations, the classifier is used up: the round is stuck.
    rest, width = course.end - time, place(course, time + duration)[1]
    least, most = max(step - NEARBY * width, 0.0), step + NEARBY * width
    shortest = max(duration - rest / GRID, 0.0)
    longest = min(duration + rest / GRID, rest)
    for _ in range(20):
        sums = add_up(samples, course, time, duration, step)
        edge, risen = sums.edge, sums.potential - start
        if max(abs(edge), abs(risen)) <= EXACT * samples.total:
            break
        edge_by_step, edge_by_time, by_step, by_time = slopes(
            sums, course, time + duration, step
        )
        determinant = edge_by_step * by_time - edge_by_time * by_step
        step += (risen * edge_by_time - edge * by_time) / determinant
        duration += (edge * by_step - risen * edge_by_step) / determinant
        if not (least < step < most and shortest < duration < longest):
            return UNCLEAR, 0.0, 0.0
    other = -1.0
    if course.floor == 0 and samples.margin.size <= RUGGED:
        ceiling = start - EXACT * samples.total
        other = find_lower(samples, course, time, duration, step, ceiling, OF_DENTS)
    is_lowest = sums.slope > 0 and other < 0
    return MOVED if is_lowest else UNCLEAR, step, duration


@kernel
def solve(margin, right, weight, course, time, start):
    """The move of a round: outcome, step and duration.

    ``start`` is the summed potential before it, NaN where that is not known.
    """
    samples, lowest, highest = survey(margin, right, weight)
    if samples.total <= 0:
        return NO_EDGE, 0.0, 0.0
    if math.isnan(start):
        start = add_up(samples, course, time, 0.0, 0.0).potential
    widths = (highest - lowest) / place(course, time)[1]
    per_width = max(CELLS_PER_WIDTH, margin.size / ROWS_PER_CELL)
    n_cells = 1 + int(min(widths * per_width, MOST_CELLS))
    outcome, step, duration = UNCLEAR, 0.0, 0.0
    if margin.size > FEW and n_cells >= CELLS_PER_WIDTH * widths:
        cells = gather(margin, right, weight, lowest, highest, n_cells)
        points = Points(*cells, *samples[3:])
        cell = (highest - lowest) / n_cells
        outcome, step, duration = search(points, course, time, OF_CELLS, cell)
        outcome, step, duration = refine(
            samples, course, time, start, outcome, step, duration
        )
    if outcome == UNCLEAR:
        outcome, step, duration = search(samples, course, time, OF_SAMPLES, 0.0)
    if outcome == MOVED and time + duration >= (1 - ENOUGH) * course.end:
        return FINISHED, step, duration
    if outcome == MOVED and duration < SHORTEST * course.end:
        return STUCK, 0.0, 0.0
    return outcome, step, duration
