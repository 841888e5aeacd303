"""The options of ``splboost paper``, and what they stand for."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from splboost.datasets import UCI_CATALOGUE
from splboost.paper.methods import METHODS
from splboost.paper.protocol import PAPER, PRESETS, Protocol

FOLDER = Path("splboost-paper")
FIGURES = range(1, 6)
ALL = "all"


def _preset(text: str) -> str:
    if text not in PRESETS:
        raise typer.BadParameter(f"{text!r} is none of {', '.join(PRESETS)}.")
    return text


def _names(known: Sequence[str]) -> Callable[[str | None], str | None]:
    """Check names, whose case does not matter, and spell them as they are known."""
    spelled = {name.casefold(): name for name in known}

    def check(text: str | None) -> str | None:
        for name in _split(text):
            if name.casefold() not in spelled:
                raise typer.BadParameter(
                    f"{name!r} is unknown; give some of {', '.join(known)}, with "
                    "commas between them."
                )
        if text is None:
            return None
        return ",".join(spelled[name.casefold()] for name in _split(text))

    return check


def _whole_numbers(
    low: int, high: float, what: str, example: str
) -> Callable[[str | None], str | None]:
    def check(text: str | None) -> str | None:
        for part in _split(text):
            if not part.isdecimal() or not low <= int(part) <= high:
                raise typer.BadParameter(
                    f"{part!r} is no {what}; give whole numbers with commas between "
                    f"them, such as {example}."
                )
        return text

    return check


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
        "--noise",
        callback=_whole_numbers(0, 100, "percentage", "0,20"),
        help="Percentages of wrong labels: 0,20.",
    ),
]
RepeatsOption = Annotated[
    int | None, typer.Option("--repeats", min=1, help="Draws of each set and noise.")
]
DepthsOption = Annotated[
    str | None,
    typer.Option(
        "--depths",
        callback=_whole_numbers(1, math.inf, "depth of a tree", "1,2,3"),
        help="Depths of trees to choose from instead of the preset's, such as 1,2,3.",
    ),
]
MethodsOption = Annotated[
    str | None,
    typer.Option(
        "--methods",
        callback=_names((ALL, *METHODS)),
        help="Such as AdaBoost,SPL hard; a run has the paper's nine; all has more.",
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
    chosen: dict[str, Any] = {} if repeats is None else {"repeats": repeats}
    if sets is not None:
        chosen["sets"] = tuple(dict.fromkeys(_split(sets)))
    for name, text in (("noise", noise), ("depths", depths)):
        if text is not None:
            chosen[name] = tuple(sorted(set(map(int, _split(text)))))
    try:
        return replace(PRESETS[preset], **chosen)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def pick_methods(text: str | None) -> Sequence[str]:
    """The methods of that name, in the order of the tables."""
    names = _split(text)
    if not names:
        return PAPER
    return list(METHODS) if ALL in names else [m for m in METHODS if m in names]
