"""Members of many kinds on bags of several sizes, judged out of bag and averaged.

1. ``scout`` runs every member on every bag, and keeps its scores of the rows out of it.
2. ``judge`` says how much each setting, a member after so many rounds, is to count.
3. ``grow`` runs those that count once more, and keeps their trees. Labels that the rows
   out of bag speak against count for less then.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from splboost._data.table import Table
from splboost.boosting.model import TreeModel
from splboost.selection.bags import draw_bags
from splboost.selection.members import (
    Forest,
    Logits,
    Member,
    TrainingRows,
    Trees,
    Votes,
)
from splboost.selection.workers import Stop, work_through
from splboost.trees.ensemble import TreeEnsemble

FloatArray = NDArray[np.float64]

SHARES = 0.15, 0.35, 0.7  # of the rows, in a bag
LEAVES = 1, 3, 10  # fewest rows in a leaf of a forest
PLATEAU = 2.0
MANY_ROWS = 5000  # of two classes, above which there are fewer bags
N_DRAWS = 200  # of weights of the rows, by which settings are compared
FEWEST_WINS = 4  # a setting that is the best for fewer draws counts for nothing
FACTORS = 0.01, 4.0  # the smallest and the largest
N_HALVINGS = 14
GOLDEN = 0.6180339887498949


def make_members(*, paced: bool) -> list[Member]:
    """The members of a pool, from single deep trees to long boosted runs."""
    return [
        *(Forest(leaf) for leaf in LEAVES),
        *(Forest(leaf, max_features="1") for leaf in LEAVES),
        *(Forest(leaf, random_cuts=True) for leaf in LEAVES),
        Votes(1, PLATEAU if paced else math.inf),
        Logits(3),
    ]


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
    seeds: dict[Member, int]


class Setting(NamedTuple):
    """A member after so many rounds, on bags of one size.

    Attributes
    ----------
    size : number among ``SHARES``
    member : Member
    n_rounds : int
    weight : how much it counts; sums to 1
    brier : out-of-bag Brier score
    """

    size: int
    member: Member
    n_rounds: int
    weight: float = math.nan
    brier: float = math.nan


def count_bags(n_bags: int, n_rows: int, n_classes: int) -> list[int]:
    """How many bags of each size there are; ``n_bags`` is their mean.

    There are more large bags than small ones, so that a row is out of as many of each.
    Of many rows or classes there are fewer, which cost more; of rows they also differ
    less.
    """
    fewer = max(MANY_ROWS / n_rows * 2 / n_classes, 1 / 3)
    total = len(SHARES) * n_bags * min(fewer, 1.0)
    out = [1 / (1 - share) for share in SHARES]
    return [max(2, round(total * each / sum(out))) for each in out]


def make_bags(
    rows: TrainingRows,
    members: list[Member],
    numbers: dict[int, int],
    rng: np.random.RandomState,
) -> list[Bag]:
    """Draw so many bags of each size."""
    bags = []
    for size, n_bags in numbers.items():
        for inside in draw_bags(rows.codes, rows.groups, n_bags, SHARES[size], rng):
            seeds = rng.randint(2**31 - 1, size=len(members)).tolist()
            of_member = dict(zip(members, seeds, strict=True))
            bags.append(Bag(size, rows.weight * inside, of_member))
    return bags


def _run(
    rows: TrainingRows, settings: list[Setting], bag: Bag, keep: bool, stop: Stop
) -> tuple[list[Trees], NDArray[np.float32]]:
    """Trees, if they are to be kept, and scores of the rows out of a bag, by setting.

    Those of one member follow each other, and the trees of each are those that the one
    before it lacks.
    """
    out = np.flatnonzero(bag.weight == 0)
    scores = np.zeros((len(settings), out.size, rows.n_outputs), dtype=np.float32)
    stages: list[Trees] = []
    for member, of_member in groupby(settings, key=lambda setting: setting.member):
        rounds = [setting.n_rounds for setting in of_member]
        for trees, score in member.run(rows, bag.weight, bag.seeds[member], rounds):
            scores[len(stages)] = score[out]
            stages.append(trees if keep else [])
            if stop.is_set:
                return stages, scores
    return stages, scores


def _run_on_bags(
    rows: TrainingRows,
    settings: list[Setting],
    pieces: list[tuple[list[int], Bag]],
    *,
    keep: bool,
    **options: Any,
) -> tuple[list[list[Trees]], NDArray[np.float32]]:
    """Trees of each piece, and sums of the out-of-bag scores of each setting.

    A piece are some of the settings, by number, on one bag.
    """
    trees = []
    shape = len(settings), rows.codes.size, rows.n_outputs
    sums = np.zeros(shape, dtype=np.float32)

    def receive(number: int, result: tuple[list[Trees], NDArray[np.float32]]) -> None:
        numbers, bag = pieces[number]
        stages, scores = result
        trees.append(stages)
        sums[np.ix_(numbers, bag.weight == 0)] += scores

    arguments = [(rows, [settings[k] for k in of], bag, keep) for of, bag in pieces]
    work_through(_run, arguments, receive=receive, **options)
    return trees, sums


def scout(
    rows: TrainingRows, members: list[Member], bags: list[Bag], **options: Any
) -> tuple[list[Setting], NDArray[np.float32]]:
    """Out-of-bag scores of all settings; options are ``n_jobs`` and ``verbose``.

    Returns
    -------
    settings : list of Setting
    scores : (n_settings, n_rows, n_outputs), means over the bags without a row
    """
    settings = [
        Setting(size, member, n_rounds)
        for size in range(len(SHARES))
        for member in members
        for n_rounds in member.rounds
    ]
    pieces = [
        ([k for k, setting in enumerate(settings) if setting.size == bag.size], bag)
        for bag in bags
    ]
    options |= {"title": "pool", "unit": "bags"}
    _, scores = _run_on_bags(rows, settings, pieces, keep=False, **options)
    n_out, _ = count_out(bags, rows.codes.size)
    for setting, score in zip(settings, scores, strict=True):
        score /= np.maximum(n_out[setting.size], 1)[:, None]
        score[:] = setting.member.scores(score)
    return settings, scores


def count_out(
    bags: list[Bag], n_rows: int
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """How many bags of each size are without each row, and which rows judge settings.

    These are the rows that some bag of each size is without; sizes of which there are
    no bags do not count.
    """
    n_out = np.zeros((len(SHARES), n_rows), dtype=np.intp)
    for bag in bags:
        n_out[bag.size] += bag.weight == 0
    return n_out, np.all(n_out[n_out.any(axis=1)] > 0, axis=0)


# ------------------------------------------------------------------------- judging


def probabilities(score: NDArray[np.floating], factor: float) -> FloatArray:
    """Probabilities of the classes from rows' scores times a factor.

    A single score is half the log-odds of the second of two classes.
    """
    score = score.astype(np.float64)
    if score.shape[1] > 1:
        return softmax(factor * score, axis=1)
    upper = expit(2 * factor * score)
    return np.hstack([1 - upper, upper])


def fit_factor(
    score: NDArray[np.floating], codes: NDArray[np.integer], weight: FloatArray
) -> tuple[float, FloatArray]:
    """The factor of the lowest Brier score, and the Brier score of each row with it.

    A booster that has fitted wrong labels is too sure of itself. By golden section of
    the factor's logarithm.
    """
    given = np.arange(codes.size), codes

    def brier_scores(factor: float) -> FloatArray:
        wrong = probabilities(score, factor)
        wrong[given] -= 1
        return 0.5 * np.einsum("ij,ij->i", wrong, wrong)

    def total(log_factor: float) -> float:
        losses = brier_scores(np.exp(log_factor))
        return float(sum_losses(losses[None], weight)[0])

    low, high = np.log(FACTORS)
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = total(left), total(right)
    for _ in range(N_HALVINGS):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = total(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = total(right)
    factor = float(np.exp(0.5 * (low + high)))
    return factor, brier_scores(factor)


def sum_losses(losses: FloatArray, weight: FloatArray) -> FloatArray:
    """Weighted loss of each setting; that of equals is equal.

    A product of matrices would start threads, which then wait at full speed.
    """
    return np.einsum("ij,j->i", losses, weight)


def bootstrap_weights(
    losses: FloatArray,
    weight: FloatArray,
    units: NDArray[np.intp],
    rng: np.random.Generator,
) -> FloatArray:
    """How much to believe each setting: how often it is the best of a random draw.

    In each draw rows count for more or less at random (the Bayesian bootstrap), and the
    setting of the lowest loss wins. What wins by chance wins rarely, and what wins less
    often than ``FEWEST_WINS`` times counts for nothing, unless all do.

    Parameters
    ----------
    losses : (n_settings, n_rows)
    weight : of each row
    units : what each row belongs to; rows of one unit count for more or less together
    rng : Generator

    Returns
    -------
    share : (n_settings,) sums to 1
    """
    wins = np.zeros(losses.shape[0])
    n_units = int(units.max()) + 1
    for _ in range(N_DRAWS):
        chance = rng.standard_exponential(n_units)[units]
        wins[int(np.argmin(sum_losses(losses, weight * chance)))] += 1
    if wins.max() >= FEWEST_WINS:
        wins[wins < FEWEST_WINS] = 0
    return wins / wins.sum()


def judge(
    rows: TrainingRows,
    settings: list[Setting],
    scores: NDArray[np.float32],
    bags: list[Bag],
    rng: np.random.Generator,
) -> tuple[list[Setting], FloatArray]:
    """The settings that are to count, the heaviest first, and out-of-bag probabilities.

    Half of the say is shared by the rows alike, and half by the classes, so that a rare
    one is heard.
    """
    n_out, judging = count_out(bags, rows.codes.size)
    codes, weight = rows.codes[judging], rows.weight[judging]
    fitted = [fit_factor(score[judging], codes, weight) for score in scores]
    factors, losses = map(np.array, zip(*fitted, strict=True))
    brier = sum_losses(losses, weight / weight.sum())
    of_class = np.bincount(codes, weight, rows.n_classes)
    of_class = of_class / weight.sum() * np.count_nonzero(of_class)
    say = weight * (0.5 + 0.5 / of_class[codes])
    share = bootstrap_weights(losses, say, rows.units[judging], rng)
    kept = np.flatnonzero(share)
    order = kept[np.argsort(-share[kept], kind="stable")]
    chosen = [
        settings[k]._replace(weight=float(share[k]), brier=float(brier[k]))
        for k in order
    ]
    return chosen, mix(chosen, scores[order], factors[order], n_out, rows.n_classes)


def mix(
    settings: list[Setting],
    scores: NDArray[np.float32],
    factors: FloatArray,
    n_out: NDArray[np.intp],
    n_classes: int,
) -> FloatArray:
    """Out-of-bag probabilities of the settings that count; NaN for rows of no bag."""
    n = n_out.shape[1]
    mean, known = np.zeros((n, n_classes)), np.zeros(n)
    for setting, score, factor in zip(settings, scores, factors, strict=True):
        out = n_out[setting.size] > 0
        mean[out] += setting.weight * probabilities(score[out], factor)
        known[out] += setting.weight
    with np.errstate(invalid="ignore"):
        return mean / known[:, None]


# ------------------------------------------------------------- trees that are kept


@dataclass(frozen=True, eq=False)
class Mixture:
    """The settings that count, with their trees.

    Attributes
    ----------
    parts : a member on bags of one size, its scores before the first tree, and models
        of the trees between one setting and the next, each with the factor of the
        scores up to there, and how much these count
    n_classes : int
    categorical_features : mask of the categorical columns, or None
    """

    parts: list[tuple[Member, FloatArray, list[tuple[TreeModel, float, float]]]]
    n_classes: int
    categorical_features: Any

    def probability(self, table: Table, X: Any, n_threads: int) -> FloatArray:
        """Mean probability of each class."""
        mean = np.zeros((table.n_rows, self.n_classes))
        for member, start, stages in self.parts:
            score = np.tile(start, (table.n_rows, 1))
            for model, factor, count in stages:
                model.add(table, X, score, n_threads=n_threads)
                mean += count * probabilities(member.scores(score), factor)
        return mean

    def importances(self, n_features: int) -> FloatArray:
        """Share of the removed impurity by feature, in the mean over the settings."""
        total = np.zeros(n_features)
        for _, _, stages in self.parts:
            so_far, n_trees = np.zeros(n_features), 0
            for model, _, count in stages:
                n = model.trees.n_trees
                if n:
                    equal = np.full(n, 1 / n)
                    so_far += n * model.trees.importances(n_features, equal)
                    n_trees += n
                if n_trees:
                    total += count * so_far / n_trees
        return total / total.sum() if total.sum() > 0 else total


def grow(
    rows: TrainingRows, settings: list[Setting], bags: list[Bag], **options: Any
) -> tuple[Mixture, FloatArray]:
    """The trees of the settings that count, and their out-of-bag probabilities.

    Bags may have other weights than when the settings were chosen; the factors of the
    scores are fitted anew. Options are ``n_jobs`` and ``verbose``.
    """
    wanted: defaultdict[tuple[int, Member], list[int]] = defaultdict(list)
    for k, setting in enumerate(settings):
        wanted[setting.size, setting.member].append(k)
    pieces = []
    for (size, _), numbers in wanted.items():
        numbers.sort(key=lambda k: settings[k].n_rounds)
        pieces += [(numbers, bag) for bag in bags if bag.size == size]
    options |= {"title": "trees", "unit": "fits"}
    grown, scores = _run_on_bags(rows, settings, pieces, keep=True, **options)
    n_out, judging = count_out(bags, rows.codes.size)
    codes, weight = rows.codes[judging], rows.weight[judging]
    factors, parts, of_pieces = np.zeros(len(settings)), [], iter(grown)
    for (size, member), numbers in wanted.items():
        starts = [member.start(rows, bag.weight) for bag in bags if bag.size == size]
        of_bags, stages = list(islice(of_pieces, len(starts))), []
        for stage, k in enumerate(numbers):
            mean = scores[k] / np.maximum(n_out[size], 1)[:, None]
            scores[k] = member.scores(mean)
            factors[k], _ = fit_factor(scores[k][judging], codes, weight)
            trees = [tree for of_bag in of_bags for tree in of_bag[stage]]
            model = _join(trees, len(starts), rows)
            stages.append((model, float(factors[k]), settings[k].weight))
        parts.append((member, np.mean(starts, axis=0), stages))
    categorical = model.trees.categorical_features  # as of all
    mixture = Mixture(parts, rows.n_classes, categorical)
    return mixture, mix(settings, scores, factors, n_out, rows.n_classes)


def _join(trees: Trees, n_bags: int, rows: TrainingRows) -> TreeModel:
    """A model of trees of all bags, whose scores are the mean over these."""
    grown = [tree for tree, _ in trees]
    nothing = np.empty((0, rows.n_outputs))
    output = np.concatenate([nothing, *(of_nodes for _, of_nodes in trees)])
    ensemble = TreeEnsemble.from_grown(grown, rows.n_classes, rows.binned.categories)
    return TreeModel(ensemble, output / n_bags, None)
