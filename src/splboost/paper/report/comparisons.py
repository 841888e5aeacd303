"""The statistics of the report: who ranks where, and who errs less than whom."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from splboost._tools.progress_bar import counted
from splboost.paper.figures import draw_critical_difference
from splboost.paper.names import (
    FOREST,
    GRADIENT_KEPT,
    ONE_STEP,
    PAPER,
    THREE_THETAS,
    TWO_SIDED,
    WHOLE_TREES,
    WITH_CART,
)
from splboost.paper.outcomes import BEST_SPL, CHOSEN_SPL, Outcomes
from splboost.paper.report import tables
from splboost.paper.report.html import Markup, element
from splboost.paper.report.pictures import picture
from splboost.paper.statistics import ALPHA

# What the paper leaves open, done in another way: the way among the nine, the others,
# a title, and what differs.
VARIANTS = (
    (
        "LogitBoost",
        (GRADIENT_KEPT,),
        "LogitBoost, clipped in two ways",
        "LogitBoost must bound the response of samples that it has badly wrong. Among "
        "the nine it does so with the weights as they are, by which such samples count "
        "for less; here it is compared with one that raises the weights to keep the "
        "gradient.",
    ),
    (
        "RobustBoost",
        (TWO_SIDED,),
        "RobustBoost, with two potentials",
        "Among the nine is that of the author's own program, in which samples behind "
        "the goal have no weight; here it is compared with the one in which they keep "
        "some, and in which the goal is an error rate.",
    ),
    (
        "RobustBoost",
        (THREE_THETAS,),
        "RobustBoost, with more goals",
        "Among the nine the margin that RobustBoost aims at is θ = 0; here it is "
        "compared with one that may choose of 0, 0.2 and 1.",
    ),
    (
        ONE_STEP,
        ("AdaBoost", *WHOLE_TREES),
        "With whole trees",
        "The paper does not say how deep its trees are. Among the nine the depth is "
        "chosen; whole trees are those that C4.5 grows and prunes by itself.",
    ),
    (
        WITH_CART[1],
        (WITH_CART[0], "LogitBoost", "SavageBoost", "RBoost"),
        "With the same trees for all",
        "Among the nine some boosters have trees of C4.5, with a branch for each "
        "category, and others those of CART, with a column for each; where they differ "
        "it may be by their trees. Here AdaBoost and SPLBoost have CART's as well.",
    ),
)


def compare(results: pd.DataFrame) -> list[Markup]:
    """Ranks and tests, over data sets and over cases."""
    outcomes = Outcomes.of(results)
    comparison = outcomes.compare("Mean rank of the test error, all levels of noise")
    if comparison is None:
        return [element("p", "There is nothing to compare yet.", class_="note")]
    parts = [
        element(
            "p",
            "Compared are the draws that all methods have finished. Errors of a data "
            "set are averaged over noise and repeats, since these are not independent "
            "of each other; the tests take the data set as the unit. The counts of "
            "cases are the paper's: there is one from each data set and level of "
            "noise, so that they look like more evidence than they are. Differences "
            "are the first minus the second, as mean and median over the data sets: "
            "where they are far apart, few sets decide the mean.",
        ),
        tables.rank_table(outcomes),
    ]
    if comparison.is_testable:
        p, difference = comparison.friedman, comparison.critical_difference
        parts += [
            element(
                "p",
                f"Friedman's test over {comparison.n_sets} data sets, by Iman and "
                f"Davenport's F, has a p of {tables.probability(p)}. By Nemenyi's "
                f"test, mean ranks more than {difference:.2f} apart differ at "
                f"{ALPHA:.0%}.",
            ),
            picture(
                "ranks",
                lambda: draw_critical_difference(comparison),
                "Mean ranks over data sets, the best on the left. Bars join what "
                "Nemenyi's test cannot tell apart.",
            ),
        ]
    else:
        parts.append(
            element(
                "p",
                f"{counted(comparison.n_sets, 'data set')}: too few for a test.",
                class_="note",
            )
        )
    parts += _against_rivals(outcomes)
    parts += _forest(results)
    for variant in VARIANTS:
        parts += _variants(results, *variant)
    return parts


def _against_rivals(outcomes: Outcomes) -> list[Markup]:
    chosen = outcomes.with_one_spl(CHOSEN_SPL)
    if CHOSEN_SPL not in chosen.methods or len(chosen.methods) < 2:
        return []
    best = outcomes.with_one_spl(BEST_SPL)
    return [
        element("h3", "SPLBoost against its rivals"),
        element(
            "p",
            "SPLBoost as one entry, with the regulariser that cross-validation has "
            f"chosen, is best alone in {tables.count_of_wins(chosen, CHOSEN_SPL)}.",
        ),
        tables.rival_table(chosen, CHOSEN_SPL),
        element(
            "p",
            "With the best regulariser of each case, which nobody can know and which "
            f"favours it, it would be in {tables.count_of_wins(best, BEST_SPL)}. Tests "
            "would mean nothing here, since it is chosen by the errors that they test.",
        ),
        tables.rival_table(best, BEST_SPL, with_tests=False),
    ]


def _forest(results: pd.DataFrame) -> list[Markup]:
    """SPLForest as a tenth entry."""
    outcomes = Outcomes.of(results, (*PAPER, FOREST))
    if FOREST not in outcomes.methods or not len(outcomes.sets):
        return []
    if len(outcomes.methods) < 2:
        return []
    return [
        element("h3", "With SPLForest as a tenth entry"),
        element(
            "p",
            "SPLForest is this library's own, and no method of the paper; here it is "
            "ranked among its nine.",
        ),
        tables.rank_table(outcomes),
        tables.rival_table(outcomes, FOREST),
    ]


def _variants(
    results: pd.DataFrame, name: str, others: Sequence[str], title: str, text: str
) -> list[Markup]:
    """What the paper leaves open, done otherwise."""
    outcomes = Outcomes.of(results, (name, *others))
    if len(outcomes.methods) < 1 + len(others) or not len(outcomes.sets):
        return []
    return [
        element("h3", title),
        element("p", text),
        tables.rival_table(outcomes, name),
    ]
