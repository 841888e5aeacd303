"""What is known of the data sets of the SPLBoost paper.

Its Table I lists 17 sets, under the names and in the variants of M. Fernández-Delgado,
E. Cernadas, S. Barro and D. Amorim, "Do we need hundreds of classifiers to solve real
world classification problems?", JMLR 15, 2014. Three more entries are other variants
of these sets. All of them stand in ``catalogue.toml``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

TARGET = "target"  # name of the column with the labels


@dataclass(frozen=True)
class Figures:
    """What Table I of the paper says of a set."""

    rows: int
    columns: int
    majority: float  # share of the largest class, in percent


@dataclass(frozen=True)
class OpenML:
    """The copy of a set on OpenML, and how to turn it into ours.

    Its columns are ours in the same order, under other names. Its names for classes are
    known by how often they occur, since no two classes of a set are equally frequent.
    """

    id: int
    differs: str
    dropped: tuple[str, ...] = ()
    first_are_last: int = 0  # so many of their first rows are our last
    # Our label by the number of rows of theirs, where they have more classes than we
    labels: Mapping[int, str] = field(default_factory=dict)
    # Our word by the number of rows with their code, for columns that they encode; a
    # column that is not named here is coded as the one before it
    words: Mapping[str, Mapping[int, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class UCIDataSet:
    """What is known of a data set.

    Attributes
    ----------
    title : str
    columns : tuple of str
        Names of the features.
    classes : dict {label: int}
        Rows of each class; the labels are strings or ints.
    sha256 : str or None
        Of the file's contents, that is of the CSV inside the gzip file: how a file was
        compressed does not matter. None if no such file was at hand.
    source, licence : str
    categorical : tuple of str
        The features that are categories.
    missing : int
        Number of cells without a value.
    groups : dict {group: int} or None
        Where several rows belong together, the number of each group's, in row order.
    openml : OpenML or None
        The same data on OpenML, if it has them.
    by_hand : str
        Without a copy on OpenML: why, and what to make the file from.
    paper : Figures or None
        Table I. None for a variant that the paper does not list.
    difference : str
        Why the figures of the paper are not those of the data, where they are not.
    note : str
        What else one should know.
    """

    title: str
    columns: tuple[str, ...]
    classes: Mapping[str, int] | Mapping[int, int]
    source: str
    sha256: str | None = None
    licence: str = "CC BY 4.0"
    categorical: tuple[str, ...] = ()
    missing: int = 0
    groups: Mapping[str, int] | None = None
    openml: OpenML | None = None
    by_hand: str = ""
    paper: Figures | None = None
    difference: str = ""
    note: str = ""

    @property
    def rows(self) -> int:
        return sum(self.classes.values())

    @property
    def majority(self) -> float:
        """Share of the largest class, in percent."""
        return 100 * max(self.classes.values()) / self.rows


def _read() -> dict[str, UCIDataSet]:
    text = files("splboost.datasets").joinpath("catalogue.toml").read_text("utf-8")
    entries = {}
    for name, given in tomllib.loads(text).items():
        fields = _as_fields(given)
        for field_name, kind in (("paper", Figures), ("openml", OpenML)):
            if field_name in fields:
                fields[field_name] = kind(**fields[field_name])
        entries[name] = UCIDataSet(**fields)
    return entries


def _as_fields(value: Any) -> Any:
    """Lists as tuples, and keys as numbers where they are digits, as TOML has none."""
    if isinstance(value, dict):
        return {
            int(key) if key.isdigit() else key: _as_fields(each)
            for key, each in value.items()
        }
    return tuple(value) if isinstance(value, list) else value


UCI_CATALOGUE: dict[str, UCIDataSet] = _read()
