"""``splboost paper``: what the command line does with the experiments."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, TypeAlias

import pandas as pd
import typer
from typer import Argument, Option

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

FOLDER = Path("splboost-paper")
STORE, PAGE, TABLE = "results.sqlite", "report.html", "results.csv"
ALL = "all"  # methods
MARK = {"Software": "splboost paper"}  # in pictures, so that they are known again
CHOSEN_ROUNDS = "figure_3_chosen_rounds.png"  # beside the one with 60 rounds
FAILURE = 1  # exit code, beside 2 for options that are wrong


ACTIONS = (
    "run measures what is missing, and no more; report writes figures and the page "
    "from what there is; export writes it as CSV, a row for each cell, and import puts "
    "such a file into a store; table prints Table I beside the data."
)
FILE = "CSV to import, or to export to (results.csv in --folder)."
FIGURE = "This figure alone; 4 and 5 are drawn from results."
PRESET = "quick (minutes), standard (10 repeats), or full (50, all sets alike)."
THE_METHODS = "AdaBoost,SPL hard; a run has the paper's nine; all has more."
FORCE = "Replace files that this command did not write."
Text: TypeAlias = str | None
Count: TypeAlias = int | None


def main(
    context: typer.Context,
    action: Annotated[Text, Argument(help=ACTIONS)] = None,
    file: Annotated[Path | None, Argument(help=FILE)] = None,
    figure: Annotated[Count, Option(min=1, max=5, help=FIGURE)] = None,
    preset: Annotated[str, Option(help=PRESET)] = "quick",
    sets: Annotated[Text, Option(help="Data sets, such as pima,blood.")] = None,
    noise: Annotated[Text, Option(help="Percentages of wrong labels: 0,20.")] = None,
    repeats: Annotated[Count, Option(min=1, help="Of each set and noise.")] = None,
    depths: Annotated[Text, Option(help="Of trees to choose from: 1,2,3.")] = None,
    methods: Annotated[Text, Option(help=THE_METHODS)] = None,
    jobs: Annotated[int, Option(help="Processes; -1 is one for each core.")] = -1,
    folder: Annotated[Path, Option(help="Of figures, report and results.")] = FOLDER,
    store: Annotated[
        Path | None, Option(help="The results (results.sqlite in --folder).")
    ] = None,
    dask: Annotated[Text, Option(help="Scheduler: tcp://host:8786.")] = None,
    retry: Annotated[bool, Option("--retry", help="Try failed cells again.")] = False,
    download: Annotated[
        bool, Option("--download", help="Fetch absent data sets from OpenML.")
    ] = False,
    force: Annotated[bool, Option("--force", help=FORCE)] = False,
    version: Annotated[Text, Option(help="Of results, if not the present one.")] = None,
) -> None:
    """Reproduce the SPLBoost paper: measure what is missing, draw figures, report.

    What was measured is kept, and a later command goes on from there.
    """
    options = SimpleNamespace(**locals())
    if action not in DO:
        names = ", ".join(filter(None, DO))
        raise typer.BadParameter(f"{action!r} is none of {names}.")
    do, heeded = DO[action]
    for name in context.params:
        if name in heeded or name == "action":
            continue
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            what = "A file" if name == "file" else f"--{name}"
            alone = f"splboost paper {action or ''}".strip()
            raise typer.BadParameter(
                f"{what} has no effect with {alone}; leave it out."
            )
    options.protocol = make_protocol(preset, sets, noise, repeats, depths)
    options.path = store or folder / STORE
    with _plain_errors():
        do(options)


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
            parts = _names(text, ())
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
    names = _names(text or "", (*METHODS, ALL)) or list(PAPER)
    if unknown := [name for name in names if name not in METHODS and name != ALL]:
        raise typer.BadParameter(
            f"methods={unknown[0]!r} is unknown; give {ALL}, or some of "
            f"{', '.join(METHODS)}, with commas between them."
        )
    return list(METHODS) if ALL in names else [m for m in METHODS if m in names]


def _names(text: str, known: Iterable[str]) -> list[str]:
    """Parse names separated by commas; known ones may be in any case."""
    spelt = {name.casefold(): name for name in known}
    parts = [part.strip() for part in text.split(",")]
    return [spelt.get(part.casefold(), part) for part in parts if part]


# ------------------------------------------------------------------------- the actions


def _do_all(options: Any) -> None:
    _check_outputs(options)
    if options.figure in ALONE:
        _write(options, None)
        return
    summary = _measure(options)
    if summary.n_cells:
        options.methods = None  # all that have results
        _write(options, _read(options))
    _exit(summary, options)


def _run(options: Any) -> None:
    _exit(_measure(options), options)


def _report(options: Any) -> None:
    _check_outputs(options)
    _write(options, None if options.figure in ALONE else _read(options))


def _export(options: Any) -> None:
    path = options.file or options.folder / TABLE
    if path.is_dir():
        raise ValueError(
            f"{path} is a folder; give the name of a file, such as {path / TABLE}."
        )
    _check_output(path, is_export, options)
    results = _read(options)
    with replacing(path) as part:  # errors in full: rounded, equals would differ
        results.round({"fit_seconds": 4}).to_csv(part, index=False)
    _say(f"{counted(len(results), 'cell')} written to {path}")


def _import(options: Any) -> None:
    if options.file is None:
        raise typer.BadParameter("give the CSV file to import.")
    n_new = import_results(options.file, options.path, options.protocol)
    _say(f"{n_new} new cells in {options.path}")
    _say_versions(options.path, current_version())


OF_RESULTS = {"preset", "sets", "noise", "repeats", "depths", "folder", "store"}
OF_RUN = OF_RESULTS | {"methods", "jobs", "dask", "retry", "download"}
OF_READING = OF_RESULTS | {"methods", "version", "force"}
# Actions, and the options that each heeds; without one, all is done that is missing.
DO: dict[str | None, tuple[Callable[[Any], None], set[str]]] = {
    None: (_do_all, OF_RUN | {"figure", "force"}),
    "run": (_run, OF_RUN),
    "report": (_report, OF_READING | {"figure"}),
    "export": (_export, OF_READING | {"file"}),
    "import": (_import, OF_RESULTS | {"file"}),
    "table": (lambda options: typer.echo(describe_table_one()), set()),
}


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
        tell_absent=lambda absent: _say("\n".join(map(str, absent.values()))),
    )
    for failure in summary.failures:
        _say(f"Failed: {failure}")
    if summary.failures:
        _say("--retry tries again what failed.")
    if summary.n_elsewhere:
        _say(f"Another run is at work on {summary.n_elsewhere} of the cells.")
    if summary.n_cells:
        _say(
            f"{summary.n_there} of {summary.n_cells} cells are in {options.path}, "
            f"{summary.n_done} of them new"
        )
    return summary


def _exit(summary: Summary, options: Any) -> None:
    """End with a failure if results that were asked for are missing."""
    if summary.failures or (options.sets and summary.absent) or not summary.n_cells:
        raise typer.Exit(FAILURE)


def _read(options: Any) -> pd.DataFrame:
    """Read the results of a protocol, and name results that do not count."""
    path, protocol, version = options.path, options.protocol, options.version
    results = read_results(path, protocol, version=version)
    here = version or current_version()
    _say_versions(path, here)
    for (name, source), n in count_sources(path, protocol, version=version).items():
        of_set = results[results["data"] == name]
        if source not in set(of_set["source"]):
            _say(
                f"{path} has {counted(n, 'result')} on {name} from data called "
                f"{source}, which {'does' if n == 1 else 'do'} not count beside the "
                f"{len(of_set)} from other data."
            )
    if results.empty:
        raise ValueError(
            f"{path} has no results of these settings with {here}; measure some, or "
            "give the preset and options of an earlier run."
        )
    if options.methods is not None:
        results = results[results["method"].isin(pick_methods(options.methods))]
        if results.empty:
            raise ValueError(
                f"{path} has no results of {options.methods}; measure some first."
            )
    return results


def _write(options: Any, results: pd.DataFrame | None) -> None:
    """Write a figure, or all figures and the page."""
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
            _say(f"Figure {number} is not drawn: {why}")
            continue
        with replacing(path) as part:
            drawn.savefig(part, dpi=150, bbox_inches="tight", metadata=MARK)
        _say(f"Figure {number}: {path}")
    if options.figure is None and results is not None:
        about = {"preset": options.preset, **provenance(options.protocol)}
        path = options.folder / PAGE
        write_report(results, path, about=about, protocol=options.protocol, verbose=1)
        _say(f"Report: {path}")


def _pictures(figure: int | None) -> dict[str, int]:
    """The files of a figure, or of all, and the number of each."""
    numbers = range(1, 6) if figure is None else [figure]
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


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Show errors that a user can fix as sentences, and end cleanly on Ctrl-C."""
    with handling(signal.SIGTERM, signal.default_int_handler):
        try:
            yield
        except KeyboardInterrupt as interrupt:
            own = isinstance(interrupt, Interrupted)
            _say(str(interrupt) if own else "Stopped; what was measured is kept.")
            raise typer.Exit(EXIT_CODE) from None
        except (BrokenPipeError, typer.Exit):  # nobody reads on, which is no mistake
            raise
        except (ValueError, OSError, ImportError, RuntimeError) as error:
            _say(f"Error: {error}")
            raise typer.Exit(FAILURE) from None


# ------------------------------------------------------------------------ what they say


def _say(line: str) -> None:
    typer.echo(line, err=True)


def _say_versions(path: Path, here: str) -> None:
    """Name results of other versions, which do not count."""
    for name, n in versions_in(path).items():
        if name != here:
            _say(
                f"{path} has {n} results of {name}, which do not count with {here}: "
                "install those versions to go on with them, or report them with "
                f'--version "{name}".'
            )
