"""What boosters of one family share, up to the scikit-learn estimator.

base.py           any booster: parameters, fit, the model and its attributes
classifier.py     those that predict classes
discrete.py       a learner's vote times a coefficient: AdaBoost, SPLBoost
values.py         a learner's values: all others
parameters.py     what is checked of parameters
advice.py         what is warned of after a fit
documentation.py  parameters and attributes described once, for all docstrings
"""
