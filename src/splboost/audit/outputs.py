"""The files that an audit leaves: the page, a list of suspects, a summary."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any

from splboost.audit.decisions import FIELDS, guarded, read_decisions
from splboost.audit.files import FileError
from splboost.audit.page import write_page

SUSPECTS, PAGE, SUMMARY = "suspects.csv", "review.html", "summary.json"


def write_findings(report: dict[str, Any], data: Path, folder: Path) -> str:
    """Write all that was found in a file, and give the summary."""
    folder.mkdir(parents=True, exist_ok=True)
    write_page(report, folder / PAGE)
    _write_suspects(report, folder / SUSPECTS)
    found = {"data": _seen_from(folder, data), **_summarise(report, folder)}
    summary = json.dumps(found, indent=1)
    (folder / SUMMARY).write_text(summary + "\n", "utf-8")
    return summary


def check_folder(folder: Path) -> None:
    """Refuse one that could not be written into, before there is anything to write."""
    there = next(each for each in (folder, *folder.parents) if each.exists())
    if not there.is_dir():
        raise FileError(
            f"{folder} cannot be a folder: {there} is a file; give --out another place."
        )
    if not os.access(there, os.W_OK):
        raise FileError(f"{there} cannot be written into; give --out another place.")


def spare_findings(folder: Path, data: Path, target: str) -> None:
    """Refuse to write over the audit of other labels, or a list that was filled in."""
    remedy = "which would be lost; give --out another folder, or move it."
    own = _seen_from(folder, data), target
    try:
        summary = json.loads((folder / SUMMARY).read_text("utf-8"))
        audited = summary["data"], summary["target"]
    except (OSError, ValueError, KeyError, TypeError):
        audited = own  # there is none
    if audited != own:
        file, labels = audited
        raise FileError(f"{folder} has the audit of {labels!r} in {file}, {remedy}")
    path = folder / SUSPECTS
    if not path.exists():
        return
    try:
        decided = read_decisions([path])
    except FileError as error:
        raise FileError(f"{error} It is in the place of a new list, {remedy}") from None
    if decided:
        raise FileError(f"{path} has {len(decided)} decisions, {remedy}")


def _seen_from(folder: Path, data: Path) -> str:
    """The way from a folder to a file, which stays the same if both are moved."""
    try:
        return Path(os.path.relpath(data.resolve(), folder.resolve())).as_posix()
    except ValueError:  # on another drive
        return data.resolve().as_posix()


def _write_suspects(report: dict[str, Any], path: Path) -> None:
    """Those to review, the worst first; apply takes it with decisions filled in."""
    names = report["classes"]
    columns = [guarded(column["name"]) for column in report["columns"]]
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([*FIELDS, "chance_wrong", "label_quality", "because", *columns])
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
                    *map(guarded, each["cells"]),
                ]
            )


def _summarise(report: dict[str, Any], folder: Path) -> dict[str, Any]:
    kept = (
        "name",
        "target",
        "version",
        "classes",
        "n_rows",
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
