"""Is XGBoost or LightGBM with a pace more robust than without?

Each classifier of splboost.engines beside its parent, on sixteen data sets and three
generators with 0 to 40% of the training labels flipped: as it comes, with five seeds,
and tuned with as many draws. Nothing is measured twice: what is there is kept in a
file, and a run goes on where another was killed.

    python benchmarks/engines.py               measures what is missing, an hour or two
    python benchmarks/engines.py --overhead    what a pace costs, into results/
    python benchmarks/engines.py --stopping    early stopping alone, into results/
    python benchmarks/engines.py --report      saves what is there, in results/
    python benchmarks/engines.py --quick       small, to see that it works

It needs ``pip install 'splboost[bench,rivals]'``. The data sets are read from the
folder that SPLBOOST_DATA names; without it there are the generators.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import _engines_overhead as overhead
import _engines_stopping as stopping
from _cells import Cell, find, plan, present_methods
from _command import make_parser, parse, perform
from _engines_methods import METHODS
from _engines_report import sections
from _report import RESULTS, describe_run, save_page
from _results import Results, summary
from _robustness_cells import MEASURES, open_store
from _robustness_data import available_sets
from _robustness_work import describe, measure
from _work import Task

from splboost.paper.store import DONE, FAILED

TASK = Task(METHODS, open_store, measure, describe)
FIRST_SEED = 5  # defaults of the library were chosen with those before
REPEATS = 1
ROWS = 500
LEVELS = "0", "10", "20", "30", "40"
TITLE = "XGBoost and LightGBM with a pace and without"
QUICK = {
    "rows": 150,
    "repeats": 1,
    "sets": ["gaussians"],
    "noise": ["0", "20"],
    "methods": ["SPLXGB", "XGBoost, depth 3, half the rows"],
}
OVERHEAD = "engines_overhead.json"


def report(path: Path, cells: list[Cell], rows: int, folder: Path | None) -> None:
    """Print what is there, and write it into a folder."""
    import pandas as pd

    store = open_store(path)
    done = find(store, cells, DONE)
    if not done:
        raise SystemExit(f"{path} has no finished cell of these settings.")
    results = Results(
        pd.DataFrame(done), METHODS, {cell.noise for cell in cells}, "error"
    )
    page = sections(results, rows, find(store, cells, FAILED))
    costs = RESULTS / OVERHEAD
    if folder is not None and costs.exists():
        measured = json.loads(costs.read_text())
        page += ["## What a pace costs", overhead.table(measured)]
    print("\n\n".join(page))
    if folder is None:
        return
    save_page(folder, "engines", TITLE, describe_run(), page)
    table = summary(results, MEASURES)
    table.to_csv(folder / "engines.csv", index=False, float_format="%.5g")


def main() -> None:
    parser = make_parser(__doc__, "engines", TASK)
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--repeats", type=int, help=f"{REPEATS} by default")
    parser.add_argument("--overhead", action="store_true", help="times of fits alone")
    parser.add_argument("--stopping", action="store_true", help="early stopping alone")
    full = {
        "rows": ROWS,
        "repeats": REPEATS,
        "sets": available_sets(),
        "noise": list(LEVELS),
        "methods": list(METHODS),
    }
    if parser.parse_known_args()[0].stopping:
        full |= {
            "rows": stopping.ROWS,
            "repeats": stopping.SPLITS,
            "sets": [name for name in stopping.SETS if name in full["sets"]],
        }
    given = parse(parser, full, QUICK)
    if given.overhead:
        measured = overhead.measure(*(((500,), 1) if given.quick else ()))
        print(overhead.table(measured))
        if given.out or not given.quick:
            overhead.save(measured, (given.out or RESULTS) / OVERHEAD)
        return
    seeds = range(given.first_seed, given.first_seed + given.repeats)
    if given.stopping:
        measured = stopping.measure(given.sets, seeds, given.rows, given.jobs)
        page = stopping.sections(measured)
        print("\n\n".join(page))
        if given.out or not given.quick:
            stopping.write(measured, page, given.out or RESULTS)
        return
    places = itertools.product(seeds, given.sets, given.noise)
    cells = plan(places, present_methods(given.methods, METHODS), given.rows)
    perform("engines", TASK, given, cells, report)


if __name__ == "__main__":
    main()
