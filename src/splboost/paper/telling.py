"""What ``splboost paper`` says, to a terminal, of a run and of a store."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import typer

from splboost._tools.progress_bar import counted
from splboost.datasets import UCI_CATALOGUE
from splboost.datasets.uci import FOLDER_VARIABLE, data_folder
from splboost.paper.cells import current_version
from splboost.paper.protocol import PRESETS, Protocol
from splboost.paper.results import count_sources, read_results, versions_in
from splboost.paper.runner import Summary


def say(line: str) -> None:
    typer.echo(line, err=True)


def tell_summary(summary: Summary, path: Path) -> None:
    """Say what a run has come to."""
    for failure in summary.failures:
        say(f"Failed: {failure}")
    if summary.failures:
        say("--retry tries again what failed.")
    if summary.n_elsewhere:
        say(f"Another run is at work on {summary.n_elsewhere} of the cells.")
    if summary.n_cells:
        say(
            f"{summary.n_there} of {summary.n_cells} cells are in {path}, "
            f"{summary.n_done} of them new"
        )


def tell_absent(absent: dict[str, Exception]) -> None:
    """Say which sets cannot be read, and what to do."""
    downloadable = [
        name
        for name, error in absent.items()
        if isinstance(error, FileNotFoundError) and UCI_CATALOGUE[name].openml
    ]
    if downloadable:
        say(
            f"Not in {data_folder(None)}: {', '.join(downloadable)}; --download "
            f"fetches them from OpenML, or let {FOLDER_VARIABLE} name the folder that "
            "has them."
        )
    for name, error in absent.items():
        if name not in downloadable:
            say(str(error))


def tell_of_versions(path: Path, here: str) -> None:
    """Say that a store has results of other versions, which do not count."""
    for name, n in versions_in(path).items():
        if name != here:
            say(
                f"{path} has {n} results of {name}, which do not count with {here}: "
                "install those versions to go on with them, or report them with "
                f'--version "{name}".'
            )


def tell_of_sources(path: Path, protocol: Protocol, version: str | None) -> None:
    """Say which results do not count, since there are more from other data."""
    for name, counts in count_sources(path, protocol, version=version).items():
        for source, n in sorted(counts.items(), key=lambda each: each[1])[:-1]:
            say(
                f"{path} has {counted(n, 'result')} on {name} from data called "
                f"{source}, which {'does' if n == 1 else 'do'} not count beside the "
                f"{max(counts.values())} from other data."
            )


def name_fuller_preset(
    path: Path, protocol: Protocol, version: str | None, n_found: int
) -> str:
    """The end of a sentence that names the preset with the most results of the same."""
    counts = {}
    for name, preset in PRESETS.items():
        same = {key: getattr(protocol, key) for key in ("sets", "noise", "repeats")}
        found = read_results(path, replace(preset, **same), version=version)
        counts[name] = len(found)
    best = max(counts, key=counts.__getitem__)
    if counts[best] <= n_found:
        return ""
    return f", but {counts[best]} with --preset {best}; give that."


def name_remedy(path: Path, version: str | None) -> str:
    """What to do where a store has no results of a protocol."""
    if version in versions_in(path) or current_version() in versions_in(path):
        return "; give the preset and the options of the run that it is the store of."
    return "; measure some with splboost paper run."
