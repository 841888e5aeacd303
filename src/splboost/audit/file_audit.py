"""The audit of a file: its columns and rows, and the folder of what was found."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Sequence
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from splboost._tools.whole_files import check_replaceable, has_mark, write_whole
from splboost._tools.wording import counted, listed
from splboost.audit.decisions import (
    DROP,
    NEEDED,
    PROOFS,
    Decision,
    guarded,
    locate_decisions,
)
from splboost.audit.label_audit import LabelAudit
from splboost.audit.page import GENERATOR, brief, make_page, make_report, mark_subject
from splboost.audit.table_files import (
    MOST_NAMED,
    NUMBER,
    TEXT,
    Column,
    FileError,
    TableFile,
    find_separator,
    labels_of,
    make_table,
    number_of,
    read_records,
    read_text,
    split_names,
)

WHOLE = re.compile(r"-?\d{1,15}")
FEWEST_ROWS = 20
MOST_CLASSES = 100
MOST_ODD = 0.1  # share of cells that may be odd in a column of numbers
MOST_NUMBERS = 20  # different numbers that may be classes; more are measurements
SUSPECTS, PAGE, SUMMARY = "suspects.csv", "review.html", "summary.json"
LIST_DIGEST = "suspects_sha256"  # in the summary
EARLIER_DIGEST = "earlier_suspects_sha256"
EVIDENCE = "chance_wrong", "label_quality", "because"
SUMMARISED = (
    *("name", "target", "version", "classes", "n_rows", "n_labels", "n_unlabelled"),
    *("noise_rate", "noise_rate_std", "expected_precision", "confusion"),
    "contradictions",
)


class FileAudit:
    """Which columns and rows of a file to audit, or an error if there are none.

    Parameters are those of the command line, and the decisions so far.

    Attributes
    ----------
    left_out : columns that labels are not judged by, with the reasons
    features : names of the other columns
    unlabelled : rows without a label
    rows : those that have a label and are not dropped
    """

    def __init__(
        self,
        file: TableFile,
        target: str,
        id_column: str | None,
        groups: str | None,
        ignore: Sequence[str],
        decisions: list[Decision],
        *,
        categorical: Sequence[str] = (),
        force: bool = False,
    ) -> None:
        self.file, self.target = file, target
        self.id_column, self.groups = id_column, groups
        self._labels = labels_of(file, target)
        _check_labels(file, target, self._labels, categorical)
        self.left_out = self._leave_out(ignore)
        self.features = [name for name in file.columns if name not in self.left_out]
        if not self.features:
            faults = [f"{name!r}: {why}" for name, why in self.left_out.items()]
            raise FileError(
                f"{file.path} has no column to judge the labels by; --categorical "
                "makes categories of texts. What is left out, and why: "
                f"{listed(faults, MOST_NAMED, '; ')}."
            )
        self._decided = locate_decisions(decisions, file, target, force=force)
        dropped = {row for row, each in self._decided.items() if each.kind == DROP}
        self.unlabelled = [row for row, x in enumerate(self._labels) if x is None]
        skipped = dropped.union(self.unlabelled)
        self.rows = [row for row in range(file.n_rows) if row not in skipped]

    def _leave_out(self, ignore: Sequence[str]) -> dict[str, str]:
        file, target = self.file, self.target
        cells = file.columns[target].cells
        has_blanks = any(cell != cell.strip() for cell in cells if cell is not None)
        blanks = ", without the blanks around some" if has_blanks else ""
        left_out = {target: f"the labels{blanks}"}
        named = [("--id", self.id_column), ("--groups", self.groups)]
        named += [("--ignore", name) for name in split_names(ignore, file.columns)]
        for option, name in named:
            if name == target:
                raise FileError(
                    f"{option} names {name!r}, the labels of --target; give another "
                    "column."
                )
            if name is not None:
                file.column(name, option)  # or an error
                left_out[name] = option
        for name, column in file.columns.items():
            if name not in left_out and (fault := _find_fault(file, column)):
                left_out[name] = fault
        return left_out

    def run(self, audit: LabelAudit) -> dict[str, Any]:
        """Audit the rows, with decisions so far taken to be right; the report."""
        rows, file = self.rows, self.file
        new = {row: each.label for row, each in self._decided.items()}
        original = np.array([str(self._labels[row]) for row in rows])
        y = np.array([new.get(row) or str(self._labels[row]) for row in rows])
        is_number = file.columns[self.target].kind == NUMBER
        if is_number and all(map(WHOLE.fullmatch, {*y.tolist(), *original.tolist()})):
            y, original = y.astype(int), original.astype(int)  # in the order of numbers
        X = _safe_indexing(make_table(file, self.features), rows)
        groups = None
        if self.groups is not None:
            of = file.columns[self.groups].cells
            # A row that belongs to nothing is a group of its own.
            groups = np.array([of[row] or f"\0{row}" for row in rows])
        trusted = np.isin(rows, list(self._decided))
        try:
            audit.fit(X, y, groups=groups, trusted=trusted, original=original)
        except ValueError as error:
            named = f"{file.path}, where y is {self.target!r}"
            raise FileError(f"{named}: {error}") from None
        report = make_report(
            audit,
            file,
            self.target,
            self.features,
            id_column=self.id_column,
            rows=rows,
        )
        report["n_unlabelled"] = len(self.unlabelled)
        if self._decided:  # which a file cleaned by the page would lack
            report["source"] = None
        return report


def _find_fault(file: TableFile, column: Column) -> str | None:
    """Why a column is of no use, and what to do if it should be; None if it is."""
    cells = column.cells
    if column.kind == TEXT:
        odd = [
            row
            for row, cell in enumerate(cells)
            if cell is not None and number_of(cell, file.separator) is None
        ]
        if not 0 < len(odd) <= MOST_ODD * len(cells):
            return "too many different values to be categories"
        return (
            f"numbers, but {brief(str(cells[odd[0]]))!r} in row {odd[0]} is not one; "
            "leave such cells empty, or make categories of them with --categorical"
        )
    if all(cell == cells[0] for cell in cells):  # missing ones are values, too
        return "empty" if cells[0] is None else "the same in all rows"
    if column.kind == NUMBER and all(
        cell is not None and WHOLE.fullmatch(cell.strip()) for cell in cells
    ):
        numbers = [int(str(cell)) for cell in cells]
        if all(b - a == 1 for a, b in pairwise(numbers)):
            return "a running number"  # as an index that was saved
    return None


def _check_labels(
    file: TableFile,
    target: str,
    labels: Sequence[str | None],
    categorical: Sequence[str],
) -> None:
    known = [label for label in labels if label is not None]
    distinct = sorted(set(known))
    if len(known) < FEWEST_ROWS:
        some = "" if len(known) == file.n_rows else f" with a label in {target!r}"
        raise FileError(
            f"{file.path} has {counted(len(known), 'row')}{some}; an audit needs at "
            f"least {FEWEST_ROWS}, and hundreds to be of use."
        )
    if len(distinct) < 2:
        raise FileError(
            f"{file.path}: all labels in {target!r} are {distinct[0]!r}; an audit "
            "needs two classes."
        )
    number = {label: number_of(label, file.separator) for label in distinct}
    numbers = sorted(each for each in number.values() if each is not None)
    odd = [label for label in known if number[label] is None]
    is_named = target in split_names(categorical, file.columns)
    but_few = 0 < len(odd) <= MOST_ODD * len(known)
    is_measured = not is_named and (file.columns[target].kind == NUMBER or but_few)
    if is_measured and len(numbers) > MOST_NUMBERS:
        but = ""
        if but_few:
            but = f", but for {brief(odd[0])!r} in row {labels.index(odd[0])}"
        raise FileError(
            f"{file.path}: {target!r} has {len(numbers)} different numbers, from "
            f"{numbers[0]:g} to {numbers[-1]:g}, and looks like a measurement{but}; an "
            f"audit needs classes. If these are classes, give --categorical {target}."
        )
    if len(distinct) > MOST_CLASSES:
        raise FileError(
            f"{file.path}: {target!r} has {len(distinct)} different values; an audit "
            f"needs a column of up to {MOST_CLASSES} classes."
        )


# --------------------------------------------------------------------------- the folder


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be written into, or made, before there is a need."""
    there = next(filter(os.path.lexists, (folder, *folder.parents)), folder)
    if not there.is_dir():
        raise FileError(
            f"{folder} cannot be a folder ({there} is a file); give --out another "
            "place."
        )
    if not os.access(there, os.W_OK):
        raise FileError(f"{there} cannot be written into; give --out another place.")


def check_outputs(
    folder: Path, inputs: Sequence[Path], target: str, *, force: bool = False
) -> str | None:
    """Refuse to write over what must not be lost; the digest of the list that may be.

    That is, always, a list of suspects that has changed since an audit wrote it, or
    may have, and a file that is read; and, without ``force``, the audit of other
    labels, and files that no audit of these has written. Of the ``inputs`` the data are
    the first.
    """
    remedy = "give --out another folder, or move it."
    summary = _read_summary(folder / SUMMARY)
    suspects, list_digest = folder / SUSPECTS, None
    # Where an audit was killed, the list may be that of the audit before
    audits = [summary.get(name) for name in (LIST_DIGEST, EARLIER_DIGEST)]
    if suspects.is_file():
        list_digest = sha256(_read_bytes(suspects, remedy)).hexdigest()
        if audits[0] is None and _is_list(suspects):
            raise FileError(
                f"{suspects} may have changed since an audit wrote it: no {SUMMARY} "
                f"beside it can be read that would tell; {remedy}"
            )
        if audits[0] is not None and list_digest not in audits:
            raise FileError(f"{suspects} has changed since an audit wrote it; {remedy}")
    audited = summary.get("target"), summary.get("data")
    if summary and not force and audited != (target, _relative(inputs[0], folder)):
        labels, file = audited
        raise FileError(f"{folder} has the audit of {labels!r} in {file}; {remedy}")
    marks = GENERATOR, mark_subject(inputs[0].name, target)
    for name, is_own in (
        (SUMMARY, lambda _: "n_suspects" in summary),
        (SUSPECTS, _is_list),
        (PAGE, lambda path: all(has_mark(path, mark) for mark in marks)),
    ):
        path = folder / name
        if path.is_dir():
            raise FileError(f"{path} is a folder; {remedy}")
        if path.exists() and any(path.samefile(each) for each in inputs):
            raise FileError(f"{path} is one of the inputs; {remedy}")
        check_replaceable(path, is_own, force=force)
    return list_digest


def _read_bytes(path: Path, remedy: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        why = error.strerror or error
        raise FileError(f"{path} cannot be read ({why}); {remedy}") from None


def _read_summary(path: Path) -> dict[str, Any]:
    """The summary of an earlier audit; empty if there is none."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    is_ours = isinstance(found, dict) and {"data", "target"} <= found.keys()
    return found if is_ours else {}


def _is_list(path: Path) -> bool:
    """Whether it is a list of suspects, or of decisions."""
    try:
        text, _ = read_text(path)
    except FileError:
        return False
    first = next(read_records(text, find_separator(text)), None)
    return first is not None and set(NEEDED) <= set(first.fields)


def write_findings(
    report: dict[str, Any], data: Path, folder: Path, earlier: str | None
) -> str:
    """Write all that was found in a file, and return the summary.

    The list comes last: until it is there, the summary says that the ``earlier`` one,
    of this digest, may be replaced.
    """
    write_whole(folder / PAGE, make_page(report), data)
    suspects = _list_suspects(report)
    found = {
        "data": _relative(data, folder),
        **{name: report[name] for name in SUMMARISED},
        "n_suspects": len(report["suspects"]),
        "page": str(folder / PAGE),
        "suspects": str(folder / SUSPECTS),
        LIST_DIGEST: sha256(suspects).hexdigest(),  # so that changes are seen
        EARLIER_DIGEST: earlier,
    }
    summary = json.dumps(found, indent=1)
    write_whole(folder / SUMMARY, summary + "\n", data)
    write_whole(folder / SUSPECTS, suspects, data)
    return summary


def _list_suspects(report: dict[str, Any]) -> bytes:
    """Those to review, the worst first; apply takes it with decisions filled in."""
    names, own = report["classes"], (*NEEDED, *EVIDENCE, *PROOFS)
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    columns = [column["name"] for column in report["columns"]]
    columns = [f"{each} (data)" if each in own else each for each in columns]
    writer.writerow(map(guarded, (*own, *columns)))
    for each in report["suspects"]:
        given, better = names[each["given"]], names[each["predicted"]]
        needed = each["row"], each["id"], given, "", better
        evidence = each["wrong"], each["quality"], first_reason(each)
        proofs = report["id_column"], each["digest"], report["format"]
        writer.writerow(map(guarded, (*needed, *evidence, *proofs, *each["cells"])))
    return stream.getvalue().encode("utf-8-sig")


def first_reason(suspect: dict[str, Any]) -> str:
    """The strongest reason to doubt a label, in words; or nothing."""
    return suspect["reasons"][0]["text"] if suspect["reasons"] else ""


def _relative(data: Path, folder: Path) -> str:
    """The path from a folder to a file, which stays the same if both are moved."""
    try:
        return Path(os.path.relpath(data.resolve(), folder.resolve())).as_posix()
    except ValueError:  # on another drive
        return data.resolve().as_posix()
