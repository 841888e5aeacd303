"""``splboost paper``: what the command line does with the experiments."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from splboost._tools.interrupts import EXIT_CODE, handling
from splboost._tools.whole_files import check_replaceable, has_mark, replacing
from splboost._tools.wording import counted
from splboost.datasets import UCI_CATALOGUE
from splboost.datasets.uci import FOLDER_VARIABLE, data_folder
from splboost.paper.draw import describe_table_one
from splboost.paper.figures import ALONE, draw_figure, draw_gaussians
from splboost.paper.protocol import METHODS, PAPER, PRESETS, Protocol
from splboost.paper.report import is_report, provenance, write_report
from splboost.paper.results import (
    count_sources,
    current_version,
    import_results,
    is_export,
    read_results,
    versions_in,
)
from splboost.paper.runner import Interrupted, Summary, run
from splboost.paper.store import make_folder

FOLDER = Path("splboost-paper")
FIGURES = range(1, 6)
STORE, PAGE = "results.sqlite", "report.html"
ALL = "all"  # methods
MARK = {"Software": "splboost paper"}  # in pictures, so that they are known again
CHOSEN_ROUNDS = "figure_3_chosen_rounds.png"  # beside the one with 60 rounds
FAILURE = 1  # exit code, beside 2 for options that are wrong

app = typer.Typer(
    help="The experiments of the SPLBoost paper.", invoke_without_command=True
)

# -------------------------------------------------------------------------- options

PresetOption = Annotated[
    str,
    typer.Option(
        "--preset",
        help="quick (minutes), standard (10 repeats), or full (50, all sets alike).",
    ),
]
SetsOption = Annotated[
    str | None,
    typer.Option(
        "--sets", help="Data sets instead of the preset's, such as pima,blood."
    ),
]
NoiseOption = Annotated[
    str | None, typer.Option("--noise", help="Percentages of wrong labels: 0,20.")
]
RepeatsOption = Annotated[
    int | None, typer.Option("--repeats", min=1, help="Draws of each set and noise.")
]
DepthsOption = Annotated[
    str | None,
    typer.Option(
        "--depths",
        help="Depths of trees to choose from instead of the preset's, such as 1,2,3.",
    ),
]
MethodsOption = Annotated[
    str | None,
    typer.Option(
        "--methods",
        help="Such as AdaBoost,SPL hard; a run has the paper's nine; all has more.",
    ),
]
JobsOption = Annotated[
    int, typer.Option("--jobs", help="Processes; -1 is one for each core.")
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
ForceOption = Annotated[
    bool, typer.Option("--force", help="Replace files that this command did not write.")
]
FigureOption = Annotated[
    int | None,
    typer.Option(
        "--figure",
        min=FIGURES[0],
        max=FIGURES[-1],
        help="This figure alone; 4 and 5 are drawn from results.",
    ),
]
VersionOption = Annotated[
    str | None,
    typer.Option("--version", help="Of the results, if not the present one."),
]


def make_protocol(
    preset: str,
    sets: str | None,
    noise: str | None,
    repeats: int | None,
    depths: str | None,
) -> Protocol:
    """A preset, but for what is given."""
    if preset not in PRESETS:
        raise typer.BadParameter(f"{preset!r} is none of {', '.join(PRESETS)}.")
    chosen: dict[str, Any] = {} if repeats is None else {"repeats": repeats}
    if sets is not None:
        chosen["sets"] = tuple(dict.fromkeys(_names(sets, UCI_CATALOGUE)))
    for name, text in (("noise", noise), ("depths", depths)):
        if text is not None:
            parts = _split(text)
            if wrong := [part for part in parts if not part.isdecimal()]:
                raise typer.BadParameter(
                    f"{name}={wrong[0]} cannot be; give whole numbers with commas "
                    "between them."
                )
            chosen[name] = tuple(sorted(set(map(int, parts))))
    try:
        return replace(PRESETS[preset], **chosen)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def pick_methods(text: str | None) -> list[str]:
    """The methods of that name, in the order of the tables."""
    names = _names(text, (*METHODS, ALL)) or list(PAPER)
    for name in names:
        if name not in METHODS and name != ALL:
            raise typer.BadParameter(
                f"methods={name!r} is unknown; give {ALL}, or some of "
                f"{', '.join(METHODS)}, with commas between them."
            )
    return list(METHODS) if ALL in names else [m for m in METHODS if m in names]


def _names(text: str | None, known: Iterable[str]) -> list[str]:
    """Names with commas between them, spelt as they are known, whatever their case."""
    spelt = {name.casefold(): name for name in known}
    return [spelt.get(name.casefold(), name) for name in _split(text)]


def _split(text: str | None) -> list[str]:
    return [part.strip() for part in (text or "").split(",") if part.strip()]


# ------------------------------------------------------------------------- commands


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
            _write(figure, None, protocol, preset, folder)
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
            _write(figure, None, protocol, preset, folder)
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
        say(f"{counted(len(results), 'cell')} written to {path}")


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
        _say_versions(path, current_version())


@app.command()
def table() -> None:
    """Print Table I of the paper beside the data."""
    with _plain_errors():
        typer.echo(describe_table_one())


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
    if jobs < 1 and jobs != -1:
        raise typer.BadParameter(
            f"jobs={jobs} is too few; give 1 or more, or -1 for all."
        )
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
        tell_absent=_say_what_is_absent,
    )
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
    return summary


def _exit(summary: Summary, sets: str | None) -> None:
    """With a failure where not all that was asked for is there."""
    if summary.failures or (sets and summary.absent) or not summary.n_cells:
        raise typer.Exit(FAILURE)


def _read(
    path: Path,
    protocol: Protocol,
    version: str | None = None,
    methods: str | None = None,
) -> pd.DataFrame:
    """Results of a protocol, having said what else there is."""
    results = read_results(path, protocol, version=version)
    here = version or current_version()
    _say_versions(path, here)
    _say_sources(path, protocol, version)
    fuller = _name_fuller_preset(path, protocol, version, len(results))
    if results.empty:
        remedy = "; measure some, or give the preset and options of an earlier run."
        raise ValueError(
            f"{path} has no results of these settings with {here}{fuller or remedy}"
        )
    if fuller:
        say(f"{path} has {counted(len(results), 'result')} of these settings{fuller}")
    if methods is not None:
        results = results[results["method"].isin(pick_methods(methods))]
        if results.empty:
            raise ValueError(f"{path} has no results of {methods}; measure some first.")
    return results


def _write(
    figure: int | None,
    results: pd.DataFrame | None,
    protocol: Protocol,
    preset: str,
    folder: Path,
) -> None:
    """A figure, or all of them and the page."""
    make_folder(folder)
    for number in FIGURES if figure is None else [figure]:
        for name in _pictures(number):
            try:
                if name == CHOSEN_ROUNDS:
                    drawn = draw_gaussians(rounds=None)
                else:
                    drawn = draw_figure(number, results)
            except ValueError as why:
                if figure is not None:
                    raise
                say(f"Figure {number} is not drawn: {why}")
                continue
            with replacing(folder / name) as part:
                drawn.savefig(part, dpi=150, bbox_inches="tight", metadata=MARK)
            say(f"Figure {number}: {folder / name}")
    if figure is None and results is not None:
        about = {"preset": preset, **provenance(protocol)}
        path = folder / PAGE
        write_report(results, path, about=about, protocol=protocol, verbose=1)
        say(f"Report: {path}")


def _pictures(number: int) -> list[str]:
    """The files of a figure."""
    return [f"figure_{number}.png", *([CHOSEN_ROUNDS] if number == 3 else [])]


def _check_outputs(figure: int | None, folder: Path, store: Path, force: bool) -> None:
    """Refuse to replace what others have made, before the long work."""
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is no folder; name another --folder.")
    for number in FIGURES if figure is None else [figure]:
        for name in _pictures(number):
            _check_output(folder / name, _is_picture, store, force)
    if figure is None:
        _check_output(folder / PAGE, is_report, store, force)


def _check_output(
    path: Path, is_own: Callable[[Path], bool], store: Path, force: bool
) -> None:
    if path.resolve() == store.resolve():
        raise ValueError(f"{path} is the store of the results; name another file.")
    check_replaceable(path, is_own, force=force)


def _is_picture(path: Path) -> bool:
    return has_mark(path, "\0".join(*MARK.items()))  # as PNG has it


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
        except KeyboardInterrupt as interrupt:
            own = isinstance(interrupt, Interrupted)
            say(str(interrupt) if own else "Stopped; what was measured is kept.")
            raise typer.Exit(EXIT_CODE) from None
        except BrokenPipeError:  # nobody reads on, which is no mistake
            raise
        except (ValueError, OSError, ImportError, RuntimeError) as error:
            say(f"Error: {error}")
            raise typer.Exit(FAILURE) from None


# ------------------------------------------------------------------------ what they say


def say(line: str) -> None:
    typer.echo(line, err=True)


def _say_what_is_absent(absent: dict[str, Exception]) -> None:
    """Which sets cannot be read, and what to do."""
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


def _say_versions(path: Path, here: str) -> None:
    """Which results are of other versions, and do not count."""
    for name, n in versions_in(path).items():
        if name != here:
            say(
                f"{path} has {n} results of {name}, which do not count with {here}: "
                "install those versions to go on with them, or report them with "
                f'--version "{name}".'
            )


def _say_sources(path: Path, protocol: Protocol, version: str | None) -> None:
    """Which results do not count, since there are more from other data."""
    for name, counts in count_sources(path, protocol, version=version).items():
        for source, n in sorted(counts.items(), key=lambda each: each[1])[:-1]:
            say(
                f"{path} has {counted(n, 'result')} on {name} from data called "
                f"{source}, which {'does' if n == 1 else 'do'} not count beside the "
                f"{max(counts.values())} from other data."
            )


def _name_fuller_preset(
    path: Path, protocol: Protocol, version: str | None, n_found: int
) -> str:
    """The end of a sentence that names the preset with the most results of the same."""
    same = {key: getattr(protocol, key) for key in ("sets", "noise", "repeats")}
    counts = {
        name: len(read_results(path, replace(preset, **same), version=version))
        for name, preset in PRESETS.items()
    }
    best = max(counts, key=counts.__getitem__)
    if counts[best] <= n_found:
        return ""
    return f", but {counts[best]} with --preset {best}; give that."
