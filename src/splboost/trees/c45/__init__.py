"""Quinlan's C4.5 (release 8), from data to prediction in the order of the files.

ranks.py      the cells of a table as ranks among the values of their column
memory.py     what kernels work on
gain.py       what a split by one attribute is worth
choose.py     the test that a node makes
divide.py     from its cases to those of its branches
grow.py       a tree from weights
prune.py      pessimistic pruning with subtree raising
nodes.py      what is left of a tree
trees.py      pruned trees as flat arrays, and prediction with them
grower.py     many trees over one ranked table
estimator.py  C45Classifier
"""
