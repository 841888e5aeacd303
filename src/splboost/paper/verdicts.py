"""What may be said of a claim, and when the rules for it were written."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

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
