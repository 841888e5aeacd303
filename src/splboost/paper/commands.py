"""``splboost paper``: what the command line does with the experiments."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from splboost._tools.interrupts import EXIT_CODE, handling
from splboost._tools.progress_bar import announcing_compilation
from splboost._tools.whole_files import check_replaceable, replacing
from splboost.datasets import print_table_one
from splboost.datasets.uci import FOLDER_VARIABLE, data_folder
from splboost.paper.cells import current_version
from splboost.paper.figures import ALONE, draw_figure, draw_gaussians
from splboost.paper.options import (
    FIGURES,
    FOLDER,
    DaskOption,
    DepthsOption,
    DownloadOption,
    FigureOption,
    FolderOption,
    ForceOption,
    JobsOption,
    MethodsOption,
    NoiseOption,
    PresetOption,
    RepeatsOption,
    RetryOption,
    SetsOption,
    StoreOption,
    VersionOption,
    make_protocol,
    pick_methods,
)
from splboost.paper.protocol import Protocol
from splboost.paper.provenance import provenance
from splboost.paper.report import is_report, write_report
from splboost.paper.results import import_results, is_export, read_results
from splboost.paper.runner import Interrupted, Summary, run
from splboost.paper.store import make_folder
from splboost.paper.telling import (
    name_fuller_preset,
    name_remedy,
    say,
    tell_absent,
    tell_of_sources,
    tell_of_versions,
    tell_summary,
)

STORE, PAGE = "results.sqlite", "report.html"
PNG = b"\x89PNG\r\n\x1a\n"
MARK = {"Software": "splboost paper"}  # in pictures, so that they are known again
OF_GAUSSIANS = 3  # drawn with 60 rounds, and with as many as folds choose
FAILURE = 1  # exit code, beside 2 for options that are wrong

app = typer.Typer(
    help="The experiments of the SPLBoost paper.", invoke_without_command=True
)

# -------------------------------------------------------------------------- commands


@app.callback()
def paper(
    context: typer.Context,
    figure: FigureOption = None,
    preset: PresetOption = "quick",
    sets: SetsOption = None,
    noise: NoiseOption = None,
    repeats: RepeatsOption = None,
    depths: DepthsOption = None,
    methods: MethodsOption = None,
    jobs: JobsOption = -1,
    folder: FolderOption = FOLDER,
    store: StoreOption = None,
    dask: DaskOption = None,
    retry: RetryOption = False,
    download: DownloadOption = False,
    force: ForceOption = False,
) -> None:
    """Reproduce the SPLBoost paper: measure what is missing, draw figures, report.

    What was measured is kept, and a later command goes on from there.
    """
    if context.invoked_subcommand is not None:
        _refuse_options(context)
        return
    protocol = make_protocol(preset, sets, noise, repeats, depths)
    path = store or folder / STORE
    with _plain_errors():
        _check_outputs(figure, folder, path, force)
        if figure is not None and figure in ALONE:
            _draw([figure], None, folder)
            return
        summary = _measure(protocol, path, methods, jobs, dask, retry, download)
        if summary.n_cells:
            results = _read(path, protocol)
            _write(figure, results, protocol, preset, folder)
    _exit(summary, sets)


@app.command("run")
def run_command(
    preset: PresetOption = "quick",
    sets: SetsOption = None,
    noise: NoiseOption = None,
    repeats: RepeatsOption = None,
    depths: DepthsOption = None,
    methods: MethodsOption = None,
    jobs: JobsOption = -1,
    folder: FolderOption = FOLDER,
    store: StoreOption = None,
    dask: DaskOption = None,
    retry: RetryOption = False,
    download: DownloadOption = False,
) -> None:
    """Measure what is missing, and no more."""
    protocol = make_protocol(preset, sets, noise, repeats, depths)
    path = store or folder / STORE
    with _plain_errors():
        summary = _measure(protocol, path, methods, jobs, dask, retry, download)
    _exit(summary, sets)


@app.command()
def report(
    figure: FigureOption = None,
    preset: PresetOption = "quick",
    sets: SetsOption = None,
    noise: NoiseOption = None,
    repeats: RepeatsOption = None,
    depths: DepthsOption = None,
    folder: FolderOption = FOLDER,
    store: StoreOption = None,
    methods: MethodsOption = None,
    version: VersionOption = None,
    force: ForceOption = False,
) -> None:
    """Write figures and the page from what has been measured.

    By default from all methods that have results.
    """
    protocol = make_protocol(preset, sets, noise, repeats, depths)
    path = store or folder / STORE
    with _plain_errors():
        _check_outputs(figure, folder, path, force)
        if figure is not None and figure in ALONE:
            _draw([figure], None, folder)
            return
        results = _read(path, protocol, version, methods)
        _write(figure, results, protocol, preset, folder)


@app.command()
def export(
    to: Annotated[
        Path | None, typer.Argument(help="The file (results.csv in --folder).")
    ] = None,
    preset: PresetOption = "quick",
    sets: SetsOption = None,
    noise: NoiseOption = None,
    repeats: RepeatsOption = None,
    depths: DepthsOption = None,
    folder: FolderOption = FOLDER,
    store: StoreOption = None,
    methods: MethodsOption = None,
    version: VersionOption = None,
    force: ForceOption = False,
) -> None:
    """Write what has been measured as CSV, a row for each cell.

    By default of all methods that have results.
    """
    protocol = make_protocol(preset, sets, noise, repeats, depths)
    source, path = store or folder / STORE, to or folder / "results.csv"
    with _plain_errors():
        if path.is_dir():
            raise ValueError(
                f"{path} is a folder; give the name of a file, such as "
                f"{path / 'results.csv'}."
            )
        _check_output(path, is_export, source, force)
        results = _read(source, protocol, version, methods)
        make_folder(path.parent)
        results = results.round({"fit_seconds": 4})
        with replacing(path) as part:
            results.to_csv(part, index=False)  # errors in full: rounded, equals differ
        say(f"{len(results)} cells written to {path}")


@app.command("import")
def import_command(
    results: Annotated[Path, typer.Argument(help="A CSV that export has written.")],
    preset: PresetOption = "quick",
    sets: SetsOption = None,
    noise: NoiseOption = None,
    repeats: RepeatsOption = None,
    depths: DepthsOption = None,
    folder: FolderOption = FOLDER,
    store: StoreOption = None,
) -> None:
    """Put exported results into a store, so that a run goes on from them."""
    protocol = make_protocol(preset, sets, noise, repeats, depths)
    path = store or folder / STORE
    with _plain_errors():
        say(f"{import_results(results, path, protocol)} new cells in {path}")
        tell_of_versions(path, current_version())


@app.command()
def table() -> None:
    """Print Table I of the paper beside the data."""
    with _plain_errors():
        print_table_one()


# ------------------------------------------------------------------------- what they do


def _measure(
    protocol: Protocol,
    path: Path,
    methods: str | None,
    jobs: int,
    dask: str | None,
    retry: bool,
    download: bool,
) -> Summary:
    """Run a protocol, and say what it has come to."""
    named = os.environ.get(FOLDER_VARIABLE)
    if named and not download and not data_folder(None).is_dir():
        raise ValueError(
            f"{FOLDER_VARIABLE}={named} is no folder; let it name the one that has the "
            "data, or unset it."
        )
    summary = run(
        protocol,
        path,
        methods=pick_methods(methods),
        n_jobs=jobs,
        dask=dask,
        retry=retry,
        download=download,
        tell_absent=tell_absent,
    )
    tell_summary(summary, path)
    return summary


def _read(
    path: Path,
    protocol: Protocol,
    version: str | None = None,
    methods: str | None = None,
) -> pd.DataFrame:
    results = read_results(path, protocol, version=version)
    here = version or current_version()
    tell_of_versions(path, here)
    tell_of_sources(path, protocol, version)
    fuller = name_fuller_preset(path, protocol, version, len(results))
    if results.empty:
        raise ValueError(
            f"{path} has no results of these settings with {here}"
            f"{fuller or name_remedy(path, version)}"
        )
    if fuller:
        say(f"{path} has {len(results)} results of these settings{fuller}")
    if methods is not None:
        results = results[results["method"].isin(pick_methods(methods))]
        if results.empty:
            raise ValueError(f"{path} has no results of {methods}; measure some first.")
    return results


def _write(
    figure: int | None,
    results: pd.DataFrame,
    protocol: Protocol,
    preset: str,
    folder: Path,
) -> None:
    """A figure, or all of them and the page."""
    if figure is not None:
        _draw([figure], results, folder)
        return
    _draw(FIGURES, results, folder)
    _report(results, protocol, preset, folder)


def _check_outputs(figure: int | None, folder: Path, store: Path, force: bool) -> None:
    """Refuse to replace what others have made, before the long work."""
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is no folder; name another --folder.")
    for number in FIGURES if figure is None else [figure]:
        for name in _pictures(number, None):
            _check_output(folder / name, _is_picture, store, force)
    if figure is None:
        _check_output(folder / PAGE, is_report, store, force)


def _check_output(
    path: Path, is_own: Callable[[Path], bool], store: Path, force: bool
) -> None:
    if path.resolve() == store.resolve():
        raise ValueError(f"{path} is the store of the results; name another file.")
    check_replaceable(path, is_own, force=force)


def _pictures(number: int, results: pd.DataFrame | None) -> dict[str, partial[Any]]:
    """The files of a figure, and what draws each."""
    drawn = {f"figure_{number}.png": partial(draw_figure, number, results)}
    if number == OF_GAUSSIANS:
        drawn[f"figure_{number}_chosen_rounds.png"] = partial(
            draw_gaussians, rounds=None
        )
    return drawn


def _is_picture(path: Path) -> bool:
    with path.open("rb") as file:
        start = file.read(1000)
    mark = b"\0".join(text.encode() for pair in MARK.items() for text in pair)
    return start.startswith(PNG) and mark in start


def _draw(numbers: Sequence[int], results: pd.DataFrame | None, folder: Path) -> None:
    """Draw figures; one of several that cannot be drawn is told of."""
    make_folder(folder)
    for number in numbers:
        for name, draw in _pictures(number, results).items():
            path = folder / name
            try:
                with announcing_compilation(1):
                    figure = draw()
            except ValueError as why:
                if len(numbers) == 1:
                    raise
                say(f"Figure {number} is not drawn: {why}")
                continue
            with replacing(path) as part:
                figure.savefig(part, dpi=150, bbox_inches="tight", metadata=MARK)
            say(f"Figure {number}: {path}")


def _report(
    results: pd.DataFrame, protocol: Protocol, preset: str, folder: Path
) -> None:
    path = folder / PAGE
    about = {"preset": preset, **provenance(protocol)}
    write_report(results, path, about=about, protocol=protocol, verbose=1)
    say(f"Report: {path}")


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
                f"--{name} before {command} would go unheeded; options come after it, "
                f"and splboost paper {command} --help says which it has."
            )


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Sentences for what a user can mend, and an orderly end by Ctrl-C or SIGTERM."""
    with handling(signal.SIGTERM, signal.default_int_handler):
        try:
            yield
        except Interrupted as interrupt:
            say(str(interrupt))
            raise typer.Exit(EXIT_CODE) from None
        except KeyboardInterrupt:
            say("Stopped; what was measured is kept.")
            raise typer.Exit(EXIT_CODE) from None
        except BrokenPipeError:  # nobody reads on, which is no mistake
            raise
        except (ValueError, OSError, ImportError, RuntimeError) as error:
            say(f"Error: {error}")
            raise typer.Exit(FAILURE) from None
