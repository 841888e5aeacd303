"""From an answer of the weak learner to the term that is added.

discrete_steps.py   a vote times a coefficient from its weighted error
value_steps.py      values, shrunk
searches.py         values times a length found by search
potential_steps.py  a vote with the time that passes, RobustBoost and BrownBoost
"""
