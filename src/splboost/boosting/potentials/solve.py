"""The fast way to the move of a round.

A search among all moves takes many evaluations. It is made among a few cells of samples
of like margin; the move of the samples themselves is found from there in two or three.
Where the cells leave doubts, the search is made among the samples.
"""

from __future__ import annotations

import math

import numpy as np

from splboost._tools.compiling import kernel
from splboost.boosting.potentials.kernels import (
    NO_OTHERS,
    Crowd,
    Sums,
    add_up_after,
    draw_tangent,
    place,
)
from splboost.boosting.potentials.search import (
    EXACT,
    FINISHED,
    GRID,
    MOVED,
    NO_EDGE,
    STUCK,
    UNCLEAR,
    find_lower_elsewhere,
    return_between,
    search,
    settle,
)

SHORTEST = 1e-7  # of all time: a move that takes less leads nowhere
ENOUGH = 1e-3  # of all time: with no more left the end is reached

CHUNK = 256  # samples that are counted at once
FEW = 64  # so many samples are searched themselves
CELLS_PER_WIDTH = 8
ROWS_PER_CELL = 450  # in a width, where they are many: a search takes its share
MOST_CELLS = 512
RUGGED = 512  # so few samples in a one-sided potential have dents cells do not show
CELL_NARROWER = 4.0  # times than the width, or sums over cells say little
CLEARANCE = 0.25, 1 / 32  # widths around a lowest sum, of cells and of samples,
# in which no lower one is looked for
DOUBT = 0.1  # of the summed weight, by squared cells per width: error of their sums
CLOSE = 0.03 * math.sqrt(EXACT)  # from there a step of Newton is exact
NEARBY = 0.25  # widths: so far may the exact step be from that of cells


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
def list_near_floor(rows, scale, if_right, if_wrong, reach):
    """Samples within reach of the floor."""
    near = [0 for _ in range(0)]
    for start in range(0, rows.margin.size, CHUNK):
        margin = rows.margin[start : start + CHUNK]
        right = rows.right[start : start + CHUNK]
        size = 0
        for i in range(margin.size):  # counts vectorise, and are mostly zero
            a = scale * margin[i] + (if_right if right[i] else if_wrong)
            size += abs(a) < reach
        if size:
            for i in range(margin.size):
                a = scale * margin[i] + (if_right if right[i] else if_wrong)
                if abs(a) < reach:
                    near.append(start + i)
    return np.array(near, dtype=np.int64)


@kernel
def keep_near_floor(rows, course, time, tangent, reach):
    """Samples within reach of the floor; all others are known by their tangent."""
    mean, width = place(course, time + tangent.duration)
    scale = math.exp(-course.pull * tangent.duration) / width
    if_right, if_wrong = (tangent.step - mean) / width, (-tangent.step - mean) / width
    near = list_near_floor(rows, scale, if_right, if_wrong, reach)
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
    shorter = max(duration - rest / GRID, 0.0)
    longer = min(duration + rest / GRID, rest)
    for _ in range(10):
        sums = add_up_after(rows, course, time, duration, step)
        risen = sums.potential - start
        left = max(abs(sums.edge), abs(risen))
        if left <= EXACT * rows.total:
            return sums.slope > 0, step, duration
        tangent = draw_tangent(sums, course, time, duration, step)
        by_step, by_time = step_of_newton(tangent, start)
        if course.floor == 0:
            speed = course.drift + course.pull * step
            reach = 8 * (abs(by_step) + abs(by_time) * speed) / width
            near = keep_near_floor(rows, course, time, tangent, reach)
            duration, step = return_between(
                near, course, time, start, shorter, longer, duration, step, math.inf
            )
        else:
            step += by_step
            duration += by_time
        if not (lowest < step < highest and shorter < duration < longer):
            break
        if left <= CLOSE * rows.total:
            return sums.slope > 0, step, duration
    return False, step, duration


@kernel
def find_move(margin, right, weight, course, time, start):
    """The move of a round among cells, then among samples."""
    rows, lowest, highest = survey(margin, right, weight)
    if rows.total <= 0:
        return NO_EDGE, 0.0, 0.0
    width = place(course, time)[1]
    widths = (highest - lowest) / width
    per_width = max(CELLS_PER_WIDTH, margin.size / ROWS_PER_CELL)
    n_cells = 1 + int(min(widths * per_width, MOST_CELLS))
    if margin.size > FEW and n_cells >= CELLS_PER_WIDTH * widths:
        cells = gather(rows, lowest, highest, n_cells)
        cell_width = (highest - lowest) / n_cells
        doubt = DOUBT * (cell_width / width) ** 2
        outcome, step, duration = search(
            cells, course, time, CELL_NARROWER * cell_width, CLEARANCE[0], doubt
        )
        if outcome != UNCLEAR and math.isnan(start):
            start = add_up_after(rows, course, time, 0.0, 0.0).potential
        if outcome == FINISHED:
            step, sums = settle(rows, course, time, duration, step, -math.inf)
            if sums.potential <= start:
                return outcome, step, duration
        elif outcome in (MOVED, NO_EDGE):
            met, step, duration = polish(rows, course, time, start, step, duration)
            if met and course.floor == 0 and margin.size <= RUGGED:
                ceiling = start - EXACT * rows.total
                nearest, farthest = 0.25 * CLEARANCE[0], CLEARANCE[0]
                other = find_lower_elsewhere(
                    rows, course, time, duration, step, ceiling, nearest, farthest
                )
                met = other < 0
            if met:
                return MOVED, step, duration
    return search(rows, course, time, 0.0, CLEARANCE[1], 0.0)


@kernel
def solve(margin, right, weight, course, time, start):
    """The move of a round: outcome, step and duration.

    ``start`` is the summed potential before it, NaN where that is not known.
    """
    outcome, step, duration = find_move(margin, right, weight, course, time, start)
    if outcome == MOVED and time + duration >= (1 - ENOUGH) * course.end:
        return FINISHED, step, duration
    if outcome == MOVED and duration < SHORTEST * course.end:
        return STUCK, 0.0, 0.0
    return outcome, step, duration
