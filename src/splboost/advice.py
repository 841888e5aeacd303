"""Warnings that point at the user's own line."""

from __future__ import annotations

import sys
import warnings


def warn(message: str) -> None:
    """Warn where the user's code called into this package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("splboost."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)
