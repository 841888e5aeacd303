"""``splboost paper``: what the command line does with the experiments."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from inspect import Parameter, Signature
from pathlib import Path
from types import SimpleNamespace
from typing import Any

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
STORE, PAGE, TABLE = "results.sqlite", "report.html", "results.csv"
ALL = "all"  # methods
MARK = {"Software": "splboost paper"}  # in pictures, so that they are known again
CHOSEN_ROUNDS = "figure_3_chosen_rounds.png"  # beside the one with 60 rounds
FAILURE = 1  # exit code, beside 2 for options that are wrong

app = typer.Typer(
    help="The experiments of the SPLBoost paper.", invoke_without_command=True
)

# -------------------------------------------------------------------------- options

_COUNT, _TEXT, _PATH = int | None, str | None, Path | None
CHOICES: dict[str, tuple[Any, Any, str]] = {  # type, default and help
    "figure": (_COUNT, None, "This figure alone; 4 and 5 are drawn from results."),
    "preset": (
        str,
        "quick",
        "quick (minutes), standard (10 repeats), or full (50, all sets alike).",
    ),
    "sets": (_TEXT, None, "Data sets instead of the preset's, such as pima,blood."),
    "noise": (_TEXT, None, "Percentages of wrong labels: 0,20."),
    "repeats": (_COUNT, None, "Draws of each set and noise."),
    "depths": (
        _TEXT,
        None,
        "Depths of trees to choose from instead of the preset's, such as 1,2,3.",
    ),
    "methods": (
        _TEXT,
        None,
        "Such as AdaBoost,SPL hard; a run has the paper's nine; all has more.",
    ),
    "jobs": (int, -1, "Processes; -1 is one for each core."),
    "folder": (Path, FOLDER, "Where figures, report and results go."),
    "store": (_PATH, None, "The results (results.sqlite in --folder)."),
    "dask": (_TEXT, None, "Scheduler of a cluster, as tcp://host:8786."),
    "retry": (bool, False, "Try again what failed before."),
    "download": (bool, False, "Fetch absent data sets from OpenML."),
    "force": (bool, False, "Replace files that this command did not write."),
    "version": (_TEXT, None, "Of the results, if not the present one."),
    "to": (_PATH, None, "The file (results.csv in --folder)."),
    "results": (Path, ..., "A CSV that export has written."),
}
ARGUMENTS = "to", "results"  # the others are options
OF_RESULTS = "preset", "sets", "noise", "repeats", "depths", "folder", "store"
OF_RUN = "methods", "jobs", "dask", "retry", "download"


def _with(*names: str) -> Callable[[Callable[[Any], None]], Callable[..., None]]:
    """Pass the named ``CHOICES`` of the command line to a command as one object.

    The object also has the ``context`` of the command, its ``protocol``, and ``path``,
    that of the store. Errors that a user can fix are shown as sentences.
    """
    parameters = [_parameter("context", typer.Context)]
    for name in [each for each in CHOICES if each in names]:
        kind, default, text = CHOICES[name]
        if name in ARGUMENTS:
            declared: Any = typer.Argument(default, help=text)
        else:
            low = 1 if kind is _COUNT else None
            high = FIGURES[-1] if name == "figure" else None
            declared = typer.Option(default, f"--{name}", help=text, min=low, max=high)
        parameters.append(_parameter(name, kind, declared))

    def decorate(command: Callable[[Any], None]) -> Callable[..., None]:
        def called(**values: Any) -> None:
            options = SimpleNamespace(**values)
            options.protocol = make_protocol(*(values[k] for k in OF_RESULTS[:5]))
            options.path = options.store or options.folder / STORE
            with _plain_errors():
                command(options)

        called.__doc__ = command.__doc__
        called.__annotations__ = {}
        called.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        return called

    return decorate


def _parameter(name: str, kind: Any, default: Any = Parameter.empty) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def make_protocol(
    preset: str,
    sets: str | None,
    noise: str | None,
    repeats: int | None,
    depths: str | None,
) -> Protocol:
    """A preset with those settings replaced that are given."""
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
    """Parse names of methods; they are returned in the order of the tables."""
    names = _names(text, (*METHODS, ALL)) or list(PAPER)
    for name in names:
        if name not in METHODS and name != ALL:
            raise typer.BadParameter(
                f"methods={name!r} is unknown; give {ALL}, or some of "
                f"{', '.join(METHODS)}, with commas between them."
            )
    return list(METHODS) if ALL in names else [m for m in METHODS if m in names]


def _names(text: str | None, known: Iterable[str]) -> list[str]:
    """Parse names separated by commas, ignoring case."""
    spelt = {name.casefold(): name for name in known}
    return [spelt.get(name.casefold(), name) for name in _split(text or "")]


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


# ------------------------------------------------------------------------- commands


@app.callback()
@_with("figure", *OF_RESULTS, *OF_RUN, "force")
def paper(options: Any) -> None:
    """Reproduce the SPLBoost paper: measure what is missing, draw figures, report.

    What was measured is kept, and a later command goes on from there.
    """
    if options.context.invoked_subcommand is not None:
        _refuse_options(options.context)
        return
    _check_outputs(options)
    if options.figure in ALONE:
        _write(options, None)
        return
    summary = _measure(options)
    if summary.n_cells:
        _write(options, _read(options.path, options.protocol))
    _exit(summary, options)


@app.command("run")
@_with(*OF_RESULTS, *OF_RUN)
def run_command(options: Any) -> None:
    """Measure what is missing, and no more."""
    _exit(_measure(options), options)


@app.command("report")
@_with("figure", *OF_RESULTS, "methods", "version", "force")
def report(options: Any) -> None:
    """Write figures and the page from what has been measured.

    By default from all methods that have results.
    """
    _check_outputs(options)
    results = None
    if options.figure not in ALONE:
        results = _read(
            options.path, options.protocol, options.version, options.methods
        )
    _write(options, results)


@app.command("export")
@_with(*OF_RESULTS, "methods", "version", "force", "to")
def export(options: Any) -> None:
    """Write what has been measured as CSV, a row for each cell.

    By default of all methods that have results.
    """
    path = options.to or options.folder / TABLE
    if path.is_dir():
        raise ValueError(
            f"{path} is a folder; give the name of a file, such as {path / TABLE}."
        )
    _check_output(path, is_export, options)
    results = _read(options.path, options.protocol, options.version, options.methods)
    make_folder(path.parent)
    with replacing(path) as part:  # errors in full: rounded, equals would differ
        results.round({"fit_seconds": 4}).to_csv(part, index=False)
    say(f"{counted(len(results), 'cell')} written to {path}")


@app.command("import")
@_with(*OF_RESULTS, "results")
def import_command(options: Any) -> None:
    """Put exported results into a store, so that a run goes on from them."""
    n_new = import_results(options.results, options.path, options.protocol)
    say(f"{n_new} new cells in {options.path}")
    _say_versions(options.path, current_version())


@app.command()
def table() -> None:
    """Print Table I of the paper beside the data."""
    with _plain_errors():
        typer.echo(describe_table_one())


# ------------------------------------------------------------------------- what they do


def _measure(options: Any) -> Summary:
    """Run a protocol, and print a summary."""
    if options.jobs < 1 and options.jobs != -1:
        raise typer.BadParameter(
            f"jobs={options.jobs} is too few; give 1 or more, or -1 for all."
        )
    named = os.environ.get(FOLDER_VARIABLE)
    if named and not options.download and not data_folder(None).is_dir():
        raise ValueError(
            f"{FOLDER_VARIABLE}={named} is no folder; let it name the one that has the "
            "data, or unset it."
        )
    summary = run(
        options.protocol,
        options.path,
        methods=pick_methods(options.methods),
        n_jobs=options.jobs,
        dask=options.dask,
        retry=options.retry,
        download=options.download,
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
            f"{summary.n_there} of {summary.n_cells} cells are in {options.path}, "
            f"{summary.n_done} of them new"
        )
    return summary


def _exit(summary: Summary, options: Any) -> None:
    """End with a failure if results that were asked for are missing."""
    if summary.failures or (options.sets and summary.absent) or not summary.n_cells:
        raise typer.Exit(FAILURE)


def _read(
    path: Path,
    protocol: Protocol,
    version: str | None = None,
    methods: str | None = None,
) -> pd.DataFrame:
    """Read the results of a protocol, and name results that do not count."""
    results = read_results(path, protocol, version=version)
    here = version or current_version()
    _say_versions(path, here)
    _say_sources(path, protocol, version)
    if results.empty:
        raise ValueError(
            f"{path} has no results of these settings with {here}; measure some, or "
            "give the preset and options of an earlier run."
        )
    if methods is not None:
        results = results[results["method"].isin(pick_methods(methods))]
        if results.empty:
            raise ValueError(f"{path} has no results of {methods}; measure some first.")
    return results


def _write(options: Any, results: pd.DataFrame | None) -> None:
    """Write a figure, or all figures and the page."""
    make_folder(options.folder)
    for name, number in _pictures(options.figure).items():
        path = options.folder / name
        try:
            if name == CHOSEN_ROUNDS:
                drawn = draw_gaussians(rounds=None)
            else:
                drawn = draw_figure(number, results)
        except ValueError as why:
            if options.figure is not None:
                raise
            say(f"Figure {number} is not drawn: {why}")
            continue
        with replacing(path) as part:
            drawn.savefig(part, dpi=150, bbox_inches="tight", metadata=MARK)
        say(f"Figure {number}: {path}")
    if options.figure is None and results is not None:
        about = {"preset": options.preset, **provenance(options.protocol)}
        path = options.folder / PAGE
        write_report(results, path, about=about, protocol=options.protocol, verbose=1)
        say(f"Report: {path}")


def _pictures(figure: int | None) -> dict[str, int]:
    """The files of a figure, or of all, and the number of each."""
    numbers = FIGURES if figure is None else [figure]
    files = {f"figure_{number}.png": number for number in numbers}
    return files | ({CHOSEN_ROUNDS: 3} if 3 in numbers else {})


def _check_outputs(options: Any) -> None:
    """Refuse to replace files of others, before anything is measured."""
    folder = options.folder
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is no folder; name another --folder.")
    for name in _pictures(options.figure):
        _check_output(folder / name, _is_picture, options)
    if options.figure is None:
        _check_output(folder / PAGE, is_report, options)


def _check_output(path: Path, is_own: Callable[[Path], bool], options: Any) -> None:
    if path.resolve() == options.path.resolve():
        raise ValueError(f"{path} is the store of the results; name another file.")
    check_replaceable(path, is_own, force=options.force)


def _is_picture(path: Path) -> bool:
    return has_mark(path, "\0".join(*MARK.items()))  # as PNG has it


def _refuse_options(context: typer.Context) -> None:
    """Refuse options before the name of a command, which would be ignored."""
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
    """Show errors that a user can fix as sentences, and end cleanly on Ctrl-C."""
    with handling(signal.SIGTERM, signal.default_int_handler):
        try:
            yield
        except KeyboardInterrupt as interrupt:
            own = isinstance(interrupt, Interrupted)
            say(str(interrupt) if own else "Stopped; what was measured is kept.")
            raise typer.Exit(EXIT_CODE) from None
        except (BrokenPipeError, typer.Exit):  # nobody reads on, which is no mistake
            raise
        except (ValueError, OSError, ImportError, RuntimeError) as error:
            say(f"Error: {error}")
            raise typer.Exit(FAILURE) from None


# ------------------------------------------------------------------------ what they say


def say(line: str) -> None:
    typer.echo(line, err=True)


def _say_what_is_absent(absent: dict[str, Exception]) -> None:
    """Name the data sets that cannot be read, and say what to do."""
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
    """Name results of other versions, which do not count."""
    for name, n in versions_in(path).items():
        if name != here:
            say(
                f"{path} has {n} results of {name}, which do not count with {here}: "
                "install those versions to go on with them, or report them with "
                f'--version "{name}".'
            )


def _say_sources(path: Path, protocol: Protocol, version: str | None) -> None:
    """Name results that do not count because there are more from other data."""
    for name, counts in count_sources(path, protocol, version=version).items():
        for source, n in sorted(counts.items(), key=lambda each: each[1])[:-1]:
            say(
                f"{path} has {counted(n, 'result')} on {name} from data called "
                f"{source}, which {'does' if n == 1 else 'do'} not count beside the "
                f"{max(counts.values())} from other data."
            )
