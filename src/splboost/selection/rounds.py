"""Kernels of a pool: many rounds of one of its members in one call.

A member is a booster or a forest of this library's trees, on a bag of rows. Rows out of
the bag have weight zero and are scored all the same. All state is in the arrays that
a kernel is called with, so that a call goes on where the last one ended.

Two classes have one column of scores, F; more have a column each.
"""

from __future__ import annotations

import numpy as np

from splboost._tools.compiling import kernel
from splboost._tools.maths import exp as exponential
from splboost.boosting.learners import vote_in_leaves as judge_nodes
from splboost.trees.drawn import advance_drawn, random_below
from splboost.trees.grow import advance, advance_stump

MOST = 350.0  # exponents beyond it stay there
LEAST = 2.0**-79
LONGEST_RESPONSE = 4.0  # of LogitBoost
LEAST_EDGE = 1e-12


@kernel
def power(x):
    """exp(x), within what squares of it can hold."""
    return exponential(min(max(x, -MOST), MOST))


@kernel
def odds_against(score, own):
    """Odds against a class, from a row's scores of all classes."""
    odds = 0.0
    for k in range(score.size):
        if k != own:
            odds += power(score[k] - score[own])
    return odds


# ------------------------------------------------------------------ discrete boosting


@kernel
def weigh_votes(score, y, n_classes, bag, age, weight):
    """Weights of the exponential loss; 0 where it is not below the age.

    Whether rows of two classes are left.
    """
    first, several = -1, False
    for i in range(y.size):
        weight[i] = 0.0
        if bag[i] == 0:
            continue
        if n_classes == 2:
            loss = power(-score[i, 0] if y[i] == 1 else score[i, 0])
            doubt = loss
        else:
            loss = power(-score[i, y[i]])
            doubt = np.sqrt(odds_against(score[i], y[i]) / (n_classes - 1))
        if doubt < age[i]:
            weight[i] = bag[i] * loss
            if first < 0:
                first = y[i]
            several |= y[i] != first
    return several


@kernel
def do_votes(
    memory, y, n_classes, bag, age, floor, n_rounds, score, weight, leaf, leaf_class
):
    """Rounds of AdaBoost or SAMME under a hard pace.

    Returns the move of the last round, 0 where boosting has come to its end.
    """
    work = memory
    for _ in range(n_rounds):
        if not weigh_votes(score, y, n_classes, bag, age, weight):
            return 0.0
        if memory.max_depth == 1:
            size = advance_stump(memory, weight, weight, leaf)
        else:
            size = advance(memory, weight, weight, leaf)
        nodes, total = work.node[:size], work.total[:size]
        error = judge_nodes(nodes, total, n_classes, leaf_class)
        if error > 1 - 1 / n_classes - LEAST_EDGE:
            return 0.0
        error = max(error, floor)
        move = (np.log((1 - error) / error) + np.log(n_classes - 1)) / n_classes
        for i in range(y.size):
            vote = leaf_class[leaf[i]]
            if n_classes == 2:
                score[i, 0] += move if vote == 1 else -move
            else:
                for k in range(n_classes):
                    score[i, k] += (n_classes - 1) * move if k == vote else -move
    return move


# ------------------------------------------------------------------------- LogitBoost


@kernel
def work_out(score, y, n_classes, own, bag, weight, target):
    """Weight and working response for one class against the rest."""
    for i in range(y.size):
        weight[i] = target[i] = 0.0
        if bag[i] == 0:
            continue
        if n_classes == 2:
            odds = power(-2 * score[i, 0])  # against the second class
        else:
            odds = odds_against(score[i], own)
        p = 1 / (1 + odds)
        right = p if y[i] == own else 1 - p
        weight[i] = bag[i] * max(p * (1 - p), LEAST)
        response = min(1 / max(right, LEAST), LONGEST_RESPONSE)
        target[i] = response if y[i] == own else -response


@kernel
def fit_logit(memory, y, n_classes, own, bag, rate, score, weight, target, leaf, added):
    """A tree for one class against the rest; ``added`` is what it says of each row."""
    work_out(score, y, n_classes, own, bag, weight, target)
    advance(memory, weight, target, leaf)
    total = memory.total
    for i in range(y.size):
        added[i] = rate * (total[leaf[i], 1] / total[leaf[i], 0])


@kernel
def add_logits(added, score):
    """Move the scores by what the trees of a round say.

    With more than two classes it is (K - 1) / K of it, less the mean over the classes.
    """
    k = added.shape[0]
    for i in range(score.shape[0]):
        if k == 1:
            score[i, 0] += 0.5 * added[0, i]
            continue
        mean = 0.0
        for c in range(k):
            mean += added[c, i] / k
        for c in range(k):
            score[i, c] += (k - 1) / k * (added[c, i] - mean)


@kernel
def do_logits(
    memory, y, n_classes, bag, rate, n_rounds, score, weight, target, leaf, added
):
    """Rounds of LogitBoost."""
    for _ in range(n_rounds):
        for c in range(added.shape[0]):
            own = 1 if n_classes == 2 else c
            fit_logit(
                memory, y, n_classes, own, bag, rate, score, weight, target, leaf,
                added[c],
            )  # fmt: skip
        add_logits(added, score)


# ------------------------------------------------------------------------ the forest


@kernel
def do_shares(
    memory, n_classes, bag, rows, bootstrap, n_trees, share, weight, leaf, seed
):
    """Trees on a bag's rows, or on some drawn from them; class shares are added up."""
    total = memory.total
    weight[:] = bag
    for _ in range(n_trees):
        if bootstrap:
            weight[:] = 0.0
            for _ in range(rows.size):
                i = rows[random_below(seed, rows.size)]
                weight[i] += bag[i]
        advance_drawn(memory, weight, weight, leaf)
        for i in range(leaf.size):
            node, whole = leaf[i], 0.0
            for k in range(n_classes):
                whole += total[node, k]
            for k in range(n_classes):
                share[i, k] += total[node, k] / whole
