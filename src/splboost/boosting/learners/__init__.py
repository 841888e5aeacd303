"""Weak learners as the loop knows them: weights and targets in, an answer a row out.

weak.py               what a weak learner has to be able to do
discrete_learners.py  answers that are votes
value_learners.py     answers that are values, from trees of this library
row_learners.py       answers that are values, from C4.5 and foreign estimators
columns.py            one answer for each class
"""
