"""How robust are classifiers to wrong labels? An honest table.

Boosters of this library, forests, gradient boosting and cleanlab on sixteen data sets
and three generators, with right training labels, with 10 to 40% of them flipped, and
with 20 and 40% of the positive class flipped alone. Nothing is measured twice: what is
there is kept in a file, one row for each set, noise, seed and method, and a run goes on
where another was killed. Several runs may work on one file at a time.

    python benchmarks/robustness.py             measures what is missing, for many hours
    python benchmarks/robustness.py --report    saves what is there, in results/
    python benchmarks/robustness.py --quick     small, to see that it works

The rivals need ``pip install 'splboost[bench,plot,rivals]'``. The data sets are read
from the folder that SPLBOOST_DATA names; without it there are the generators.
"""

from __future__ import annotations

import itertools
from pathlib import Path

from _cells import Cell, find, plan, present_methods
from _command import make_parser, parse, perform
from _report import describe_run, save_page
from _results import summary
from _robustness_cells import MEASURES, open_store
from _robustness_data import available_sets
from _robustness_methods import METHODS
from _robustness_picture import save_comparisons
from _robustness_report import sections
from _robustness_results import results_of
from _robustness_work import TASK

from splboost.paper.store import DONE, FAILED

FIRST_SEED = 5  # defaults were chosen with those before
REPEATS = 3
ROWS = 1000
LEVELS = "0", "10", "20", "30", "40", "20 one-sided", "40 one-sided"
TITLE = "How robust classifiers are to wrong labels"
QUICK = {
    "rows": 200,
    "repeats": 1,
    "sets": ["gaussians"],
    "noise": ["0", "20"],
    "methods": ["ExtraTrees", "HistGradientBoosting"],
}


def report(path: Path, cells: list[Cell], rows: int, folder: Path | None) -> None:
    """Print what is there, and write it into a folder."""
    store = open_store(path)
    done = find(store, cells, DONE)
    if not done:
        raise SystemExit(f"{path} has no finished cell of these settings.")
    results = results_of(done, {cell.noise for cell in cells})
    is_comparison = len(results.methods) > 1
    compared = [results.compare(part) for part in results.parts() if is_comparison]
    drawn = [each for each in compared if each.is_testable]
    picture = "robustness.png" if drawn else None
    page = sections(results, rows, find(store, cells, FAILED), picture)
    print("\n\n".join(page))
    if folder is None:
        return
    save_page(folder, "robustness", TITLE, describe_run(), page)
    table = folder / "robustness.csv"
    summary(results, MEASURES).to_csv(table, index=False, float_format="%.5g")
    if picture is not None:
        save_comparisons(drawn, folder / picture)


def main() -> None:
    parser = make_parser(__doc__, "robustness", TASK)
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--repeats", type=int, help=f"{REPEATS} by default")
    full = {
        "rows": ROWS,
        "repeats": REPEATS,
        "sets": available_sets(),
        "noise": list(LEVELS),
        "methods": list(METHODS),
    }
    given = parse(parser, full, QUICK)
    # One repeat of everything before the next
    seeds = range(given.first_seed, given.first_seed + given.repeats)
    places = itertools.product(seeds, given.sets, given.noise)
    cells = plan(places, present_methods(given.methods, METHODS), given.rows)
    perform("robustness", TASK, given, cells, report)


if __name__ == "__main__":
    main()
