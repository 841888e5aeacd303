"""The score of every row and what follows from it: loss, pace, weights, targets.

discrete_scores.py  after votes, where only wrong rows change their weight
additive.py         after values
residuals.py        of regression
working_sets.py     what a round has to fit: targets and weights of each booster
links.py            from what a learner fits to what is added to the score
witnesses.py        how many rows stand behind a weight
working.py, kernels.py  compiled
"""
