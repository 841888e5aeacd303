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

import argparse
import itertools
import json
import tempfile
from pathlib import Path
from typing import Any

from _report import RESULTS, describe_run, progress, save_page
from _robustness_cells import Cell, open_store
from _robustness_data import GENERATORS, GROUPS, NOISE, PROTOCOL, available_sets
from _robustness_methods import METHODS, Method
from _robustness_picture import save_comparisons
from _robustness_report import sections
from _robustness_results import Results, summary
from _robustness_work import run

from splboost.paper.store import DONE, FAILED

FIRST_SEED = 5  # defaults were chosen with those before
REPEATS = 3
ROWS = 1000
TITLE = "How robust classifiers are to wrong labels"
QUICK = {
    "rows": 200,
    "repeats": 1,
    "sets": ["gaussians"],
    "noise": ["0", "20"],
    "methods": ["ExtraTrees", "HistGradientBoosting"],
}


def settings_of(method: Method, rows: int) -> str:
    """What a figure depends on, beside the cell; figures of others never mix."""
    fixed = {"protocol": PROTOCOL, "rows": rows, "definition": method.definition}
    return json.dumps({**fixed, **method.versions()}, sort_keys=True)


def present_methods(names: list[str]) -> dict[str, Method]:
    """Those that can be fitted here; says which cannot, and what would help."""
    present = {}
    for name in names:
        reason = METHODS[name].missing()
        if reason is None:
            present[name] = METHODS[name]
        else:
            progress(f"{name}: not there; {reason}")
    return present


def plan(given: argparse.Namespace, methods: dict[str, Method]) -> list[Cell]:
    """All cells in the order of work: one repeat of everything before the next."""
    settings = {name: settings_of(each, given.rows) for name, each in methods.items()}
    seeds = range(given.first_seed, given.first_seed + given.repeats)
    sets = [name for name in GROUPS if name in given.sets]
    return [
        Cell(settings[method], data, noise, seed, method)
        for seed, data, noise, method in itertools.product(
            seeds, sets, given.noise, methods
        )
    ]


def report(path: Path, cells: list[Cell], rows: int, folder: Path | None) -> None:
    """Print what is there, and write it into a folder."""
    store, wanted = open_store(path), set(cells)

    def find(state: str) -> list[dict[str, Any]]:
        found = store.rows({cell.settings for cell in cells}, state)
        return [r for r in found if Cell(*(r[name] for name in Cell._fields)) in wanted]

    done = find(DONE)
    if not done:
        raise SystemExit(f"{path} has no finished cell of these settings.")
    results = Results(done, {cell.noise for cell in cells})
    is_comparison = len(results.methods) > 1
    compared = [results.compare(part) for part in results.parts() if is_comparison]
    drawn = [each for each in compared if each.is_testable]
    picture = "robustness.png" if drawn else None
    page = sections(results, rows, find(FAILED), picture)
    print("\n\n".join(page))
    if folder is None:
        return
    save_page(folder, "robustness", TITLE, describe_run(), page)
    table = folder / "robustness.csv"
    summary(results).to_csv(table, index=False, float_format="%.5g")
    if picture is not None:
        save_comparisons(drawn, folder / picture)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", type=Path, help="default: robustness.sqlite")
    parser.add_argument("--report", action="store_true", help="measure nothing")
    parser.add_argument("--quick", action="store_true", help="small; prints a report")
    parser.add_argument(
        "--out", type=Path, help="folder of the report; --quick has none by itself"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--rows", type=int, help=f"to train with, {ROWS} by default")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--repeats", type=int, help=f"{REPEATS} by default")
    parser.add_argument("--sets", nargs="+", choices=GROUPS, metavar="SET")
    parser.add_argument("--noise", nargs="+", choices=NOISE, metavar="LEVEL")
    parser.add_argument("--methods", nargs="+", choices=METHODS, metavar="METHOD")
    parser.add_argument(
        "--retry", action="store_true", help="try again what failed before"
    )
    given = parser.parse_args()
    full = {
        "rows": ROWS,
        "repeats": REPEATS,
        "sets": available_sets(),
        "noise": list(NOISE),
        "methods": list(METHODS),
    }
    for name, value in (QUICK if given.quick else full).items():
        if getattr(given, name) is None:
            setattr(given, name, value)
    for name in given.sets:
        if name not in available_sets():
            parser.error(f"{name} comes from a file: let SPLBOOST_DATA name its folder")
    return given


def main() -> None:
    given = parse()
    if not set(given.sets) - set(GENERATORS):
        progress("Generators only; SPLBOOST_DATA names the folder of the other sets.")
    cells = plan(given, present_methods(given.methods))
    if given.report:
        path = given.store or Path("robustness.sqlite")
        return report(path, cells, given.rows, given.out or RESULTS)
    with tempfile.TemporaryDirectory() as folder:
        default = Path(folder if given.quick else "") / "robustness.sqlite"
        path = given.store or default
        if given.retry:
            open_store(path).forget_failures()
        run(path, cells, given.rows, given.jobs)
        if given.quick:
            report(path, cells, given.rows, given.out)
    return None


if __name__ == "__main__":
    main()
