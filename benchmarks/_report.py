"""What the benchmarks share around the measuring: options, machine, tables, files."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil

RESULTS = Path(__file__).parent / "results"
PACKAGES = ["splboost", "numpy", "scipy", "scikit-learn", "numba", "lightgbm"]


def progress(message: str) -> None:
    """Say on stderr how far the run is."""
    print(message, file=sys.stderr, flush=True)


def describe_run() -> dict[str, Any]:
    """When, on what and with what the run was made."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": " ".join(
            ["python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]]
        ),
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "load_at_start": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {package: version(package) for package in PACKAGES},
    }


class Benchmark:
    """A benchmark that is run in one go.

    Parameters
    ----------
    description : docstring of the script
    name : of the files with its results
    title : of the page
    folder : of these files; a quick run has none unless it is given
    """

    def __init__(
        self, description: str | None, name: str, title: str, folder: Path = RESULTS
    ) -> None:
        self._name, self._title, self._folder = name, title, folder
        self.parser = argparse.ArgumentParser(
            description=description,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        self.parser.add_argument(
            "--quick", action="store_true", help="small, and only printed"
        )
        self.parser.add_argument(
            "--out", type=Path, help=f"folder for {name}.json and {name}.md"
        )

    def start(self) -> argparse.Namespace:
        """Read the options, and note what the run is made with."""
        self._given = self.parser.parse_args()
        self._run, self._usage = describe_run(), Usage()
        self._start = time.perf_counter()
        return self._given

    def finish(
        self, sections: Sequence[str], data: dict[str, Any], *, is_full: bool = True
    ) -> None:
        """Print the page, and save it with the data if the run is a full one."""
        self._run["minutes"] = round((time.perf_counter() - self._start) / 60, 1)
        self._run["taken_by_others"] = self._usage.taken_by_others()
        print("\n\n".join(sections), flush=True)
        is_full = is_full and not self._given.quick
        folder = self._given.out or (self._folder if is_full else None)
        if folder is not None:
            save_page(folder, self._name, self._title, self._run, sections)
            text = json.dumps({"run": self._run, **data}, indent=1)
            (folder / f"{self._name}.json").write_text(text + "\n")


class Usage:
    """What the machine has done since this was made, but for us and our children."""

    IDLE = ("idle", "iowait")
    COUNTED_TWICE = ("guest", "guest_nice")  # in user and nice already

    def __init__(self) -> None:
        self._start = self._read()

    def _read(self) -> tuple[float, float, float]:
        times = psutil.cpu_times()._asdict()
        for name in self.COUNTED_TWICE:
            times.pop(name, None)
        idle = sum(times.pop(name, 0.0) for name in self.IDLE)
        busy = sum(times.values())
        return busy, busy + idle, sum(os.times()[:4])

    def taken_by_others(self) -> float:
        """Share of all cores' time that went to other processes."""
        busy, total, own = (
            now - then for now, then in zip(self._read(), self._start, strict=True)
        )
        return max(0.0, busy - own) / total


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    models = [line.split(":", 1)[1].strip() for line in lines if "model name" in line]
    return models[0] if models else platform.processor() or "unknown"


def format_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A Markdown table with aligned columns, so that it also reads as plain text."""
    cells = [[str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "| " + " | ".join(map(str.rjust, row[:-1], widths)) + f" | {row[-1]} |"
        for row in cells
    ]
    rule = "|" + "|".join("-" * (width + 1) + ":" for width in widths[:-1])
    lines.insert(1, rule + "|" + "-" * 3 + "|")
    return "\n".join(lines)


def format_ratio(ratio: float) -> str:
    return f"{ratio:.0f}×" if ratio >= 10 else f"{ratio:.2f}×"


def save_page(
    folder: Path, name: str, title: str, run: dict[str, Any], sections: Sequence[str]
) -> None:
    """Write ``name.md`` with the run and the sections."""
    folder.mkdir(parents=True, exist_ok=True)
    page = "\n\n".join([f"# {title}", _format_run(run), *sections])
    (folder / f"{name}.md").write_text(page + "\n")
    progress(f"written: {folder / name}.md")


def _format_run(run: dict[str, Any]) -> str:
    versions = ", ".join(f"{k} {v}" for k, v in run["versions"].items())
    lines = [
        f"- {run['date']}, `{run['command']}`",
        f"- {run['cpu']}, {run['cores']} cores, {run['memory_gib']} GiB, "
        f"{run['system']}, load {run['load_at_start']} at the start",
        f"- Python {run['python']}, {versions}",
    ]
    if "taken_by_others" in run:
        share = f"{run['taken_by_others']:.1%}"
        lines.append(f"- Other processes took {share} of the machine during the run.")
    return "\n".join(lines)
