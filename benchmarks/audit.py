"""Which way to find wrong labels finds them? An honest table.

The audits of this library, cleanlab, a random forest and out-of-fold gradient boosting
on sixteen data sets and three generators, with 5 to 30% of the labels flipped, with 20%
of the positive class flipped alone, and with none flipped, for false alarms. Then a
LightGBM is trained on what each leaves of the data. Nothing is measured twice: what is
there is kept in a file, one row for each set, noise, seed and method, and a run goes on
where another was killed. Several runs may work on one file at a time.

    python benchmarks/audit.py                  measures what is missing, for hours
    python benchmarks/audit.py --report         saves what is there, in results/
    python benchmarks/audit.py --quick          small, to see that it works

All needs ``pip install 'splboost[bench,plot,rivals]'``. The data sets are read from the
folder that SPLBOOST_DATA names; without it there are the generators.
"""

from __future__ import annotations

import itertools
from pathlib import Path

from _audit_methods import METHODS
from _audit_picture import save_picture
from _audit_report import sections
from _audit_results import FIGURES, results_of
from _audit_work import TASK, open_store
from _cells import Cell, find, plan, present_methods
from _command import make_parser, parse, perform
from _report import describe_run, save_page
from _results import summary
from _robustness_data import available_sets

from splboost.paper.store import DONE, FAILED

SEEDS = 0, 1
ROWS = 3000
# In the order of work: all sets at one level before the next
LEVELS = "20", "0", "20 one-sided", "5", "30", "10"
TITLE = "Which way to find wrong labels finds them"
QUICK = {
    "rows": 200,
    "seeds": [0],
    "sets": ["gaussians"],
    "noise": ["20", "0"],
    "methods": ["LabelAudit, quick", "random forest", "LightGBM"],
}


def report(path: Path, cells: list[Cell], rows: int, folder: Path | None) -> None:
    """Print what is there, and write it into a folder."""
    store = open_store(path)
    done = find(store, cells, DONE)
    if not done:
        raise SystemExit(f"{path} has no finished cell of these settings.")
    results = results_of(done, {cell.noise for cell in cells})
    picture = "audit.png" if results.wrong and len(results.complete) else None
    page = sections(results, rows, find(store, cells, FAILED), picture)
    print("\n\n".join(page))
    if folder is None:
        return
    save_page(folder, "audit", TITLE, describe_run(), page)
    table = folder / "audit.csv"
    summary(results, FIGURES).to_csv(table, index=False, float_format="%.5g")
    if picture is not None:
        save_picture(results, folder / picture)


def main() -> None:
    parser = make_parser(__doc__, "audit", TASK)
    parser.add_argument("--seeds", nargs="+", type=int, help="0 and 1 by default")
    full = {
        "rows": ROWS,
        "seeds": list(SEEDS),
        "sets": available_sets(),
        "noise": list(LEVELS),
        "methods": list(METHODS),
    }
    given = parse(parser, full, QUICK)
    places = (
        (seed, data, noise)
        for seed, noise, data in itertools.product(given.seeds, given.noise, given.sets)
    )
    cells = plan(places, present_methods(given.methods, METHODS), given.rows)
    perform("audit", TASK, given, cells, report)


if __name__ == "__main__":
    main()
