"""The experiments of the SPLBoost paper: protocol, runs, figures and report.

`protocol` says what is compared and how, `draw` makes the data of a case, `methods` has
the boosters and how their parameters are chosen. `runner` measures what is missing and
keeps it in a `store`. The command line is ``splboost paper``.
"""
