"""Which claims of the paper hold, each by a rule that is stated with the verdict.

Claims and rules stand in claims.toml, in words; here it is said what they come to.
Tests take the data set as the unit, at the level of 5%. Where the table of results has
too little for a rule, the verdict is that it cannot be said yet. Sets and levels of
noise that are not in the paper do not count. The page (report.html) tells when the
rules were written.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from splboost._tools.wording import counted
from splboost.paper import gaussians
from splboost.paper.protocol import (
    NOISE,
    ONE_STEP,
    PAPER,
    PAPER_SETS,
    PLATEAU_SPL,
    RIVALS,
    SPL,
    UNTIL_CONVERGENCE,
    Protocol,
)
from splboost.paper.statistics import (
    ALPHA,
    CHOSEN_SPL,
    DIGITS,
    Outcomes,
    against,
    complete_repeats,
    fewest_sets,
    friedman,
    interval,
    interval_over_sets,
    is_best,
    ranks,
    signed_rank,
    span,
)
from splboost.paper.tables import percent, probability

HOLDS = "holds"
PARTLY = "partly"
FAILS = "does not hold"
OPEN = "cannot be said yet"
CLEAN, MOST_NOISE = min(NOISE), max(NOISE)
NEGLIGIBLE = 0.005  # half a point of error is of no consequence
MANY, FEW = 0.5, 0.05  # shares of wrong labels
TEXTS = tomllib.loads((files(__package__) / "claims.toml").read_text("utf-8"))
NO_PROOF = "That no difference is found is no proof that there is none."


@dataclass(frozen=True)
class Verdict:
    """What the results say of a claim."""

    claim: str  # what the paper says
    rule: str  # when it holds, holds partly, and does not
    verdict: str  # one of the four above
    findings: tuple[str, ...]  # sentences with the numbers
    table: pd.DataFrame | None = None  # more numbers, in units that its columns name
    methods: Sequence[str] = ()  # whose results it rests on
    basis: str = ""  # how much of the paper's protocol these are


def judge_claims(
    results: pd.DataFrame, weights: pd.DataFrame | None = None
) -> list[Verdict]:
    """Judge the claims of the paper, by a table of results, complete or not.

    ``weights`` is what boosters do with wrong labels on the Gaussians, as
    `splboost.paper.gaussians.measure` returns it; None measures ten draws.

    Examples
    --------
    >>> import pandas as pd
    >>> from splboost.paper.claims import judge_claims
    >>> from splboost.paper.gaussians import measure
    >>> columns = ["data", "noise", "repeat", "method", "error", "cv_error"]
    >>> nothing = pd.DataFrame(columns=columns)
    >>> verdicts = judge_claims(nothing, measure(1))
    >>> [verdict.verdict for verdict in verdicts[:2]]
    ['cannot be said yet', 'cannot be said yet']
    """
    weights = gaussians.measure() if weights is None else weights
    return [*(each.judge(results) for each in CLAIMS.values()), judge_weights(weights)]


def describe(name: str) -> tuple[str, str]:
    """What the paper claims, and the rule by which it is judged."""
    rule = TEXTS[name]["rule"].format(
        NEGLIGIBLE=percent(NEGLIGIBLE),
        NEXT_TO_NOTHING=gaussians.NEXT_TO_NOTHING,
        MANY=MANY,
        FEW=FEW,
    )
    return TEXTS[name]["text"], rule


# --------------------------------------------------------------- claims on test errors

Found = tuple[str, list[str], pd.DataFrame | None]  # verdict, findings and table


class Claim(NamedTuple):
    """A claim on test errors."""

    name: str  # in claims.toml
    methods: Sequence[str]
    n_tests: int  # which says how many data sets they need
    # The rule, for outcomes of all the methods; told if the sets are enough for tests
    apply: Callable[[Outcomes, bool], Found]
    noise: Sequence[int] = NOISE  # of which each data set needs a complete repeat

    def judge(self, results: pd.DataFrame) -> Verdict:
        """Judge the claim; the verdict stays open where results are missing."""
        is_paper = results["data"].isin(PAPER_SETS) & results["noise"].isin(NOISE)
        outcomes = Outcomes.of(results[is_paper], self.methods)
        needed = fewest_sets(self.n_tests)
        n_sets = len(outcomes.at(self.noise).sets)
        claim, rule = describe(self.name)
        rule += f" With fewer than {needed} data sets it cannot be said."
        missing = [name for name in self.methods if name not in outcomes.methods]
        levels = [f"{level}%" for level in NOISE if level not in outcomes.noise]
        lack = ""
        if len(missing) == len(self.methods):
            lack = "No results yet."
        elif missing:
            lack = f"No results yet of {', '.join(missing)}."
        elif levels:
            lack = f"No results yet at {', '.join(levels)} wrong labels."
        elif n_sets < needed:
            lack = (
                f"With fewer than {needed} data sets, each with a complete repeat at "
                f"all levels of noise, no test can tell; there are {n_sets}."
            )
        if missing or levels or not n_sets:
            return Verdict(claim, rule, OPEN, (lack,), None, self.methods)
        verdict, findings, table = self.apply(outcomes, not lack)
        if lack:
            verdict, findings = OPEN, [lack, *findings]
        said, basis = tuple(findings), self._basis(outcomes)
        return Verdict(claim, rule, verdict, said, table, self.methods, basis)

    def _basis(self, outcomes: Outcomes) -> str:
        whole = complete_repeats(outcomes.cells, self.noise)
        repeats = whole.groupby("data")["repeat"].nunique()
        return (
            f"From {len(repeats)} of the paper's {len(PAPER_SETS)} data sets, "
            f"{span(repeats)} of its {Protocol().repeats} repeats."
        )


def _degradation(outcomes: Outcomes, is_testable: bool) -> Found:
    """Whether AdaBoost degrades most."""
    rises = outcomes.rises(CLEAN, MOST_NOISE)
    is_top = rises.round(DIGITS).eq(rises.round(DIGITS).max(axis=1), axis=0)
    mean, most = rises.mean(), is_top[is_top.sum(axis=1) == 1].sum()
    table = pd.DataFrame(
        {"mean rise (points)": 100 * mean, "sets where it rises most": most}
    )
    led = []  # lower levels up to which AdaBoost's rises most
    for level in NOISE[1:-1]:
        lower = outcomes.rises(CLEAN, level)
        if len(lower):
            table[f"mean rise to {level}% (points)"] = 100 * lower.mean()
            led += [f"{level}%"] * (lower.mean().idxmax() == "AdaBoost")
    tests = against(rises, "AdaBoost").set_index("rival")
    next_one = mean.drop("AdaBoost").idxmax()
    findings = [
        f"From {CLEAN} to {MOST_NOISE}% wrong labels AdaBoost's error rises by "
        f"{percent(mean['AdaBoost'])} points on the average of {_sets(rises)}; of the "
        f"other methods, {next_one}'s rises most, by {percent(mean[next_one])}.",
        f"It is AdaBoost's that rises most on {most['AdaBoost']} of them.",
    ]
    if is_testable:
        table["Holm's p against AdaBoost"] = tests["p_holm"]
        largest = tests["p_holm"].idxmax()
        p = probability(tests.loc[largest, "p_holm"])
        findings.append(f"The largest adjusted p is {p} (against {largest}).")
    findings.append(
        f"Up to {', '.join(led)} wrong labels AdaBoost's rises most on the average."
        if led
        else "Up to no lower level does AdaBoost's rise most on the average."
    )
    noisy = outcomes.at(NOISE[1:]).sets
    if len(noisy):
        rank = ranks(noisy).mean()
        findings.append(
            "Where labels are wrong, its error has the mean rank "
            f"{rank['AdaBoost']:.1f}, number {(rank < rank['AdaBoost']).sum() + 1} of "
            f"{len(rank)}."
        )
    if mean["AdaBoost"] <= mean[next_one]:
        return FAILS, findings, table
    is_sure = (tests["p_holm"] < ALPHA).all()
    return HOLDS if is_sure else PARTLY, findings, table


def _wins(outcomes: Outcomes, is_testable: bool) -> Found:
    """Whether SPLBoost is best in most cases."""
    one = outcomes.with_one_spl(CHOSEN_SPL)
    n_cases = len(outcomes.cases)
    is_any, is_chosen = is_best(outcomes.cases, SPL), is_best(one.cases, [CHOSEN_SPL])
    any_wins, chosen_wins = is_any.sum(), is_chosen.sum()
    tests = against(one.sets, CHOSEN_SPL)
    is_better = (tests["difference"] < 0) & (tests["p_holm"] < ALPHA)
    findings = [
        f"One of SPLBoost's {len(SPL)} entries is best in {any_wins} of {n_cases} "
        f"cases ({any_wins / n_cases:.0%}); with one entry, chosen by "
        f"cross-validation, it is in {chosen_wins} ({chosen_wins / n_cases:.0%})."
    ]
    if is_testable:
        low, high = interval_over_sets(is_any)
        doubt = ", so that chance decides whether in most" * (low <= 0.5 <= high)
        findings += [
            f"Over {_sets(one.sets)} that entry errs less than {is_better.sum()} of "
            f"{len(tests)} rivals by Wilcoxon's test.",
            "With other data sets of this kind one of the four might be best in "
            f"{low:.0%} to {high:.0%} of the cases (95%){doubt}.",
        ]
    if 2 * chosen_wins > n_cases and is_better.all():
        return HOLDS, findings, None
    return PARTLY if 2 * any_wins > n_cases else FAILS, findings, None


def _regularisers(outcomes: Outcomes, is_testable: bool) -> Found:
    """Whether the regularisers do not differ."""
    means = outcomes.sets
    p, mean = friedman(means), means.mean()
    table = pd.DataFrame(
        {"mean error (%)": 100 * mean, "mean rank": ranks(means).mean()}
    )
    is_far = mean.max() - mean.min() >= NEGLIGIBLE
    findings = [
        f"Mean errors over {_sets(means)} lie between {percent(mean.min(), 2)}% "
        f"({mean.idxmin()}) and {percent(mean.max(), 2)}% ({mean.idxmax()})."
    ]
    if is_testable:
        reach = max(
            np.abs(interval(means[one] - means[other])).max()
            for one, other in combinations(means, 2)
        )
        findings += [
            f"Friedman's p is {probability(p)}.",
            f"No two mean errors differ by more than {percent(reach, 2)} points, by "
            "their 95% intervals.",
            *([NO_PROOF] if reach >= NEGLIGIBLE and p >= ALPHA else []),
        ]
    return _by_size(is_far, p < ALPHA), findings, table


def _inner_steps(outcomes: Outcomes, is_testable: bool) -> Found:
    """Whether one inner step does as well as many."""
    means = outcomes.sets
    (test,) = against(means, ONE_STEP).to_dict("records")
    difference = test["difference"]
    differences = (means[ONE_STEP] - means[UNTIL_CONVERGENCE]).to_numpy()
    p = signed_rank(differences, "greater")
    findings = [
        f"Over {_sets(means)} one step errs {_more_or_less(difference)} on average; it "
        f"is better on {test['wins']}, equal on {test['ties']} and worse on "
        f"{test['losses']}."
    ]
    if is_testable:
        low, high = interval(differences)
        findings += [
            f"Wilcoxon's p that it is worse is {probability(p)}.",
            f"By its 95% interval it errs {_more_or_less(low)} to "
            f"{_more_or_less(high)}.",
            *([NO_PROOF] if high >= NEGLIGIBLE and p >= ALPHA else []),
        ]
    verdict = _by_size(difference >= NEGLIGIBLE, difference > 0 and p < ALPHA)
    return verdict, findings, pd.DataFrame({"mean error (%)": 100 * means.mean()})


def _by_size(is_far: bool, is_found: bool) -> str:
    """Judge a claim of no difference by its size and by whether a test finds it."""
    if is_found:
        return FAILS if is_far else PARTLY
    return OPEN if is_far else HOLDS


def _more_or_less(difference: float) -> str:
    word = "more" if difference > 0 else "less"
    return f"{percent(abs(difference), 2)} points {word}"


def _sets(table: pd.DataFrame) -> str:
    return counted(len(table), "data set")


_ALL_CLAIMS = (
    Claim("degradation", PAPER, len(PAPER) - 1, _degradation, (CLEAN, MOST_NOISE)),
    Claim("wins", PAPER, len(RIVALS), _wins),
    Claim("regularisers", SPL, 1, _regularisers),
    Claim("regularisers by plateau", PLATEAU_SPL, 1, _regularisers),
    Claim("inner steps", (ONE_STEP, UNTIL_CONVERGENCE), 1, _inner_steps),
)
CLAIMS = {claim.name: claim for claim in _ALL_CLAIMS}


# ----------------------------------------------------------------- the claim on weights


def judge_weights(weights: pd.DataFrame) -> Verdict:
    """Judge whether wrong labels lose their weight in SPLBoost alone."""
    claim, rule = describe("weights")
    by_method = weights.groupby("method", sort=False)
    mean = by_method[["wrong_given_up", "right_given_up", "rounds", "error"]].mean()
    share, error = mean["wrong_given_up"], by_method["wrong_given_up"].sem()
    table = pd.DataFrame(
        {
            "wrong labels given up (%)": 100 * share,
            "standard error": 100 * error,
            "right labels given up (%)": 100 * mean["right_given_up"],
            "weight of wrong over right, median": by_method["weight_ratio"].median(),
            "rounds": mean["rounds"],
            "test error (%)": 100 * mean["error"],
        }
    )
    own = share.reindex(gaussians.SPLBOOST).dropna()
    others = share.reindex(RIVALS).dropna()
    if len(own) < len(gaussians.SPLBOOST) or len(others) < len(RIVALS):
        lack = "Not all boosters were measured on the Gaussians."
        return Verdict(claim, rule, OPEN, (lack,), table)
    right = mean.loc[own.index, "right_given_up"].max()
    findings = (
        f"Over {weights['draw'].nunique()} draws SPLBoost gives up {own.min():.0%} to "
        f"{own.max():.0%} of the wrong labels, by age, and at most {right:.1%} of the "
        "right ones.",
        f"Of the others, {others.idxmax()} gives up most: {others.max():.0%}.",
    )
    reach = 2 * error
    is_many, is_few = own - reach[own.index] > MANY, others + reach[others.index] < FEW
    if is_many.all() and is_few.all():
        verdict = HOLDS
    elif is_many.any():
        verdict = PARTLY
    else:
        verdict = FAILS if (own + reach[own.index] < MANY).all() else OPEN
    return Verdict(claim, rule, verdict, findings, table)
