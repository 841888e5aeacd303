"""The files that an audit leaves: the page, a list of suspects, a summary."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from splboost._tools.whole_files import check_replaceable, has_mark, write_whole
from splboost.audit.csv_text import find_separator, read_fields
from splboost.audit.decisions import (
    NEEDED,
    PROOFS,
    guarded,
    read_decisions,
)
from splboost.audit.files import FileError, read_text
from splboost.audit.page import GENERATOR, make_page

SUSPECTS, PAGE, SUMMARY = "suspects.csv", "review.html", "summary.json"
LIST_DIGEST = "suspects_sha256"  # in the summary
EVIDENCE = "chance_wrong", "label_quality", "because"


def write_findings(report: dict[str, Any], data: Path, folder: Path) -> str:
    """Write all that was found in a file, and give the summary."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / PAGE, make_page(report), data)
    suspects = _list_suspects(report)
    write_whole(folder / SUSPECTS, suspects, data)
    found = {"data": _seen_from(folder, data), **_summarise(report, folder)}
    found[LIST_DIGEST] = _sha256(suspects)  # so that changes to the list are seen
    summary = json.dumps(found, indent=1)
    write_whole(folder / SUMMARY, summary + "\n")
    return summary


def check_folder(folder: Path) -> None:
    """Refuse one that could not be written into, before there is anything to write."""
    try:
        folder.resolve()
    except (OSError, RuntimeError):
        raise FileError(
            f"{folder} is a link to itself; give --out another place."
        ) from None
    there = next(each for each in (folder, *folder.parents) if each.exists())
    if not there.is_dir():
        raise FileError(
            f"{folder} cannot be a folder: {there} is a file; give --out another place."
        )
    if not os.access(there, os.W_OK):
        raise FileError(f"{there} cannot be written into; give --out another place.")


def check_outputs(
    folder: Path, read: list[Path], data: Path, target: str, *, force: bool = False
) -> None:
    """Refuse to write over what is not to be lost.

    That is a list of suspects that was filled in and a file that is read, always; and
    without ``force`` the audit of other labels, and files that no audit has written.
    """
    remedy = "which would be lost; give --out another folder, or move it."
    audited: Any = None
    list_digest = None
    try:
        summary = json.loads((folder / SUMMARY).read_text("utf-8"))
        list_digest = summary.get(LIST_DIGEST)
        audited = summary["data"], summary["target"]
    except (OSError, ValueError, KeyError, AttributeError, RecursionError):
        pass  # there is none
    _check_list(folder / SUSPECTS, list_digest, remedy)
    is_ours: dict[str, Callable[[Path], bool]] = {
        SUMMARY: _is_summary,
        SUSPECTS: _is_list,
        PAGE: partial(has_mark, mark=GENERATOR),
    }
    for name, is_own in is_ours.items():
        path = folder / name
        if path.exists() and any(path.samefile(each) for each in read):
            raise FileError(f"{path} is a file to read, {remedy}")
        check_replaceable(path, is_own, force=force)
    if audited not in (None, (_seen_from(folder, data), target)) and not force:
        file, labels = audited
        raise FileError(f"{folder} has the audit of {labels!r} in {file}, {remedy}")


def _check_list(path: Path, digest: str | None, remedy: str) -> None:
    """Refuse to write over a list that somebody has worked on.

    One that has decisions, also with a slip in them, or that is not as the audit wrote
    it, which its digest tells.
    """
    if not path.is_file():
        return
    is_changed = digest is not None and _sha256(path.read_bytes()) != digest
    try:
        decided = read_decisions([path])
    except FileError as error:
        if _is_list(path):
            raise FileError(
                f"{error} It is in the place of a new list, {remedy}"
            ) from None
        decided = []
    if decided:
        raise FileError(f"{path} has {len(decided)} decisions, {remedy}")
    if is_changed:
        raise FileError(f"{path} is not as the audit wrote it, {remedy}")


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _is_summary(path: Path) -> bool:
    found = json.loads(path.read_text("utf-8"))
    return isinstance(found, dict) and {"data", "target", "n_suspects"} <= found.keys()


def _is_list(path: Path) -> bool:
    """A spreadsheet may have saved it, with other separators."""
    try:
        text, _ = read_text(path)
    except FileError:
        return False
    names = read_fields(text.split("\n", 1)[0], find_separator(text))[0]
    return bool(names) and {"decision", *EVIDENCE} <= set(names[0])


def _seen_from(folder: Path, data: Path) -> str:
    """The way from a folder to a file, which stays the same if both are moved."""
    try:
        return Path(os.path.relpath(data.resolve(), folder.resolve())).as_posix()
    except ValueError:  # on another drive
        return data.resolve().as_posix()


def _list_suspects(report: dict[str, Any]) -> bytes:
    """Those to review, the worst first; apply takes it with decisions filled in."""
    names, own = report["classes"], (*NEEDED, *EVIDENCE, *PROOFS)
    columns = [column["name"] for column in report["columns"]]
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(
        [
            *own,
            *(guarded(f"{each} (data)" if each in own else each) for each in columns),
        ]
    )
    for each in report["suspects"]:
        because = each["reasons"][0]["text"] if each["reasons"] else ""
        writer.writerow(
            [
                each["row"],
                guarded(each["id"]),
                guarded(names[each["given"]]),
                "",
                guarded(names[each["predicted"]]),
                each["wrong"],
                each["quality"],
                guarded(because),
                guarded(report["id_column"]),
                each["digest"],
                report["format"],
                *map(guarded, each["cells"]),
            ]
        )
    return stream.getvalue().encode("utf-8-sig")


def _summarise(report: dict[str, Any], folder: Path) -> dict[str, Any]:
    kept = (
        "name",
        "target",
        "version",
        "classes",
        "n_rows",
        "n_labels",
        "n_unlabelled",
        "noise_rate",
        "noise_rate_std",
        "expected_precision",
        "confusion",
        "contradictions",
    )
    return {
        **{name: report[name] for name in kept},
        "n_suspects": len(report["suspects"]),
        "page": str(folder / PAGE),
        "suspects": str(folder / SUSPECTS),
    }
