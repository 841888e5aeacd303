"""Table I of the SPLBoost paper beside the data."""

from __future__ import annotations

import os
from textwrap import fill
from typing import Any, TextIO

import numpy as np

from splboost.datasets.catalogue import UCI_CATALOGUE
from splboost.datasets.uci import data_folder, load_checked

ABSENT = "absent"
UNREADABLE = "broken"
EXACT = "the catalogue's"
COUNTED = "same counts"


def print_table_one(
    *, data_home: str | os.PathLike[str] | None = None, file: TextIO | None = None
) -> None:
    """Print Table I of the SPLBoost paper beside the data.

    Parameters
    ----------
    data_home : str or path, default=None
        The folder with the data, as in `load_uci`.
    file : text file, default=None
        Where to print; by default stdout.

    Examples
    --------
    >>> from splboost.paper.table_one import print_table_one
    >>> print_table_one(data_home="no such folder")
    Table I of the SPLBoost paper, and the data in no such folder
    <BLANKLINE>
                                rows      columns    majority, %
                        paper   data  paper  data    paper  data
    adult               48842 absent     14     -     75.9     - *
    ...
    """
    rows = compare_with_data(data_home)
    lines = [
        f"Table I of the SPLBoost paper, and the data in {data_folder(data_home)}",
        "",
        f"{'':16}{'rows':>16}{'columns':>13}{'majority, %':>15}",
        f"{'':16}"
        + f"{'paper':>9}{'data':>7}{'paper':>7}{'data':>6}{'paper':>9}{'data':>6}",
        *(_line(row) for row in rows),
    ]
    for row in rows:
        if row["difference"]:
            text = f"* {row['name']}: {row['difference']}"
            lines += ["", fill(text, width=79, subsequent_indent="  ")]
    others = [row["name"] for row in rows if row["data"] == COUNTED]
    if others:
        text = f"Counted in other files than the catalogue's: {', '.join(others)}."
        lines += ["", fill(text, width=79)]
    absent = {row["name"] for row in rows if row["data"] == ABSENT}
    if absent:
        lines += ["", "Absent sets: load_uci downloads them, or says how to get them."]
    if absent & {"ringnorm", "twonorm"}:
        lines += ["splboost paper makes its own ringnorm and twonorm."]
    if any(row["data"] == UNREADABLE for row in rows):
        lines += ["", "Broken files: load_uci says what is wrong with them."]
    print(*lines, sep="\n", file=file)


def compare_with_data(
    data_home: str | os.PathLike[str] | None = None,
) -> list[dict[str, Any]]:
    """Figures of the paper and of the data, for each of the 17 sets.

    ``data`` says what there is: the catalogue's file, one with the same counts, such as
    a download, or nothing that can be read. ``rows``, ``columns`` and ``majority`` (the
    share of the largest class, in percent) were counted, and are None where there are
    no data; those with ``paper_`` in front are the paper's. ``difference`` says why the
    two differ. Nothing is downloaded.
    """
    rows = []
    for name, entry in UCI_CATALOGUE.items():
        if entry.paper is None:
            continue
        row: dict[str, Any] = {"name": name, "data": ABSENT}
        row |= dict.fromkeys(("rows", "columns", "majority"))
        try:
            X, y, exact = load_checked(name, data_home, download=False)
        except FileNotFoundError:
            pass
        except (OSError, ValueError):
            row["data"] = UNREADABLE
        else:
            largest = np.unique(y, return_counts=True)[1].max()
            row["data"] = EXACT if exact else COUNTED
            row["rows"], row["columns"] = X.shape
            row["majority"] = float(100 * largest / len(y))
        row["paper_rows"] = entry.paper.rows
        row["paper_columns"] = entry.paper.columns
        row["paper_majority"] = entry.paper.majority
        row["difference"] = entry.difference
        rows.append(row)
    return rows


def _line(row: dict[str, Any]) -> str:
    if row["rows"] is None:
        rows, columns, majority = row["data"], "-", "-"
    else:
        rows, columns = row["rows"], row["columns"]
        majority = f"{row['majority']:.1f}"
    return (
        f"{row['name']:16}{row['paper_rows']:9}{rows:>7}{row['paper_columns']:7}"
        f"{columns:>6}{row['paper_majority']:9}{majority:>6}"
        f"{' *' if row['difference'] else ''}"
    )
