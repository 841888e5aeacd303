"""Which claims of the paper hold, each by a rule that is stated with the verdict.

``HISTORY`` tells when the rules were written. Tests take the data set as the
unit, at the level of 5%. Where the table of results has too little for a rule, the
verdict is that it cannot be said yet, with what is known. Sets and levels of noise that
are not in the paper do not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

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
)
from splboost.paper.statistics import (
    ALPHA,
    CHOSEN_SPL,
    DIGITS,
    Outcomes,
    against,
    fewest_sets,
    friedman,
    interval,
    interval_over_sets,
    is_best,
    ranks,
    signed_rank,
)

HOLDS = "holds"
PARTLY = "partly"
FAILS = "does not hold"
OPEN = "cannot be said yet"
VERDICTS = HOLDS, PARTLY, FAILS, OPEN
HISTORY = (
    "The rules for test errors were written before any result was seen. Three were "
    "made stricter when half of the small sets were there: how many data sets a "
    "verdict needs; that a difference too large to be of no consequence leaves it "
    "open whether regularisers differ; and that one inner step is asked on one side "
    "whether it is worse. The rule for the weights of wrong labels was written with "
    "similar figures known, and the words “on the wrong side” were added after a "
    "first measurement, without which SavageBoost would give up what it has fitted; "
    "the verdict was the same before. What is said of intervals and of lower levels "
    "of noise was added last, and decides nothing."
)
CLEAN = 0
NEGLIGIBLE = 0.005  # half a point of error is of no consequence
MANY, FEW = 0.5, 0.05  # shares of wrong labels
NO_PROOF = "That no difference is found is no proof that there is none."


@dataclass(frozen=True)
class Verdict:
    """What the results say of a claim.

    Attributes
    ----------
    claim : str
        What the paper says.
    rule : str
        When it holds, holds partly, and does not.
    verdict : str
        One of ``VERDICTS``.
    findings : tuple of str
        Sentences with the numbers.
    table : frame or None
        More numbers; errors and shares are between 0 and 1.
    methods : tuple of str
        Those whose results it rests on; empty if it does not on the table of results.
    """

    claim: str
    rule: str
    verdict: str
    findings: tuple[str, ...]
    table: pd.DataFrame | None = None
    methods: tuple[str, ...] = ()


def judge_claims(
    results: pd.DataFrame, weights: pd.DataFrame | None = None
) -> list[Verdict]:
    """Judge the claims of the paper.

    Parameters
    ----------
    results : frame
        The table of results, complete or not.
    weights : frame, default=None
        What boosters do with wrong labels on the Gaussians, as
        `splboost.paper.gaussians.measure` returns it; None measures ten
        draws.

    Returns
    -------
    list of Verdict

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
    results = results[results["data"].isin(PAPER_SETS) & results["noise"].isin(NOISE)]
    return [
        judge_degradation(results),
        judge_wins(results),
        judge_regularisers(results, SPL, "λ on the paper's grid"),
        judge_regularisers(results, PLATEAU_SPL, "plateaus on one grid"),
        judge_inner_steps(results),
        judge_weights(gaussians.measure() if weights is None else weights),
    ]


# -------------------------------------------------------------------- the single claims


def judge_degradation(results: pd.DataFrame) -> Verdict:
    """Judge whether AdaBoost degrades most."""
    claim = "AdaBoost suffers most from wrong labels."
    rule = (
        "By how much the error rises from no wrong labels to the most that there are. "
        "Holds: AdaBoost's rises most on the average of the data sets, and more than "
        "that of each other method by Wilcoxon's two-sided test with Holm's "
        "correction. Partly: "
        "most on the average, but not by all tests. Otherwise it does not hold."
    )
    needed = fewest_sets(len(PAPER) - 1)
    outcomes = Outcomes.of(results)
    high = max(outcomes.noise, default=CLEAN)
    rises = outcomes.rises(CLEAN, high)
    lack = _lack(outcomes, PAPER, rises, needed)
    if "AdaBoost" not in rises or rises.shape[1] < 2 or not len(rises):
        return _conclude(claim, rule, needed, lack)
    mean, most = rises.mean(), _count_alone_at_top(rises)
    table = pd.DataFrame({"mean rise": mean, "sets where it rises most": most})
    for level in outcomes.noise:
        lower = outcomes.rises(CLEAN, level)
        if level not in (CLEAN, high) and len(lower):
            table[f"mean rise to {level}%"] = lower.mean()
    tests = against(rises, "AdaBoost").set_index("rival")
    next_one = mean.drop("AdaBoost").idxmax()
    findings = [
        f"From {CLEAN} to {high}% wrong labels AdaBoost's error rises by "
        f"{_points(mean['AdaBoost'])} points on the average of {_sets(rises)}; of the "
        f"other methods, {next_one}'s rises most, by {_points(mean[next_one])}.",
        f"It is AdaBoost's that rises most on {most['AdaBoost']} of them.",
    ]
    if len(rises) >= needed:
        table["Holm's p against AdaBoost"] = tests["p_holm"]
        largest = tests["p_holm"].idxmax()
        p = _p(tests.loc[largest, "p_holm"])
        findings.append(f"The largest adjusted p is {p} (against {largest}).")
    findings += _below_and_with_noise(outcomes, table)
    is_most = bool(mean["AdaBoost"] > mean[next_one])
    is_sure = bool((tests["p_holm"] < ALPHA).all())
    verdict = (HOLDS if is_sure else PARTLY) if is_most else FAILS
    return _conclude(claim, rule, needed, lack, verdict, findings, table, PAPER)


def judge_wins(results: pd.DataFrame) -> Verdict:
    """Judge whether SPLBoost is best in most cases."""
    claim = "SPLBoost is best in most cases."
    rule = (
        "A case is a data set at a level of noise. Holds: with its regulariser chosen "
        "by cross-validation, SPLBoost errs less than all five rivals in more than "
        "half of the cases, and less than each of them over the data sets by "
        "Wilcoxon's two-sided test with Holm's correction. Partly: in more than half "
        "of the "
        "cases one of its four regularisers errs less than all rivals, which four "
        "entries of nine make easy. Otherwise it does not hold."
    )
    needed = fewest_sets(len(RIVALS))
    outcomes = Outcomes.of(results)
    one = outcomes.with_one_spl(CHOSEN_SPL)
    lack = _lack(outcomes, PAPER, one.sets, needed)
    own = [name for name in outcomes.methods if name in SPL]
    if not own or len(own) == len(outcomes.methods) or not len(one.sets):
        return _conclude(claim, rule, needed, lack)
    n_cases = len(outcomes.cases)
    is_any, is_chosen = is_best(outcomes.cases, own), is_best(one.cases, [CHOSEN_SPL])
    any_wins, chosen_wins = is_any.sum(), is_chosen.sum()
    tests = against(one.sets, CHOSEN_SPL).set_index("rival")
    is_better = (tests["difference"] < 0) & (tests["p_holm"] < ALPHA)
    findings = [
        f"One of SPLBoost's {len(own)} entries is best in {any_wins} of {n_cases} "
        f"cases ({any_wins / n_cases:.0%}); with one entry, chosen by "
        f"cross-validation, it is in {chosen_wins} ({chosen_wins / n_cases:.0%})."
    ]
    table = tests[["difference", "wins", "ties", "losses"]]
    table = table.rename(columns={"difference": "mean difference"})
    if len(one.sets) >= needed:
        table = table.assign(p=tests["p"], **{"Holm's p": tests["p_holm"]})
        findings.append(
            f"Over {_sets(one.sets)} that entry errs less than {is_better.sum()} of "
            f"{len(tests)} rivals by Wilcoxon's test."
        )
        low, high = interval_over_sets(is_any)
        doubt = low <= 0.5 <= high
        findings.append(
            "With other data sets of this kind one of the four might be best in "
            f"{low:.0%} to {high:.0%} of the cases (95%)"
            f"{', so that chance decides whether in most' if doubt else ''}."
        )
    if 2 * chosen_wins > n_cases and is_better.all():
        verdict = HOLDS
    else:
        verdict = PARTLY if 2 * any_wins > n_cases else FAILS
    return _conclude(claim, rule, needed, lack, verdict, findings, table, PAPER)


def judge_regularisers(
    results: pd.DataFrame, methods: Sequence[str], grid: str
) -> Verdict:
    """Judge whether the regularisers do not differ."""
    claim = f"The four regularisers do not differ significantly ({grid})."
    rule = (
        "Holds: Friedman's test over the data sets (Iman and Davenport's F) finds no "
        f"difference, and no two mean errors are {_points(NEGLIGIBLE)} points apart. "
        "Partly: it does, but none are so far apart. It does not hold if the test "
        "finds a difference, and some are; if some are, but not by the test, it "
        "cannot be said."
    )
    needed = fewest_sets()
    outcomes = Outcomes.of(results, methods)
    means = outcomes.sets
    lack = _lack(outcomes, methods, means, needed)
    if len(outcomes.methods) < 2 or not len(means):
        return _conclude(claim, rule, needed, lack)
    p, mean = friedman(means), means.mean()
    table = pd.DataFrame({"mean error": mean, "mean rank": ranks(means).mean()})
    apart = mean.max() - mean.min()
    findings = [
        f"Mean errors over {_sets(means)} lie between {_points(mean.min(), 2)}% "
        f"({mean.idxmin()}) and {_points(mean.max(), 2)}% ({mean.idxmax()})."
    ]
    if len(means) >= needed:
        reach = max(
            np.abs(interval(means[one] - means[other])).max()
            for one, other in combinations(means, 2)
        )
        findings += [
            f"Friedman's p is {_p(p)}.",
            f"No two mean errors differ by more than {_points(reach, 2)} points, by "
            "their 95% intervals.",
        ]
        if reach >= NEGLIGIBLE and p >= ALPHA:
            findings.append(NO_PROOF)
    verdict = _by_size(apart >= NEGLIGIBLE, p < ALPHA)
    return _conclude(claim, rule, needed, lack, verdict, findings, table, methods)


def judge_inner_steps(results: pd.DataFrame) -> Verdict:
    """Judge whether one inner step does as well as many."""
    claim = "One inner step does as well as inner steps until convergence."
    rule = (
        "Holds: by Wilcoxon's one-sided test over the data sets one step is not worse, "
        f"and its mean error is less than {_points(NEGLIGIBLE)} points higher. Partly: "
        "it is worse by the test, but by less than that. It does not hold if it is "
        "worse by the test, and by more; if it is by more, but not by the test, it "
        "cannot be said."
    )
    needed = fewest_sets()
    pair = ONE_STEP, UNTIL_CONVERGENCE
    outcomes = Outcomes.of(results, pair)
    means = outcomes.sets
    lack = _lack(outcomes, pair, means, needed)
    if len(outcomes.methods) < 2 or not len(means):
        return _conclude(claim, rule, needed, lack)
    (test,) = against(means, ONE_STEP).to_dict("records")
    difference = test["difference"]
    differences = (means[ONE_STEP] - means[UNTIL_CONVERGENCE]).to_numpy()
    p = signed_rank(differences, "greater")
    findings = [
        f"Over {_sets(means)} one step errs {_points(abs(difference), 2)} points "
        f"{'more' if difference > 0 else 'less'} on average; it is better on "
        f"{test['wins']}, equal on {test['ties']} and worse on {test['losses']}."
    ]
    if len(means) >= needed:
        low, high = interval(differences)
        findings += [
            f"Wilcoxon's p that it is worse is {_p(p)}.",
            f"By its 95% interval it errs {_points(abs(low), 2)} points "
            f"{'less' if low < 0 else 'more'} to {_points(abs(high), 2)} "
            f"{'less' if high < 0 else 'more'}.",
        ]
        if high >= NEGLIGIBLE and p >= ALPHA:
            findings.append(NO_PROOF)
    is_worse = difference > 0 and p < ALPHA
    verdict = _by_size(difference >= NEGLIGIBLE, is_worse)
    table = pd.DataFrame({"mean error": means.mean()})
    return _conclude(claim, rule, needed, lack, verdict, findings, table, pair)


def judge_weights(weights: pd.DataFrame) -> Verdict:
    """Judge whether wrong labels lose their weight in SPLBoost alone."""
    claim = "Wrong labels get no weight in SPLBoost, but they do in other boosters."
    rule = (
        "On draws of the Gaussians, a sample is given up if it is on the wrong side "
        f"and weighs less than {gaussians.NEXT_TO_NOTHING:g} of the mean. Holds: at "
        f"each of the three ages SPLBoost gives up more than {MANY:.0%} of the wrong "
        f"labels, and each other booster less than {FEW:.0%}, in the mean over the "
        "draws and by two standard errors. Partly: SPLBoost does at one age at least. "
        "It does not hold if it does at none; where two standard errors are too many "
        "to tell, it cannot be said."
    )
    by_method = weights.groupby("method", sort=False)
    table = by_method[["wrong_given_up", "right_given_up"]].mean()
    error = by_method["wrong_given_up"].sem()
    table.insert(1, "standard error", error)
    table["median weight_ratio"] = by_method["weight_ratio"].median()
    table = table.join(by_method[["rounds", "error"]].mean())
    share = table["wrong_given_up"]
    own, others = (
        share[share.index.isin(names)] for names in (gaussians.SPLBOOST, RIVALS)
    )
    if len(own) < len(gaussians.SPLBOOST) or len(others) < len(RIVALS):
        lack = "Not all boosters were measured on the Gaussians."
        return Verdict(claim, rule, OPEN, (lack,), table)
    right = table.loc[own.index, "right_given_up"].max()
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


# ------------------------------------------------------------------------- small things


def _conclude(
    claim: str,
    rule: str,
    needed: int,
    lack: str,
    verdict: str = OPEN,
    findings: Sequence[str] = (),
    table: pd.DataFrame | None = None,
    methods: Sequence[str] = (),
) -> Verdict:
    """The verdict on a claim; it stays open where results are missing."""
    rule += f" With fewer than {needed} data sets it cannot be said."
    if lack:
        verdict, findings = OPEN, (lack, *findings)
    return Verdict(claim, rule, verdict, tuple(findings), table, tuple(methods))


def _below_and_with_noise(outcomes: Outcomes, table: pd.DataFrame) -> list[str]:
    """Findings on AdaBoost at lower levels of noise, and on its rank with noise."""
    found = []
    below = [name for name in table if name.startswith("mean rise to")]
    if below:
        own = [
            name.removeprefix("mean rise to ")
            for name in below
            if table[name].idxmax() == "AdaBoost"
        ]
        levels = " and ".join([", ".join(own[:-1]), own[-1]] if own[1:] else own)
        found.append(
            f"Up to {levels} wrong labels AdaBoost's rises most on the average."
            if own
            else "Up to no lower level does AdaBoost's rise most on the average."
        )
    noisy = outcomes.at(level for level in outcomes.noise if level > CLEAN).sets
    if len(noisy):
        mean = ranks(noisy).mean()
        place, n = int((mean < mean["AdaBoost"]).sum()) + 1, len(mean)
        found.append(
            f"Where labels are wrong, its error has the mean rank "
            f"{mean['AdaBoost']:.1f}, number {place} of {n}."
        )
    return found


def _by_size(is_far: bool, is_found: bool) -> str:
    """Judge a claim of no difference by its size and by whether a test finds it."""
    if is_found:
        return FAILS if is_far else PARTLY
    return OPEN if is_far else HOLDS


def _count_alone_at_top(table: pd.DataFrame) -> pd.Series:
    """Number of rows in which each column is larger than all others."""
    rounded = table.round(DIGITS)
    is_top = rounded.eq(rounded.max(axis=1), axis=0)
    return is_top[is_top.sum(axis=1) == 1].sum()


def _lack(
    outcomes: Outcomes, methods: Sequence[str], sets: pd.DataFrame, needed: int
) -> str:
    """What is missing for a verdict; empty if nothing is."""
    if not outcomes.methods:
        return "No results yet."
    missing = [name for name in methods if name not in outcomes.methods]
    levels = [f"{level}%" for level in NOISE if level not in outcomes.noise]
    if missing:
        return f"No results yet of {', '.join(missing)}."
    if levels:
        return f"No results yet at {', '.join(levels)} wrong labels."
    if len(sets) < needed:
        return (
            f"With fewer than {needed} data sets, each with a complete repeat at all "
            f"levels of noise, no test can tell; there are {len(sets)}."
        )
    return ""


def _sets(table: pd.DataFrame) -> str:
    return counted(len(table), "data set")


def _points(error: float, digits: int = 1) -> str:
    return f"{100 * error:.{digits}f}".replace("-", "−")


def _p(p: float) -> str:
    return "below 0.0001" if p < 1e-4 else f"{p:.2g}"
