"""What an audit has found, in a few lines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from splboost.audit.findings import Findings

NOTHING = "0.0%"  # to one digit
MOST_ROWS = 10  # that are named


def summarise(audit: Findings, numbers: Sequence[int] | None = None) -> str:
    """Noise, suspects, contradictions, and which labels look like which others.

    ``numbers`` are those of the rows, where they are not counted from 0.
    """
    is_issue = np.asarray(audit.issues_["is_label_issue"])
    n_rows, n_suspects = is_issue.size, int(is_issue.sum())
    rate, std = f"{audit.noise_rate_:.1%}", f"{audit.noise_rate_std_:.1%}"
    share = "none or next to none" if rate == NOTHING else f"about {rate}"
    spread = "" if std == NOTHING else f" (± {std})"
    lines = [f"{n_rows} labels, of which {share}{spread} look wrong."]
    if n_suspects > 1:
        lines.append(
            f"{n_suspects} suspects; of these about {audit.expected_precision_:.0%} "
            "should be wrong."
        )
    elif n_suspects == 1:
        chance = audit.expected_precision_
        lines.append(f"1 suspect, wrong with a chance of about {chance:.0%}.")
    else:
        lines.append("No label is suspect.")
    n_wrong = round(audit.noise_rate_ * n_rows)
    if n_wrong > n_suspects and audit.top is None and audit.precision is None:
        lines.append(
            f"About {n_wrong} may be wrong; top={n_wrong}, on the command line "
            f"--top {n_wrong}, lists as many."
        )
    unjudged = np.isnan(np.asarray(audit.issues_["label_quality"], dtype=float))
    if unjudged.any():
        rows = np.flatnonzero(unjudged).tolist()
        if numbers is not None:
            rows = [numbers[row] for row in rows]
        some = ", ".join(map(str, rows[:MOST_ROWS]))
        some += ", ..." if len(rows) > MOST_ROWS else ""
        lines.append(
            f"Not judged, since all models have seen them: rows {some}. The only row "
            "of a class is such a one: look at it yourself."
        )
    if audit.contradictions_:
        n = sum(each.rows.size for each in audit.contradictions_)
        lines.append(
            f"{n} rows are equal to others but for their labels, in "
            f"{len(audit.contradictions_)} groups: some of these are wrong for "
            "certain, or the columns do not tell."
        )
    given = np.asarray(audit.issues_["given_label"])[is_issue]
    better = np.asarray(audit.issues_["predicted_label"])[is_issue]
    for label in audit.classes_:
        for other in audit.classes_:
            n = int(np.count_nonzero((given == label) & (better == other)))
            if n and label != other:
                lines.append(f"  {n} labelled {label} look like {other}")
    return "\n".join(lines)
