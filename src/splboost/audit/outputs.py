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
from splboost.audit.decisions import NEEDED, PROOFS, guarded
from splboost.audit.page import GENERATOR, make_page
from splboost.audit.table_files import (
    MARK,
    FileError,
    find_separator,
    read_records,
    read_text,
)

SUSPECTS, PAGE, SUMMARY = "suspects.csv", "review.html", "summary.json"
LIST_DIGEST = "suspects_sha256"  # in the summary
EVIDENCE = "chance_wrong", "label_quality", "because"
SUMMARISED = (
    *("name", "target", "version", "classes", "n_rows", "n_labels", "n_unlabelled"),
    *("noise_rate", "noise_rate_std", "expected_precision", "confusion"),
    "contradictions",
)


def write_findings(report: dict[str, Any], data: Path, folder: Path) -> str:
    """Write all that was found in a file, and return the summary."""
    write_whole(folder / PAGE, make_page(report), data)
    suspects = _list_suspects(report)
    write_whole(folder / SUSPECTS, suspects, data)
    found = {
        "data": _relative(data, folder),
        **{name: report[name] for name in SUMMARISED},
        "n_suspects": len(report["suspects"]),
        "page": str(folder / PAGE),
        "suspects": str(folder / SUSPECTS),
        LIST_DIGEST: _sha256(suspects),  # so that changes to the list are seen
    }
    summary = json.dumps(found, indent=1)
    write_whole(folder / SUMMARY, summary + "\n")
    return summary


def _list_suspects(report: dict[str, Any]) -> bytes:
    """Those to review, the worst first; apply takes it with decisions filled in."""
    names, own = report["classes"], (*NEEDED, *EVIDENCE, *PROOFS)
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    columns = [column["name"] for column in report["columns"]]
    columns = [f"{each} (data)" if each in own else each for each in columns]
    writer.writerow([*own, *map(guarded, columns)])
    for each in report["suspects"]:
        fields = {
            "row": each["row"],
            "id": guarded(each["id"]),
            "given": guarded(names[each["given"]]),
            "decision": "",
            "new_label": guarded(names[each["predicted"]]),
            "chance_wrong": each["wrong"],
            "label_quality": each["quality"],
            "because": guarded(first_reason(each)),
            "id_column": guarded(report["id_column"]),
            "digest": each["digest"],
            "format": report["format"],
        }
        writer.writerow([*(fields[name] for name in own), *map(guarded, each["cells"])])
    return stream.getvalue().encode("utf-8-sig")


def first_reason(suspect: dict[str, Any]) -> str:
    """The strongest reason to doubt a label, in words; or nothing."""
    return suspect["reasons"][0]["text"] if suspect["reasons"] else ""


def make_folder(folder: Path) -> None:
    """Make a folder to write into, or raise an error before there is a need to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"{folder} cannot be a folder ({error.strerror or error}); give --out "
            "another place."
        ) from None
    if not os.access(folder, os.W_OK):
        raise FileError(f"{folder} cannot be written into; give --out another place.")


def check_outputs(
    folder: Path, read: list[Path], data: Path, target: str, *, force: bool = False
) -> None:
    """Refuse to write over what must not be lost.

    That is, always, a list of suspects that has changed since an audit wrote it, and a
    file that is read; and, without ``force``, the audit of other labels, and files that
    no audit has written.
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
    suspects = folder / SUSPECTS
    if (
        suspects.is_file()
        and _sha256(suspects.read_bytes()) != list_digest
        and (list_digest is not None or _is_list(suspects))
    ):
        raise FileError(f"{suspects} is not as the audit wrote it, {remedy}")
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
    if audited not in (None, (_relative(data, folder), target)) and not force:
        file, labels = audited
        raise FileError(f"{folder} has the audit of {labels!r} in {file}, {remedy}")


def _is_summary(path: Path) -> bool:
    found = json.loads(path.read_text("utf-8"))
    return isinstance(found, dict) and {"data", "target", "n_suspects"} <= found.keys()


def _is_list(path: Path) -> bool:
    """Whether it is a list of suspects, or of decisions."""
    try:
        text, _ = read_text(path)
    except FileError:
        return False
    first = next(read_records(text.removeprefix(MARK), find_separator(text)), None)
    return first is not None and set(NEEDED) <= set(first.fields)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _relative(data: Path, folder: Path) -> str:
    """The path from a folder to a file, which stays the same if both are moved."""
    try:
        return Path(os.path.relpath(data.resolve(), folder.resolve())).as_posix()
    except ValueError:  # on another drive
        return data.resolve().as_posix()
