"""The course of a potential over time, as numbers."""

from __future__ import annotations

from typing import NamedTuple

FARTHEST = 26.0  # widths: exp(-26²) is near the smallest number there is


class Course(NamedTuple):
    """A potential as kernels see it."""

    pull: float  # rate at which margins fade
    goal: float  # mean at the end
    drift: float  # speed of the mean, beside what the pull does to it
    spread: float  # width at the end
    end: float
    floor: float  # a is not less: 0 in a one-sided potential
    height: float
