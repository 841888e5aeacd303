"""Quinlan's C4.5 (release 8), from data to prediction in the order of the files.

ranks.py          the cells of a table as ranks among the values of their column
gain.py           what a split by one attribute is worth
attributes.py     the test that a node makes
c45_grow.py       a tree from weights
prune.py          pessimistic pruning with subtree raising
c45_workspace.py  the memory in which trees are grown and pruned
c45_grower.py     many trees over one ranked table
multiway.py       pruned trees as flat arrays, and prediction with them
c45_estimator.py  C45Classifier
"""
