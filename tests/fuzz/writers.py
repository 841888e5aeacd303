"""Everything of splboost that writes files, made ready to be killed meanwhile."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
import pandas as pd

from fuzz.commands import TARGET, apply, audit, decide, invoke, make_rows, save, text_of
from splboost.audit.label_audit import LabelAudit
from splboost.datasets import UCI_CATALOGUE, load_uci
from splboost.paper.commands import make_protocol
from splboost.paper.report import write_report
from splboost.paper.results import open_store
from splboost.paper.runner import plan

CHOICE = "--sets", "twonorm", "--noise", 0, "--repeats", 4
STORE = "results.sqlite"


class Writer(NamedTuple):
    """Something that writes files below a folder.

    ``prepare(folder, version)`` makes what is read: of an earlier version (0), whose
    output is then replaced by that of the next (1). ``write(folder)`` is what is
    killed. ``replaces`` says whether an output of the earlier version may be there.
    """

    prepare: Callable[[Path, int], None]
    write: Callable[[Path], object]
    replaces: bool = True


# -------------------------------------------------------------------------------- audit


def _prepare_decisions(ending, folder, version):
    data, decisions = folder / f"data{ending}", folder / "decisions.csv"
    if version == 0:
        save(data, make_rows())
        audit(data, folder / "audit", "--top", 12)
    kinds = ["flip", "drop", "keep"]
    if version == 1:  # more decisions, by which the earlier output is replaced
        kinds += ["flip"] * 4 + ["drop"] * 4
    decisions.write_text(text_of(decide(folder / "audit" / "suspects.csv", kinds)))


def _write_decisions(ending, folder):
    apply(folder / f"data{ending}", folder / "decisions.csv", folder / f"clean{ending}")


def _without_pyarrow(write, folder):
    def find(name):
        return None if name == "pyarrow" else find_spec(name)

    with patch("splboost._data.frames.find_spec", find):
        write(folder)


def _prepare_data(folder, version):
    save(folder / "data.csv", make_rows(seed=version))


def _write_audit(folder):
    audit(folder / "data.csv", folder / "audit", "--top", 5)


@cache
def _audited(version):
    rows = pd.DataFrame(make_rows(seed=version))
    X, y = rows[["income"]].astype(float), rows[TARGET].to_numpy()
    return LabelAudit(quick=True, top=5, random_state=0).fit(X, y)


def _name_version(folder, version):
    (folder / "version").write_text(str(version))


def _prepare_page(folder, version):
    _name_version(folder, version)
    _audited(version)


def _write_page(folder):
    version = int((folder / "version").read_text())
    _audited(version).write_page(folder / "page.html")


# -------------------------------------------------------------------------------- paper


def _cells():
    protocol = make_protocol("quick", "twonorm", "0", 4, None)
    return plan(protocol, ["AdaBoost"], {"twonorm": "catalogue"})


def _figures():
    return {
        "n_train": 100,
        "error": 0.1,
        "cv_error": None,
        "n_estimators": 7,
        "chosen": "{}",
        "n_fits": 1,
        "fit_seconds": 0.5,
    }


def _fill(path, n_cells):
    with closing(open_store(path)) as store:
        store.adopt((cell, _figures(), "test") for cell in _cells()[:n_cells])


def _prepare_store(folder, version):
    _fill(folder / STORE, 1 + version)


def _export(folder):
    invoke("paper", "export", folder / "out.csv", "--store", folder / STORE, *CHOICE)


def _prepare_half_a_store(folder, version):
    """Two cells are there, and a file has two more."""
    (folder / STORE).unlink(missing_ok=True)
    _fill(folder / STORE, 4)
    _export(folder)
    (folder / "out.csv").replace(folder / "in.csv")
    (folder / STORE).unlink()
    _fill(folder / STORE, 2)


def _import(folder):
    invoke("paper", "import", folder / "in.csv", "--store", folder / STORE, *CHOICE)


def _measure(folder):
    """What a run does to its store."""
    with closing(open_store(folder / STORE)) as store:
        for cell in _cells()[2:]:
            if store.claim(cell):
                store.finish(cell, _figures(), "test")


def _prepare_picture(folder, version):
    path = folder / "figure_2.png"
    if path.exists():  # what comes after the picture is not looked at
        path.write_bytes(path.read_bytes() + b"earlier")


def _draw(folder):
    invoke("paper", "--figure", 2, "--folder", folder)


def _report(folder):
    """The page without what takes a minute to measure."""
    from paper_results import make_results

    text = "word " * 10_000 + (folder / "version").read_text()
    parts = "splboost.paper.report.make_parts", lambda *given: [("numbers", text)]
    with patch(*parts), patch("string.Template.substitute", Template.safe_substitute):
        write_report(make_results(["pima"]), folder / "report.html", about={})


# --------------------------------------------------------------------------- downloads


def _download(folder):
    entry = replace(
        UCI_CATALOGUE["titanic"],
        columns=("age",),
        categorical=(),
        classes={"no": 600, "yes": 700},
    )
    ages = np.random.default_rng(0).normal(size=1300)
    lines = [f"{a},{'no' if k < 600 else 'yes'}\n" for k, a in enumerate(ages)]
    content = "".join(["age,target\n", *lines]).encode()
    with (
        patch.dict(UCI_CATALOGUE, titanic=entry),
        patch("splboost.datasets.uci._fetch_csv", lambda *_: content),
    ):
        load_uci("titanic", data_home=folder)


def _forget_download(folder, version):
    """A file that is there is not fetched."""
    for path in folder.glob("titanic*"):
        path.unlink()


# -------------------------------------------------------------------------- all of them


def _apply(ending):
    return Writer(
        partial(_prepare_decisions, ending), partial(_write_decisions, ending)
    )


_parquet = _apply(".parquet")
WRITERS = {
    "audit apply, CSV": _apply(".csv"),
    "audit apply, CSV.gz": _apply(".csv.gz"),
    "audit apply, Parquet by pyarrow": _parquet,
    "audit apply, Parquet by polars": _parquet._replace(
        write=partial(_without_pyarrow, _parquet.write)
    ),
    "audit": Writer(_prepare_data, _write_audit),
    "LabelAudit.write_page": Writer(_prepare_page, _write_page),
    "paper export": Writer(_prepare_store, _export),
    "paper import": Writer(_prepare_half_a_store, _import, False),
    "paper run, its store": Writer(_prepare_half_a_store, _measure, False),
    "paper --figure": Writer(_prepare_picture, _draw),
    "paper report": Writer(_name_version, _report),
    "load_uci": Writer(_forget_download, _download, False),
}


def _write_in_place(folder):
    (folder / "file").write_bytes((folder / "version").read_bytes() * 10_000)


# By which it can be seen that torture finds what it looks for
CONTROL = {"in place": Writer(_name_version, _write_in_place)}


def check_store(path, before):
    """A store is sound, and has lost nothing; how many cells it has. None are half."""
    cells = {}
    for each in (before, path):
        with closing(sqlite3.connect(each)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            connection.row_factory = sqlite3.Row
            rows = [dict(row) for row in connection.execute("SELECT * FROM cells")]
        cells[each] = {row["repeat"]: row for row in rows}
    for repeat, row in cells[before].items():
        assert cells[path].get(repeat) == row, f"cell {repeat} was lost or changed"
    for row in cells[path].values():
        is_done = row["state"] == "done"
        assert is_done or row["state"] == "claimed"
        found = {name: row[name] for name in _figures()}
        assert found == (_figures() if is_done else dict.fromkeys(found)), found
    return sum(row["state"] == "done" for row in cells[path].values())
