"""Does C45Classifier grow the trees of Weka's J48?

J48 is the best known descendant of C4.5, and departs from it in a few ways. Both fit
half of each data set, pruned and unpruned. Compared are the trees, with thresholds as
far as J48 prints them, and the predicted classes of all training and test rows. Where
something differs, ``_c45.py``, a plain C4.5 with a switch for each of J48's ways, says
which of them make the difference: the fewest that turn our tree into J48's.

    python benchmarks/j48.py

Needs Java and Weka (Debian: ``apt install weka``; or WEKA_JAR names a weka.jar; or
``--jar`` names some, to compare with several versions), and the data sets in the folder
that SPLBOOST_DATA names.
"""

from __future__ import annotations

import argparse
import os
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _c45 import C45, SWITCHES, Leaf, Problem, Test, Tree, count_leaves, is_same_tree
from _report import RESULTS, describe_run, format_table, progress, save
from _weka import PRINTED, find_jar, knows_option, own_ways, run_j48, weka_version

from splboost.trees import C45Classifier

DATA = (
    "pima",
    "blood",
    "vc-2classes",
    "parkinsons",
    "titanic",
    "pb-T-OR-D_clean",
    "st-german-credit",
    "bank_fd4521",
    "oocMerl4D",
    "ozone",
    "spambase",
    "magic",
    "adult",
    "connect-4_3class",
)
SEED = 0
SETTINGS: dict[str, dict[str, Any]] = {
    "-C 0.25 -M 2": {},
    "-C 0.1 -M 5": {"confidence": 0.1, "min_cases": 5},
    "-U": {"pruning": False},
    "-J": {"mdl": False},
    "-J -U": {"mdl": False, "pruning": False},
}
REASON, UNEXPLAINED = "what makes the difference", "NOT EXPLAINED"
Answer = tuple[Tree, np.ndarray, np.ndarray]  # classes of training and test rows


def load(name: str) -> tuple[Problem, Problem]:
    """A training and a test half; all categories occur in the first."""
    path = Path(os.environ["SPLBOOST_DATA"]) / f"{name}.csv.gz"
    frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
    frame = frame.sample(frac=1.0, random_state=SEED, ignore_index=True)
    classes, y = np.unique(frame.pop("target"), return_inverse=True)
    columns, n_values = [], []
    goes_first = np.zeros(len(y), dtype=bool)
    for _, column in frame.items():
        if pd.api.types.is_numeric_dtype(column):
            columns.append(column.to_numpy(float))
            n_values.append(None)
            continue
        codes, values = pd.factorize(column, sort=True)
        columns.append(np.where(codes < 0, np.nan, codes))
        n_values.append(len(values))
        goes_first |= (codes >= 0) & ~column.duplicated().to_numpy()
    X, order = np.column_stack(columns), np.argsort(~goes_first, kind="stable")
    train, test = np.split(order, [len(y) // 2])
    assert goes_first[test].sum() == 0, name
    return (
        Problem(X[train], y[train], len(classes), n_values),
        Problem(X[test], y[test], len(classes), n_values),
    )


def ask_ours(train: Problem, test: Problem, options: dict[str, Any]) -> Answer:
    is_category = [n is not None for n in train.n_values]
    model = C45Classifier(categorical_features=is_category, **options)
    model.fit(train.X, train.y)
    nodes = model.tree_.nodes

    def read(node: int) -> Tree:
        first = nodes.child[node]
        if first < 0:
            return Leaf(int(nodes.label[node]))
        feature, threshold = int(nodes.feature[node]), float(nodes.threshold[node])
        return Test(
            feature,
            None if is_category[feature] else threshold,
            tuple(read(first + branch) for branch in range(nodes.children[node])),
        )

    return read(0), model.predict(train.X), model.predict(test.X)


def ask_plain(
    train: Problem, test: Problem, options: dict[str, Any], ways: tuple[str, ...]
) -> Answer:
    model = C45(train, switches=ways, **options)
    return model.tree, model.predict(train.X), model.predict(test.X)


def agree(answer: Answer, other: Answer, slack: float = 0.0) -> bool:
    return is_same_tree(answer[0], other[0], slack) and all(
        np.array_equal(one, two) for one, two in zip(answer[1:], other[1:], strict=True)
    )


def explain(j48: Answer, ways: list[str], *task: Any) -> str:
    """The fewest of J48's ways that make its tree and predictions."""
    for size in range(1, len(ways) + 1):
        for chosen in combinations(ways, size):
            if agree(ask_plain(*task, chosen), j48, PRINTED):
                return " and ".join(chosen)
    return UNEXPLAINED


def compare(
    train: Problem, test: Problem, setting: str, jar: Path, ways: list[str]
) -> dict[str, Any]:
    task = train, test, SETTINGS[setting]
    j48 = run_j48(jar, train, test, setting.split())
    ours = ask_ours(*task)
    plain_is_ours = agree(ask_plain(*task, ()), ours)
    reason = ""
    if not agree(ours, j48, PRINTED):
        reason = explain(j48, ways, *task) if plain_is_ours else UNEXPLAINED
    return {
        "rows": len(train.y),
        "J48 options": setting,
        "leaves of J48": count_leaves(j48[0]),
        "ours": count_leaves(ours[0]),
        "same tree": is_same_tree(ours[0], j48[0], PRINTED),
        "training rows alike": float(np.mean(ours[1] == j48[1])),
        "test rows alike": float(np.mean(ours[2] == j48[2])),
        "plain is ours": plain_is_ours,
        "plain with all switches is J48": agree(
            ask_plain(*task, tuple(ways)), j48, PRINTED
        ),
        REASON: reason,
    }


def format_share(share: float) -> str:
    """100% only where all are alike."""
    return "100%" if share == 1.0 else f"{min(share, 0.9999):.2%}"


def report(rows: list[dict[str, Any]], version: str, ways: list[str]) -> list[str]:
    hidden = ("plain is ours", "plain with all switches is J48")
    header = [key for key in rows[0] if key not in hidden]
    cells = []
    for row in rows:
        shown = dict(row)
        shown["same tree"] = "yes" if row["same tree"] else "no"
        for key in ("training rows alike", "test rows alike"):
            shown[key] = format_share(row[key])
        cells.append([shown[key] for key in header])
    reasons = [row[REASON] for row in rows if row[REASON]]
    plain, switched = (sum(row[key] for row in rows) for key in hidden)
    return [
        f"## Weka {version}",
        f"In {len(rows) - len(reasons)} of {len(rows)} comparisons the trees and all "
        f"predictions are equal. Of the others, {reasons.count(UNEXPLAINED)} are not "
        f"explained. The plain C4.5 equals ours in {plain} of {len(rows)} without "
        f"switches, and J48 in {switched} with these: {', '.join(ways)}.",
        format_table(header, cells),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jar", type=Path, nargs="+", default=[None])
    parser.add_argument("--data", nargs="+", choices=DATA, default=DATA)
    parser.add_argument("--out", type=Path, help="folder for j48.md and .json")
    args = parser.parse_args()
    run = describe_run()
    sections = [
        "Both fit one half of each data set. A seeded shuffle makes the halves, but "
        "all categories are in the training half. `-C` is the confidence, `-M` the "
        "least weight of two branches (0.25 and 2 unless given), `-U` does not prune, "
        "`-J` does not charge for the choice among cuts (Weka 3.6 does not know it). "
        "Thresholds are compared to the six decimals that J48 prints.",
    ]
    data = {}
    for jar in [find_jar(path) for path in args.jar]:
        version, ways = weka_version(jar), own_ways(jar)
        settings = [s for s in SETTINGS if "-J" not in s or knows_option(jar, "-J")]
        data[version] = rows = []
        for name in args.data:
            train, test = load(name)
            for setting in settings:
                row = compare(train, test, setting, jar, ways)
                rows.append({"data": name, **row})
                progress(f"Weka {version}, {name} {setting}: {row[REASON] or 'equal'}")
        sections += report(rows, version, ways)
    run["versions"]["weka"] = " and ".join(data)
    legend = [f"- **{name}**: {text}" for name, text in SWITCHES.items()]
    sections += [
        "## What J48 does in its own way",
        "\n".join(legend),
        "The number of cuts that a numeric test is charged for is the same in both: "
        "those that leave enough cases on either side.",
    ]
    print("\n\n".join(sections))
    folder = args.out or (RESULTS if args.data == DATA else None)
    if folder is not None:
        title = "C45Classifier and Weka's J48"
        save(folder, "j48", title, run, sections, {"comparisons": data})


if __name__ == "__main__":
    main()
