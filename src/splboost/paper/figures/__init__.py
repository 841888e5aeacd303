"""The paper's pictures, with matplotlib."""

from splboost.paper.figures.critical_difference import draw_critical_difference

__all__ = ["draw_critical_difference"]
