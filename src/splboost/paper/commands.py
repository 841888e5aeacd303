"""``splboost paper``: what the command line does with the experiments."""

from __future__ import annotations

import platform
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from splboost.datasets import UCI_CATALOGUE, print_table_one
from splboost.datasets.uci import FOLDER_VARIABLE, data_folder
from splboost.paper.cells import current_version
from splboost.paper.methods import METHODS, PAPER_METHODS
from splboost.paper.protocol import PRESETS, Protocol
from splboost.paper.results import read_results, versions_in
from splboost.paper.runner import Summary, run

FOLDER = Path("splboost-paper")
STORE = "results.sqlite"
FIGURES = range(1, 6)
ALONE = range(1, 4)  # figures that need no results
ALL = "all"
FAILURE, INTERRUPT = 1, 130  # exit codes, beside 2 for options that are wrong
PACKAGES = "splboost", "numpy", "scipy", "scikit-learn", "numba", "pandas"

app = typer.Typer(
    help="The experiments of the SPLBoost paper.", invoke_without_command=True
)

# --------------------------------------------------------------------------- options


def _preset(text: str) -> str:
    if text not in PRESETS:
        raise typer.BadParameter(f"{text!r} is none of {', '.join(PRESETS)}.")
    return text


def _names(known: Sequence[str]) -> Callable[[str | None], str | None]:
    def check(text: str | None) -> str | None:
        for name in _split(text):
            if name not in known:
                raise typer.BadParameter(
                    f"{name!r} is unknown; give some of {', '.join(known)}, with "
                    "commas between them."
                )
        return text

    return check


def _percentages(text: str | None) -> str | None:
    for part in _split(text):
        if not part.isdecimal() or int(part) > 100:
            raise typer.BadParameter(
                f"{part!r} is no percentage; give whole numbers from 0 to 100 with "
                "commas between them, such as 0,20."
            )
    return text


def _jobs(number: int) -> int:
    if number < 1 and number != -1:
        raise typer.BadParameter(f"{number} is too few; give 1 or more, or -1 for all.")
    return number


def _split(text: str | None) -> list[str]:
    return [part.strip() for part in (text or "").split(",") if part.strip()]


PresetOption = Annotated[
    str,
    typer.Option(
        "--preset",
        callback=_preset,
        help="quick (minutes), standard (10 repeats), or full (50, all sets alike).",
    ),
]
SetsOption = Annotated[
    str | None,
    typer.Option(
        "--sets",
        callback=_names(tuple(UCI_CATALOGUE)),
        help="Data sets instead of the preset's, such as pima,blood.",
    ),
]
NoiseOption = Annotated[
    str | None,
    typer.Option(
        "--noise", callback=_percentages, help="Percentages of wrong labels: 0,20."
    ),
]
RepeatsOption = Annotated[
    int | None,
    typer.Option("--repeats", min=1, help="Draws of each set and noise."),
]
MethodsOption = Annotated[
    str | None,
    typer.Option(
        "--methods",
        callback=_names((ALL, *METHODS)),
        help="Such as AdaBoost,SPL hard; by default the paper's nine; all has more.",
    ),
]
JobsOption = Annotated[
    int,
    typer.Option("--jobs", callback=_jobs, help="Processes; -1 is one for each core."),
]
StoreOption = Annotated[
    Path | None,
    typer.Option("--store", help="The results (results.sqlite in --folder)."),
]
FolderOption = Annotated[
    Path, typer.Option("--folder", help="Where figures, report and results go.")
]
DaskOption = Annotated[
    str | None,
    typer.Option("--dask", help="Scheduler of a cluster, as tcp://host:8786."),
]
RetryOption = Annotated[
    bool, typer.Option("--retry", help="Try again what failed before.")
]
DownloadOption = Annotated[
    bool, typer.Option("--download", help="Fetch absent data sets from OpenML.")
]
FigureOption = Annotated[
    int | None,
    typer.Option(
        "--figure", min=FIGURES[0], max=FIGURES[-1], help="Draw this figure alone."
    ),
]
VersionOption = Annotated[
    str | None,
    typer.Option("--version", help="Of the results, if not the present one."),
]

# -------------------------------------------------------------------------- commands


@app.callback()
def paper(
    context: typer.Context,
    figure: FigureOption = None,
    preset: PresetOption = "quick",
    sets: SetsOption = None,
    noise: NoiseOption = None,
    repeats: RepeatsOption = None,
    methods: MethodsOption = None,
    jobs: JobsOption = -1,
    folder: FolderOption = FOLDER,
    store: StoreOption = None,
    dask: DaskOption = None,
    retry: RetryOption = False,
    download: DownloadOption = False,
) -> None:
    """Reproduce the SPLBoost paper: measure what is missing, draw figures, report.

    What was measured is kept, and a later command goes on from there.
    """
    if context.invoked_subcommand is not None:
        _refuse_options(context)
        return
    protocol = _protocol(preset, sets, noise, repeats)
    with _plain_errors():
        numbers = FIGURES if figure is None else [figure]
        if figure in ALONE:
            _draw(numbers, None, folder)
            return
        path = store or folder / STORE
        summary = run(
            protocol,
            path,
            methods=_methods(methods),
            n_jobs=jobs,
            dask=dask,
            retry=retry,
            download=download,
        )
        _tell(summary, path)
        results = _read(path, protocol, None)
        _draw(numbers, results, folder)
        if figure is None:
            _report(results, protocol, preset, folder)
    _exit(summary, sets)


@app.command("run")
def run_command(
    preset: PresetOption = "quick",
    sets: SetsOption = None,
    noise: NoiseOption = None,
    repeats: RepeatsOption = None,
    methods: MethodsOption = None,
    jobs: JobsOption = -1,
    folder: FolderOption = FOLDER,
    store: StoreOption = None,
    dask: DaskOption = None,
    retry: RetryOption = False,
    download: DownloadOption = False,
) -> None:
    """Measure what is missing, and no more."""
    protocol = _protocol(preset, sets, noise, repeats)
    path = store or folder / STORE
    with _plain_errors():
        summary = run(
            protocol,
            path,
            methods=_methods(methods),
            n_jobs=jobs,
            dask=dask,
            retry=retry,
            download=download,
        )
        _tell(summary, path)
    _exit(summary, sets)


@app.command()
def report(
    preset: PresetOption = "quick",
    sets: SetsOption = None,
    noise: NoiseOption = None,
    repeats: RepeatsOption = None,
    folder: FolderOption = FOLDER,
    store: StoreOption = None,
    version: VersionOption = None,
) -> None:
    """Write figures and the page from what has been measured."""
    protocol = _protocol(preset, sets, noise, repeats)
    with _plain_errors():
        results = _read(store or folder / STORE, protocol, version)
        _draw(FIGURES, results, folder)
        _report(results, protocol, preset, folder)


@app.command()
def export(
    to: Annotated[
        Path | None, typer.Argument(help="The file (results.csv in --folder).")
    ] = None,
    preset: PresetOption = "quick",
    sets: SetsOption = None,
    noise: NoiseOption = None,
    repeats: RepeatsOption = None,
    folder: FolderOption = FOLDER,
    store: StoreOption = None,
    version: VersionOption = None,
) -> None:
    """Write what has been measured as CSV, a row for each cell."""
    protocol = _protocol(preset, sets, noise, repeats)
    with _plain_errors():
        results = _read(store or folder / STORE, protocol, version)
        path = to or folder / "results.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        results.to_csv(path, index=False, float_format="%.8g")
        _say(f"{len(results)} cells written to {path}")


@app.command()
def table() -> None:
    """Print Table I of the paper beside the data."""
    with _plain_errors():
        print_table_one()


# ------------------------------------------------------------------------- what they do


def _protocol(
    preset: str, sets: str | None, noise: str | None, repeats: int | None
) -> Protocol:
    given: dict[str, Any] = {}
    if sets is not None:
        given["sets"] = tuple(dict.fromkeys(_split(sets)))
    if noise is not None:
        given["noise"] = tuple(sorted({int(part) for part in _split(noise)}))
    if repeats is not None:
        given["repeats"] = repeats
    try:
        return replace(PRESETS[preset], **given)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _methods(text: str | None) -> Sequence[str]:
    names = _split(text)
    if not names:
        return PAPER_METHODS
    return list(METHODS) if ALL in names else [m for m in METHODS if m in names]


def _read(path: Path, protocol: Protocol, version: str | None) -> pd.DataFrame:
    results = read_results(path, protocol, version=version)
    here = version or current_version()
    others = {name: n for name, n in versions_in(path).items() if name != here}
    for name, n in others.items():
        _say(
            f"{path} also has {n} results of {name}, which are left out: install these "
            f'versions to go on with them, or give --version "{name}" to report them.'
        )
    if results.empty:
        raise ValueError(
            f"{path} has no results of these settings with {here}; measure some with "
            "splboost paper run."
        )
    return results


def _draw(numbers: Sequence[int], results: pd.DataFrame | None, folder: Path) -> None:
    from splboost.paper.figures import draw_figure

    folder.mkdir(parents=True, exist_ok=True)
    for number in numbers:
        path = folder / f"figure_{number}.png"
        draw_figure(number, results).savefig(path, dpi=150, bbox_inches="tight")
        _say(f"Figure {number}: {path}")


def _report(
    results: pd.DataFrame, protocol: Protocol, preset: str, folder: Path
) -> None:
    from splboost.paper.report import write_report

    path = folder / "report.html"
    write_report(results, _about(protocol, preset), path, verbose=1)
    _say(f"Report: {path}")


def _about(protocol: Protocol, preset: str) -> dict[str, Any]:
    """With what, on what and when the report was made."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": " ".join(["splboost", *sys.argv[1:]]),
        "preset": preset,
        "settings": asdict(protocol),
        "seeds": list(protocol.seeds),
        "versions": {
            "python": platform.python_version(),
            **{package: version(package) for package in PACKAGES},
        },
        "system": f"{platform.system()} {platform.machine()}",
    }


def _tell(summary: Summary, path: Path) -> None:
    """Say what a run has come to."""
    downloadable = [
        name
        for name, error in summary.absent.items()
        if isinstance(error, FileNotFoundError) and UCI_CATALOGUE[name].openml
    ]
    if downloadable:
        _say(
            f"Not in {data_folder(None)}: {', '.join(downloadable)}; --download "
            f"fetches them from OpenML, or let {FOLDER_VARIABLE} name the folder that "
            "has them."
        )
    for name, error in summary.absent.items():
        if name not in downloadable:
            _say(str(error))
    for failure in summary.failures:
        _say(f"Failed: {failure}")
    if summary.failures:
        _say("--retry tries again what failed.")
    if summary.n_elsewhere:
        _say(f"Another run is at work on {summary.n_elsewhere} of the cells.")
    done = summary.n_before + summary.n_done
    _say(
        f"{done} of {summary.n_cells} cells are in {path}, {summary.n_done} of them new"
    )


def _exit(summary: Summary, sets: str | None) -> None:
    """With a failure where not all that was asked for is there."""
    asked = summary.absent if sets is not None else {}
    if summary.failures or asked or not summary.n_cells:
        raise typer.Exit(FAILURE)


def _refuse_options(context: typer.Context) -> None:
    """Options before the name of a command would go unheeded."""
    for name in context.params:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            command = context.invoked_subcommand
            raise typer.BadParameter(
                f"--{name} comes after {command}: splboost paper {command} --{name} ..."
            )


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Sentences for what a user can mend, and an orderly end by Ctrl-C."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        _say(str(interrupt) or "Stopped; the same command goes on from here.")
        raise typer.Exit(INTERRUPT) from None
    except BrokenPipeError:  # nobody reads on, which is no mistake
        raise
    except (ValueError, OSError, ImportError, RuntimeError, sqlite3.Error) as error:
        _say(f"Error: {error}")
        raise typer.Exit(FAILURE) from None


def _say(line: str) -> None:
    typer.echo(line, err=True)
