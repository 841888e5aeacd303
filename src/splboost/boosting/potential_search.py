"""The move of a round under a potential: how far to step and how long it takes.

A move has two equations to meet:

- E1: the weak classifier has no edge left, the sum of ±weight is 0;
- E2: the sum of the potentials is what it was.

The slope of that sum along the step is minus the edge, up to a factor. So E1 says that
the step is where the sum is lowest after this duration, and the move to take is the
first duration after which even the lowest sum is back where it began. ``search`` finds
it among all, in many evaluations; ``solve`` searches among a few cells of samples of
like margin, and finds the exact root from there in a few.
"""

from __future__ import annotations

import math

import numpy as np

from splboost.boosting.potential_kernels import (
    NO_OTHERS,
    Crowd,
    Sums,
    add_up_after,
    draw_tangent,
    place,
)
from splboost.compiled import kernel

MOVED, FINISHED, NO_EDGE, STUCK, UNCLEAR = range(5)

EXACT = 1e-11  # of the summed weight: what may be left of E1 and E2
NO_GAIN = 1e-12  # of the summed weight: a fall of the potential that is none
SHORTEST = 1e-7  # of all time: a move that takes less leads nowhere
ENOUGH = 1e-3  # of all time: with no more left the end is reached
GRID = 50  # durations at which a search looks for the potential to be back
FLAT = 6.0  # widths: erfc(6) is nothing beside erfc(0)
LONGEST = 8.0  # widths at time 0: longer steps are not considered

FEW = 64  # so many samples are searched themselves
CELLS_PER_WIDTH = 8
CELL_NARROWER = 4.0  # times than the width, or sums over cells say little
CLEARANCE = 0.25, 1 / 32  # widths around a lowest sum of cells, and of samples,
# in which no other one is looked for
DOUBT = 0.1  # of the summed weight, by squared cells per width: error of their sums
NEARBY = 0.25  # widths: so far may the exact step be from that of cells


@kernel
def longest_step(crowd, course, time, duration):
    """Step beyond which nothing changes, or beyond reason."""
    mean, width = place(course, time + duration)
    fade = math.exp(-course.pull * duration)
    needed = FLAT * width + max(
        mean - fade * crowd.lowest_right, fade * crowd.highest_wrong - mean, 0.0
    )
    return min(needed, abs(course.goal) + LONGEST * place(course, 0.0)[1])


@kernel
def settle(crowd, course, time, duration, step):
    """Go down to a lowest summed potential after a duration; step and sums there.

    There the edge falls through zero. In a one-sided potential it also leaps where a
    sample passes the floor, but only upwards, so that there is no lowest sum in a leap.
    """
    width = place(course, time + duration)[1]
    lower, upper = 0.0, longest_step(crowd, course, time, duration)
    narrowest = 1e-15 * upper
    best = min(step, upper)
    sums = add_up_after(crowd, course, time, duration, best)
    while abs(sums.edge) > 0.1 * EXACT * crowd.total and upper - lower > narrowest:
        change = width if sums.edge > 0 else -width
        if sums.slope > 0:
            change = min(max(sums.edge * width / (2 * sums.slope), -width), width)
        trial = min(max(best + change, lower), upper)
        while trial != best:
            there = add_up_after(crowd, course, time, duration, trial)
            if there.potential <= sums.potential + 0.01 * EXACT * crowd.total:
                break
            if trial > best:
                upper = trial
            else:
                lower = trial
            trial = 0.5 * (best + trial)
        if trial == best:
            break
        if sums.edge > 0:
            lower = best
        else:
            upper = best
        best, sums = trial, there
    return best, sums


@kernel
def find_lower(crowd, course, time, duration, start, end, ceiling, grain):
    """A step between two with a summed potential below the ceiling, else -1.

    With a longer step the samples that are right only lose potential and the others
    only gain. So between two steps the sum is at least that of the right ones after the
    longer and of the wrong ones after the shorter. An interval in which this is below
    the ceiling is halved, down to the grain.
    """
    if start > end:
        return -1.0
    sums = add_up_after(crowd, course, time, duration, start)
    if sums.potential < ceiling:
        return start
    of_wrong = 0.5 * (sums.potential - sums.gap)
    sums = add_up_after(crowd, course, time, duration, end)
    if sums.potential < ceiling:
        return end
    of_right = 0.5 * (sums.potential + sums.gap)
    waiting = [(start, end, of_wrong, of_right)]
    while waiting:
        start, end, of_wrong, of_right = waiting.pop()
        if of_wrong + of_right >= ceiling or end - start <= grain:
            continue
        middle = 0.5 * (start + end)
        sums = add_up_after(crowd, course, time, duration, middle)
        if sums.potential < ceiling:
            return middle
        waiting.append((start, middle, of_wrong, 0.5 * (sums.potential + sums.gap)))
        waiting.append((middle, end, 0.5 * (sums.potential - sums.gap), of_right))
    return -1.0


@kernel
def find_lower_elsewhere(crowd, course, time, duration, step, ceiling, clearance):
    """A step not near this one with a sum below the ceiling, else -1."""
    clear = clearance * place(course, time + duration)[1]
    longest = longest_step(crowd, course, time, duration)
    grain = max(0.5 * clear, longest / 4096)
    other = find_lower(crowd, course, time, duration, 0.0, step - clear, ceiling, grain)
    if other >= 0:
        return other
    return find_lower(
        crowd, course, time, duration, step + clear, longest, ceiling, grain
    )


@kernel
def descend(crowd, course, time, duration, step, ceiling, clearance):
    """Settle near a step or, where that is not below the ceiling, elsewhere."""
    step, sums = settle(crowd, course, time, duration, step)
    if sums.potential >= ceiling:
        other = find_lower_elsewhere(
            crowd, course, time, duration, step, ceiling, clearance
        )
        if other >= 0:
            return settle(crowd, course, time, duration, other)
    return step, sums


@kernel
def return_between(crowd, course, time, start, shorter, longer, duration, step):
    """Duration and step at which the lowest sum is back at the start.

    After the shorter duration it is below, after the longer it is not. Newton's method,
    from a duration between them; with halving where it leaves the interval.
    """
    narrowest = 1e-16 * course.end
    while True:
        step, sums = settle(crowd, course, time, duration, step)
        risen = sums.potential - start
        if risen < 0:
            shorter = duration
        else:
            longer = duration
        close = abs(risen) <= 0.1 * EXACT * crowd.total and duration > 0
        if close or longer - shorter <= narrowest:
            return duration, step
        tangent = draw_tangent(sums, course, time, duration, step)
        duration -= risen / tangent.potential_by_time
        if not shorter < duration < longer:
            duration = 0.5 * (shorter + longer)


@kernel
def judge(course, time, duration):
    """What a move of this duration is."""
    if time + duration >= (1 - ENOUGH) * course.end:
        return FINISHED
    return MOVED if duration >= SHORTEST * course.end else STUCK


@kernel
def search(crowd, course, time, narrowest, clearance, doubt):
    """The move of a round, found among all: outcome, step and duration.

    Cells have a ``doubt``. It is unclear what they say where the potential gets
    narrower than ``narrowest``, and where they are as close as the doubt to something
    else.
    """
    rest = course.end - time
    start = add_up_after(crowd, course, time, 0.0, 0.0).potential
    ceiling = start - NO_GAIN * crowd.total
    step, sums = descend(crowd, course, time, 0.0, 0.0, ceiling, clearance)
    if sums.potential >= ceiling:
        return NO_EDGE, 0.0, 0.0
    shorter = longer = 0.0
    back = False
    for k in range(1, GRID + 1):
        longer = rest * k / GRID
        if place(course, time + longer)[1] < narrowest:
            return UNCLEAR, 0.0, 0.0
        before = sums.potential
        stepped, sums = descend(crowd, course, time, longer, step, start, clearance)
        back = sums.potential >= start
        if back:
            break
        if sums.potential < before and before > start - doubt * crowd.total:
            return UNCLEAR, 0.0, 0.0
        shorter, step = longer, stepped
    if not back:
        other = step
        while other >= 0:
            step, sums = settle(crowd, course, time, rest, other)
            ceiling = sums.potential - EXACT * crowd.total
            other = find_lower_elsewhere(
                crowd, course, time, rest, step, ceiling, clearance
            )
        return FINISHED, step, rest
    ceiling = start + (doubt * crowd.total if doubt else -EXACT * crowd.total)
    duration = shorter
    for _ in range(GRID):
        duration, step = return_between(
            crowd, course, time, start, shorter, longer, duration, step
        )
        other = find_lower_elsewhere(
            crowd, course, time, duration, step, ceiling, clearance
        )
        if other < 0:
            break
        if doubt:
            return UNCLEAR, 0.0, 0.0
        shorter, step = duration, other
    sums = add_up_after(crowd, course, time, duration, step)
    if abs(sums.edge) > 1e3 * EXACT * crowd.total:  # the best would be a step back
        return NO_EDGE, 0.0, 0.0
    return judge(course, time, duration), step, duration


@kernel(fastmath={"reassoc"})
def survey(margin, right, weight):
    """All samples as a crowd, with the ends of their margins.

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
    rows = Crowd(margin, right, weight, total, lowest_right, highest_wrong, NO_OTHERS)
    return rows, min(lowest_right, lowest_wrong), max(highest_right, highest_wrong)


@kernel
def gather(rows, lowest, highest, n_cells):
    """Cells of samples of like margin and the same vote, with their mean margins."""
    scale = n_cells / (highest - lowest) if highest > lowest else 0.0
    weight, moment = np.zeros(2 * n_cells), np.zeros(2 * n_cells)
    for i in range(rows.margin.size):
        margin = min(max(rows.margin[i], lowest), highest)
        cell = min(int((margin - lowest) * scale), n_cells - 1)
        cell += n_cells * rows.right[i]
        weight[cell] += rows.weight[i]
        moment[cell] += rows.weight[i] * margin
    for cell in range(weight.size):
        moment[cell] /= weight[cell] if weight[cell] > 0 else 1.0
    return Crowd(
        moment,
        np.arange(2 * n_cells) >= n_cells,
        weight,
        rows.total,
        rows.lowest_right,
        rows.highest_wrong,
        NO_OTHERS,
    )


@kernel
def step_of_newton(tangent, start):
    """Changes of step and duration that would meet E1 and E2 by the tangent."""
    edge, risen = tangent.sums.edge, tangent.sums.potential - start
    potential_by_step = tangent.potential_by_edge * edge
    determinant = (
        tangent.edge_by_step * tangent.potential_by_time
        - tangent.edge_by_time * potential_by_step
    )
    step = risen * tangent.edge_by_time - edge * tangent.potential_by_time
    duration = edge * potential_by_step - risen * tangent.edge_by_step
    return step / determinant, duration / determinant


@kernel
def keep_near_floor(rows, course, time, tangent, reach):
    """Samples within reach of the floor; all others are known by their tangent."""
    mean, width = place(course, time + tangent.duration)
    scale = math.exp(-course.pull * tangent.duration) / width
    if_right, if_wrong = (tangent.step - mean) / width, (-tangent.step - mean) / width
    near = np.empty(rows.margin.size, np.int64)
    size = 0
    for i in range(rows.margin.size):
        shift = if_right if rows.right[i] else if_wrong
        near[size] = i
        size += abs(scale * rows.margin[i] + shift) < reach
    near = near[:size]
    margin, right, weight = rows.margin[near], rows.right[near], rows.weight[near]
    crowd = Crowd(
        margin,
        right,
        weight,
        rows.total,
        rows.lowest_right,
        rows.highest_wrong,
        NO_OTHERS,
    )
    step, duration = tangent.step, tangent.duration
    here = add_up_after(crowd, course, time, duration, step)
    there = tangent.sums
    others = Sums(
        there.weight - here.weight,
        there.edge - here.edge,
        there.slope - here.slope,
        there.edge_slope - here.edge_slope,
        there.edge_curve - here.edge_curve,
        there.potential - here.potential,
        there.gap - here.gap,
    )
    return Crowd(
        margin,
        right,
        weight,
        rows.total,
        rows.lowest_right,
        rows.highest_wrong,
        draw_tangent(others, course, time, duration, step),
    )


@kernel
def polish(rows, course, time, start, step, duration):
    """Meet E1 and E2 exactly from near their root: whether met, step and duration.

    Newton's method. In a one-sided potential the samples that may pass the floor on the
    way are not taken by their tangent, but as they are.
    """
    width = place(course, time + duration)[1]
    lowest, highest = max(step - NEARBY * width, 0.0), step + NEARBY * width
    rest = course.end - time
    shorter, longer = (
        max(duration - rest / GRID, 0.0),
        min(duration + rest / GRID, rest),
    )
    for _ in range(10):
        sums = add_up_after(rows, course, time, duration, step)
        risen = sums.potential - start
        if max(abs(sums.edge), abs(risen)) <= EXACT * rows.total:
            return sums.slope > 0, step, duration
        tangent = draw_tangent(sums, course, time, duration, step)
        by_step, by_time = step_of_newton(tangent, start)
        if course.floor == 0:
            speed = course.drift + course.pull * step
            reach = 8 * (abs(by_step) + abs(by_time) * speed) / width
            near = keep_near_floor(rows, course, time, tangent, reach)
            duration, step = return_between(
                near, course, time, start, shorter, longer, duration, step
            )
        else:
            step += by_step
            duration += by_time
        if not (lowest < step < highest and shorter < duration < longer):
            break
    return False, step, duration


@kernel
def solve(margin, right, weight, course, time, start):
    """The move of a round: outcome, step and duration.

    ``start`` is the summed potential before it, NaN where that is not known.
    """
    rows, lowest, highest = survey(margin, right, weight)
    if rows.total <= 0:
        return NO_EDGE, 0.0, 0.0
    if margin.size > FEW:
        mean, width = place(course, time)
        lowest = max(lowest, mean - LONGEST * width)
        highest = max(min(highest, mean + LONGEST * width), lowest)
        per_width = max(CELLS_PER_WIDTH, math.sqrt(margin.size) / 6)
        n_cells = 8 * math.ceil((1 + per_width * (highest - lowest) / width) / 8)
        narrowest = CELL_NARROWER * (highest - lowest) / n_cells
        cells = gather(rows, lowest, highest, n_cells)
        outcome, step, duration = search(
            cells,
            course,
            time,
            narrowest,
            CLEARANCE[0],
            DOUBT / (per_width * per_width),
        )
        if outcome != UNCLEAR and math.isnan(start):
            start = add_up_after(rows, course, time, 0.0, 0.0).potential
        if outcome == FINISHED:
            step, sums = settle(rows, course, time, duration, step)
            if sums.potential <= start:
                return outcome, step, duration
        elif outcome != UNCLEAR:
            met, step, duration = polish(rows, course, time, start, step, duration)
            if met:
                return judge(course, time, duration), step, duration
    return search(rows, course, time, 0.0, CLEARANCE[1], 0.0)
