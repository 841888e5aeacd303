"""Members of many kinds on bags of several sizes, judged out of bag and averaged.

1. ``scout`` runs every member on every bag, and keeps its scores of the rows out of it.
2. ``judge`` says how much each setting, a member after so many rounds, is to count.
3. ``grow`` runs those that count once more, and keeps their trees.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from splboost.boosting.model import TreeModel
from splboost.selection.judge import add_probabilities, elect, fit_factor, sum_losses
from splboost.selection.members import Forest, Gathered, Ground, Logits, Member, Votes
from splboost.selection.workers import Stop, work_through
from splboost.trees.columns import Table
from splboost.trees.ensemble import TreeEnsemble

FloatArray = NDArray[np.float64]

SHARES = 0.15, 0.35, 0.7  # of the rows, in a bag
N_ELECTIONS = 200


def make_members(*, paced: bool) -> list[Member]:
    """The members of a pool, from single deep trees to long boosted runs."""
    members: list[Member] = [Forest(leaf) for leaf in (1, 3, 5, 10, 20, 40)]
    for plateau in (2.0, math.inf) if paced else (math.inf,):
        members += [
            Votes(1, plateau, some_features=False),
            Votes(3, plateau, some_features=False),
            Votes(5, plateau, some_features=True),
            Logits(5, plateau, some_features=True),
        ]
    return [*members, Logits(3, math.inf, some_features=False)]


class Bag(NamedTuple):
    """A bag of rows.

    Attributes
    ----------
    size : number among ``SHARES``
    weight : of each row; 0 out of the bag
    seeds : one for each member
    """

    size: int
    weight: FloatArray
    seeds: NDArray[np.integer]


class Candidate(NamedTuple):
    """A member after so many rounds, on bags of one size.

    Attributes
    ----------
    size : number among ``SHARES``
    member : Member
    number : that of the member
    n_rounds : int
    """

    size: int
    member: Member
    number: int
    n_rounds: int


@dataclass(frozen=True, eq=False)
class Choice:
    """Settings, and how to use them.

    Attributes
    ----------
    settings : list of Candidate
    factor : what the scores of each are multiplied by
    brier : out-of-bag Brier score of each
    count : how much each counts; sums to 1
    """

    settings: list[Candidate]
    factor: FloatArray
    brier: FloatArray
    count: FloatArray


def _scout(
    ground: Ground, members: list[Member], bag: Bag, stop: Stop
) -> NDArray[np.float32] | None:
    """Scores of the rows out of a bag, by each member after each of its rounds."""
    out = np.flatnonzero(bag.weight == 0)
    n_settings = sum(len(member.rounds) for member in members)
    scores = np.empty((n_settings, out.size, ground.n_outputs), dtype=np.float32)
    k = 0
    for member, seed in zip(members, bag.seeds, strict=True):
        run, done = member.start(ground, bag.weight, int(seed)), 0
        for n_rounds in member.rounds:
            if stop.is_set:
                return None
            run.advance(n_rounds - done)
            done = n_rounds
            scores[k] = run.score[out]
            k += 1
    return scores


def scout(
    ground: Ground,
    members: list[Member],
    bags: list[Bag],
    *,
    n_jobs: int | None,
    verbose: int,
) -> tuple[list[Candidate], NDArray[np.float32], NDArray[np.intp]]:
    """Out-of-bag scores of all settings.

    Returns
    -------
    settings : list of Candidate
    scores : (n_settings, n_rows, n_outputs), means over the bags without a row
    n_out : (n_sizes, n_rows) how many bags of each size are without a row
    """
    of_size = [(m, k, t) for k, m in enumerate(members) for t in m.rounds]
    settings = [
        Candidate(size, member, number, n_rounds)
        for size in range(len(SHARES))
        for member, number, n_rounds in of_size
    ]
    n = ground.codes.size
    shape = len(SHARES), len(of_size), n, ground.n_outputs
    total, n_out = np.zeros(shape, dtype=np.float32), np.zeros((len(SHARES), n), int)
    results = work_through(
        _scout,
        [(ground, members, bag) for bag in bags],
        n_jobs=n_jobs,
        verbose=verbose,
        title="pool",
        unit="bags",
    )
    for bag, scores in zip(bags, results, strict=True):
        out = bag.weight == 0
        total[bag.size][:, out] += scores
        n_out[bag.size] += out
    for size, of_rows in enumerate(np.maximum(n_out, 1)):
        total[size] /= of_rows[:, None]
        for k, (member, _, _) in enumerate(of_size):
            total[size, k] = member.scores(total[size, k])
    return settings, total.reshape(-1, n, ground.n_outputs), n_out


def judge(
    settings: list[Candidate],
    scores: NDArray[np.float32],
    n_out: NDArray[np.intp],
    codes: NDArray[np.integer],
    n_classes: int,
    weight: FloatArray,
    units: NDArray[np.intp],
    rng: np.random.Generator,
) -> tuple[Choice, FloatArray]:
    """How much each setting is to count, and the out-of-bag probabilities then.

    Rows that were in all bags of some size judge nothing.
    """
    judging = (n_out > 0).all(axis=0)
    if not judging.any():
        raise ValueError(
            f"{codes.size} rows in {int(units.max()) + 1} groups are too few for bags "
            "that leave some of them out to be judged by; give more rows, or groups "
            "that are smaller."
        )
    there, own, counting = codes[judging], units[judging], weight[judging]
    losses = np.empty((len(settings), there.size))
    factor = np.array(
        [
            fit_factor(score[judging].astype(float), there, counting, n_classes, loss)
            for score, loss in zip(scores, losses, strict=True)
        ]
    )
    count = elect(losses, counting, own, N_ELECTIONS, rng)
    brier = np.empty(len(settings))
    sum_losses(losses, counting / counting.sum(), brier)
    kept = np.flatnonzero(count)
    order = kept[np.argsort(-count[kept], kind="stable")]
    choice = Choice(
        [settings[k] for k in order], factor[order], brier[order], count[order]
    )
    mean = np.zeros((codes.size, n_classes))
    known = np.zeros(codes.size)
    for k in order:
        out = n_out[settings[k].size] > 0
        part = np.zeros((int(out.sum()), n_classes))
        add_probabilities(scores[k][out].astype(float), factor[k], count[k], part)
        mean[out] += part
        known[out] += count[k]
    with np.errstate(invalid="ignore"):
        return choice, mean / known[:, None]


class Part(NamedTuple):
    """One member on bags of one size: its trees, and how to use them.

    Attributes
    ----------
    member : Member
    start : scores before the first tree
    stages : models of the trees between one setting and the next, each with the factor
        of the scores up to there, and how much these count
    """

    member: Member
    start: FloatArray
    stages: list[tuple[TreeModel, float, float]]


@dataclass(frozen=True, eq=False)
class Mixture:
    """The settings that count, with their trees."""

    parts: list[Part]
    n_classes: int
    categorical_features: Any

    def probability(self, table: Table, X: Any, n_threads: int) -> FloatArray:
        """Mean probability of each class."""
        mean = np.zeros((table.n_rows, self.n_classes))
        for member, start, stages in self.parts:
            score = np.tile(start, (table.n_rows, 1))
            for model, factor, count in stages:
                model.add(table, X, score, n_threads=n_threads)
                add_probabilities(member.scores(score), factor, count, mean)
        return mean

    def importances(self, n_features: int) -> FloatArray:
        """Share of the removed impurity by feature."""
        total = np.zeros(n_features)
        for _, _, stages in self.parts:
            rest = math.fsum(count for _, _, count in stages)
            for model, _, count in stages:
                n_trees = model.trees.n_trees
                if n_trees:
                    equal = np.full(n_trees, 1 / n_trees)
                    total += rest * model.importances(n_features, equal)
                rest -= count
        return total / total.sum() if total.sum() > 0 else total


def _grow(
    ground: Ground, member: Member, rounds: list[int], bag: Bag, seed: int, stop: Stop
) -> tuple[FloatArray, list[Gathered]]:
    """Scores of a member before its first tree on a bag, and its trees by stage."""
    run, done, stages = member.start(ground, bag.weight, seed), 0, []
    for n_rounds in rounds:
        stages.append([] if stop.is_set else run.harvest(n_rounds - done))
        done = n_rounds
    return run.initial, stages


def grow(
    ground: Ground,
    choice: Choice,
    bags: list[Bag],
    *,
    n_jobs: int | None,
    verbose: int,
) -> Mixture:
    """The trees of the settings that count."""
    wanted: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for k, setting in enumerate(choice.settings):
        wanted[setting.size, setting.number].append(k)
    for numbers in wanted.values():
        numbers.sort(key=lambda k: choice.settings[k].n_rounds)
    pieces, of_piece = [], []
    for key, numbers in wanted.items():
        member = choice.settings[numbers[0]].member
        rounds = [choice.settings[k].n_rounds for k in numbers]
        for bag in bags:
            if bag.size == key[0]:
                seed = int(bag.seeds[key[1]])
                pieces.append((ground, member, rounds, bag, seed))
                of_piece.append(key)
    results = work_through(
        _grow, pieces, n_jobs=n_jobs, verbose=verbose, title="trees", unit="bags"
    )
    parts = []
    for key, numbers in wanted.items():
        grown = [r for of, r in zip(of_piece, results, strict=True) if of == key]
        stages = []
        for at, k in enumerate(numbers):
            trees = [pair for _, each in grown for pair in each[at]]
            model = _join(trees, len(grown), ground)
            stages.append((model, float(choice.factor[k]), float(choice.count[k])))
        start = np.mean([each for each, _ in grown], axis=0)
        parts.append(Part(choice.settings[numbers[0]].member, start, stages))
    categorical = parts[0].stages[0][0].categorical_features
    return Mixture(parts, ground.n_classes, categorical)


def _join(trees: Gathered, n_bags: int, ground: Ground) -> TreeModel:
    grown = [tree for tree, _ in trees]
    output = np.concatenate(
        [np.empty((0, ground.n_outputs)), *(own for _, own in trees)]
    )
    ensemble = TreeEnsemble.from_grown(
        grown, ground.n_classes, ground.binned.categories
    )
    return TreeModel(ensemble, output / n_bags, None)
