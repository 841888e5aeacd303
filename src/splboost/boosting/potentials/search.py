"""The move of a round under a potential: how far to step and how long it takes.

A move has two equations to meet:

- E1: the weak classifier has no edge left, the sum of ±weight is 0;
- E2: the sum of the potentials is what it was.

The slope of that sum along the step is minus the edge, up to a factor. So E1 says that
the step is where the sum is lowest after this duration, and the move to take is the
first duration after which even the lowest sum is back where it began. ``search`` finds
it among all, in many evaluations.
"""

from __future__ import annotations

import math

from splboost._tools.compiling import kernel
from splboost.boosting.potentials.kernels import add_up_after, draw_tangent, place

MOVED, FINISHED, NO_EDGE, STUCK, UNCLEAR = range(5)

EXACT = 1e-11  # of the summed weight: what may be left of E1 and E2
NO_GAIN = 1e-12  # of the summed weight: a fall of the potential that is none
GRID = 50  # durations at which a search looks for the potential to be back
FLAT = 6.0  # widths: erfc(6) is nothing beside erfc(0)
LONGEST = 8.0  # beyond the goal, in widths at the end or ones: no longer steps


@kernel
def longest_step(crowd, course, time, duration):
    """Step beyond which nothing changes, or beyond reason."""
    mean, width = place(course, time + duration)
    fade = math.exp(-course.pull * duration)
    needed = FLAT * width + max(
        mean - fade * crowd.lowest_right, fade * crowd.highest_wrong - mean, 0.0
    )
    return min(needed, abs(course.goal) + LONGEST * max(course.spread, 1.0))


@kernel
def settle(crowd, course, time, duration, step, enough):
    """Go down to a lowest summed potential after a duration; step and sums there.

    There the edge falls through zero. In a one-sided potential it also leaps where a
    sample passes the floor, but only upwards, so that there is no lowest sum in a leap.
    The way ends early where the sum is below what is ``enough``.
    """
    width = place(course, time + duration)[1]
    lower, upper = 0.0, longest_step(crowd, course, time, duration)
    narrowest = 1e-15 * upper
    best = min(step, upper)
    sums = add_up_after(crowd, course, time, duration, best)
    while (
        sums.potential >= enough
        and abs(sums.edge) > 0.1 * EXACT * crowd.total
        and upper - lower > narrowest
    ):
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
def find_lower_elsewhere(
    crowd, course, time, duration, step, ceiling, nearest, farthest
):
    """A step with a sum below the ceiling, else -1.

    It is looked for at distances between two from a step, given in widths.
    """
    width = place(course, time + duration)[1]
    longest = longest_step(crowd, course, time, duration)
    start, end = (
        max(step - farthest * width, 0.0),
        min(step + farthest * width, longest),
    )
    clear = nearest * width
    grain = max(0.5 * clear, longest / 4096)
    other = find_lower(
        crowd, course, time, duration, start, step - clear, ceiling, grain
    )
    if other >= 0:
        return other
    return find_lower(crowd, course, time, duration, step + clear, end, ceiling, grain)


@kernel
def descend(crowd, course, time, duration, step, ceiling, enough, clearance):
    """Settle near a step or, where that is not below the ceiling, elsewhere."""
    step, sums = settle(crowd, course, time, duration, step, enough)
    if sums.potential >= ceiling:
        other = find_lower_elsewhere(
            crowd, course, time, duration, step, ceiling, clearance, math.inf
        )
        if other >= 0:
            return settle(crowd, course, time, duration, other, enough)
    return step, sums


@kernel
def return_between(
    crowd, course, time, start, shorter, longer, duration, step, clearance
):
    """Duration and step at which the lowest sum is back at the start.

    After the shorter duration it is below, after the longer it is not. Newton's method,
    from a duration between them; with halving where it leaves the interval.
    """
    narrowest = 1e-16 * course.end
    while True:
        step, sums = descend(
            crowd, course, time, duration, step, start, -math.inf, clearance
        )
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
def search(crowd, course, time, narrowest, clearance, doubt):
    """The move of a round, found among all: outcome, step and duration.

    Cells have a ``doubt``. It is unclear what they say where the potential gets
    narrower than ``narrowest``, and where they are as close as the doubt to saying
    something else.
    """
    outcome, step, duration = scan(
        crowd, course, time, narrowest, clearance, doubt, True
    )
    if outcome == MOVED and doubt == 0:
        start = add_up_after(crowd, course, time, 0.0, 0.0).potential
        risen = add_up_after(crowd, course, time, duration, step).potential - start
        if abs(risen) > EXACT * crowd.total:
            return scan(crowd, course, time, narrowest, clearance, doubt, False)
    return outcome, step, duration


@kernel
def scan(crowd, course, time, narrowest, clearance, doubt, hasty):
    """The same, without a look back.

    If ``hasty``, it does not go down all the way where the sum is surely not back yet;
    in rare cases it then misses the way that leads on.
    """
    rest = course.end - time
    start = add_up_after(crowd, course, time, 0.0, 0.0).potential
    ceiling = start - NO_GAIN * crowd.total
    enough = ceiling - doubt * crowd.total if hasty else -math.inf
    step, sums = descend(crowd, course, time, 0.0, 0.0, ceiling, enough, clearance)
    if sums.potential >= ceiling:
        return NO_EDGE, 0.0, 0.0
    shorter = longer = 0.0
    back = False
    for k in range(1, GRID + 1):
        longer = rest * k / GRID
        if place(course, time + longer)[1] < narrowest:
            return UNCLEAR, 0.0, 0.0
        before = sums.potential
        stepped, sums = descend(
            crowd, course, time, longer, step, start, enough, clearance
        )
        back = sums.potential >= start
        if back:
            break
        if sums.potential < before and before > start - doubt * crowd.total:
            return UNCLEAR, 0.0, 0.0
        shorter, step = longer, stepped
    if not back:
        other = step
        while other >= 0:
            step, sums = settle(crowd, course, time, rest, other, -math.inf)
            ceiling = sums.potential - EXACT * crowd.total
            other = find_lower_elsewhere(
                crowd, course, time, rest, step, ceiling, clearance, math.inf
            )
        return FINISHED, step, rest
    ceiling = start + (doubt * crowd.total if doubt else -EXACT * crowd.total)
    duration = shorter
    for _ in range(GRID):
        duration, step = return_between(
            crowd,
            course,
            time,
            start,
            shorter,
            longer,
            duration,
            step,
            math.inf if doubt else clearance,
        )
        other = find_lower_elsewhere(
            crowd, course, time, duration, step, ceiling, clearance, math.inf
        )
        if other < 0:
            break
        if doubt:
            return UNCLEAR, 0.0, 0.0
        shorter, step = duration, other
    if step == 0:  # the best would be a step back
        return NO_EDGE, 0.0, 0.0
    return MOVED, step, duration
