"""The potentials of RobustBoost and BrownBoost, and their equations.

course.py      where in time and margin a fit stands
potentials.py  RobustPotential, BrownPotential
kernels.py     sums over rows, compiled
search.py      roots of one equation
solve.py       step and time from both
"""
