"""Which labels are wrong? An audit of data with known mistakes.

Of scikit-learn's breast cancer data a tenth of the labels are turned. The audit ranks
all labels by how likely they are wrong, without knowing which. Says how many of the
turned ones it has found, and leaves a page to review the suspects (demo.html) and a
picture (demo.png).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from splboost.audit import LabelAudit
from splboost.datasets import flip_labels
from splboost.display.style import CLASS_COLOURS, INK

PAGE, PICTURE = Path("demo.html"), Path("demo.png")
SHARE = 0.1  # of the labels


def main() -> None:
    data = load_breast_cancer(as_frame=True)
    names = data.target_names[data.target]
    labels, is_wrong = flip_labels(names, SHARE, random_state=0)
    n_wrong = int(is_wrong.sum())
    print("Auditing ...", flush=True)
    on_terminal = sys.stderr.isatty()  # where there is room for a bar
    audit = LabelAudit(n_jobs=-1, random_state=0, verbose=on_terminal)
    audit.fit(data.data, labels)
    print(f"Breast cancer, {len(labels)} rows, {n_wrong} labels turned on purpose.")
    print(audit.summary())
    is_suspect = np.asarray(audit.issues_["is_label_issue"])
    found = int((is_suspect & is_wrong).sum())
    print(
        f"{found} of the {n_wrong} turned labels are among the "
        f"{is_suspect.sum()} suspects: the precision is {found / is_suspect.sum():.0%}."
    )
    print("Looking for reasons ...", flush=True)
    audit.write_page(PAGE, name="breast cancer, a tenth wrong", target="diagnosis")
    draw(audit, is_wrong).savefig(PICTURE, dpi=150)
    print(f"Page: {PAGE.resolve()}")
    print(f"Picture: {PICTURE.resolve()}")


def draw(audit: LabelAudit, is_wrong: Any) -> Any:
    """How soon a reviewer finds wrong labels, and how well labels fit their rows."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.8), layout="constrained")
    blue, brick = CLASS_COLOURS[0], CLASS_COLOURS[6]
    worst_first = np.argsort(np.asarray(audit.issues_["rank"]))
    n_wrong, n_shown = int(is_wrong.sum()), 3 * int(is_wrong.sum())
    reviewed = np.arange(n_shown + 1)
    found = np.r_[0, np.cumsum(is_wrong[worst_first])][: n_shown + 1]
    left.plot(reviewed, np.minimum(reviewed, n_wrong), ":", color=INK, label="at best")
    left.plot(reviewed, found, color=blue, label="in the order of the audit")
    left.plot(
        reviewed, reviewed * is_wrong.mean(), "--", color=brick, label="at random"
    )
    n_suspects = int(np.sum(audit.issues_["is_label_issue"]))
    left.axvline(n_suspects, color=INK, linewidth=0.7)
    left.annotate(" suspects end here", (n_suspects, n_wrong / 3), fontsize=8)
    left.set(xlabel="labels reviewed", ylabel="wrong ones found", title="The review")
    left.legend(frameon=False, fontsize=9)
    quality = np.asarray(audit.issues_["label_quality"])
    bins = np.linspace(0, 1, 26)
    parts = [quality[~is_wrong], quality[is_wrong]]
    labels = ["right labels", "turned labels"]
    right.hist(parts, bins, stacked=True, color=[blue, brick], label=labels)
    right.set(xlabel="label quality", ylabel="labels", title="What the audit sees")
    right.set_yscale("symlog", linthresh=10)
    right.legend(frameon=False, fontsize=9, loc="upper left")
    return figure


if __name__ == "__main__":
    main()
