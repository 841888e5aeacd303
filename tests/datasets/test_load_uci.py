"""The paper's data sets: catalogue, files and downloads."""

import gzip
import hashlib
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from openml_server import ADULT, ADULT_ROWS, openml_server, shrink
from splboost.datasets import UCI_CATALOGUE, load_uci
from splboost.datasets.catalogue import OpenML

DATA = os.environ.get("SPLBOOST_DATA")
HERE = [
    name for name in UCI_CATALOGUE if DATA and (Path(DATA) / f"{name}.csv.gz").exists()
]
needs_data = pytest.mark.skipif(not HERE, reason="SPLBOOST_DATA has no data sets")


def pack(path, rows, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(",".join(map(str, row)) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode(), **options))
    return hashlib.sha256(text.encode()).hexdigest()


# ------------------------------------------------------------------------ the catalogue


def test_entries_are_sound():
    for entry in UCI_CATALOGUE.values():
        assert len(set(entry.columns)) == len(entry.columns)
        assert set(entry.categorical) <= set(entry.columns)
        assert len({type(label) for label in entry.classes}) == 1
        assert entry.groups is None or sum(entry.groups.values()) == entry.rows
        assert (entry.openml is None) == bool(entry.by_hand)
        if entry.openml is None:
            continue
        # classes and words are told apart by their counts
        assert len(set(entry.classes.values())) == len(entry.classes)
        labels = entry.openml.labels
        for counts in [*entry.openml.words.values(), labels]:
            assert not counts or sum(counts) == entry.rows
        merged = dict.fromkeys(labels.values(), 0)
        for count, label in labels.items():
            merged[label] += count
        assert not labels or merged == entry.classes


# ---------------------------------------------------------------------- finding a file


def test_the_folder_is_the_nearest_that_is_named(monkeypatch, tmp_path):
    def folder(data_home=None):
        with pytest.raises(FileNotFoundError) as caught:
            load_uci("ozone", data_home=data_home)
        return (
            str(caught.value).split(". It cannot")[0].removeprefix("ozone is not in ")
        )

    monkeypatch.setenv("SPLBOOST_DATA", "")
    assert folder() == str(tmp_path / ".cache" / "splboost")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert folder() == str(tmp_path / "xdg" / "splboost")
    monkeypatch.setenv("SPLBOOST_DATA", "~/data")
    assert folder() == str(tmp_path / "data")
    assert folder("~/given") == str(tmp_path / "given")


def test_without_a_source_the_error_says_where_the_data_are(cache):
    for name, entry in UCI_CATALOGUE.items():
        if entry.openml:
            continue
        with pytest.raises(FileNotFoundError) as caught:
            load_uci(name)
        for part in (str(cache), entry.by_hand, f"{name}.csv.gz", "target", "OpenML"):
            assert part in str(caught.value), part
    assert not cache.exists()


def test_nothing_is_downloaded_unasked(cache):
    with pytest.raises(FileNotFoundError, match=r"adult is not in .*download=True"):
        load_uci("adult", download=False)
    with pytest.raises(ValueError, match=r"name='iris' is unknown; .* adult, bank,"):
        load_uci("iris")
    assert not cache.exists()


# ----------------------------------------------------------------------- reading a file

WORDS = [
    ["f0", "f1", "kind", "target"],
    [1, 0.5, "NA", "no"],
    [2, "", "b", "yes"],
    [3, 2.5, "", "no"],
    [4, 1e-05, "None", "no"],
]


@pytest.fixture
def small(monkeypatch, cache):
    """A set of four rows with a file."""
    return shrink(
        monkeypatch,
        "titanic",
        columns=("f0", "f1", "kind"),
        categorical=("kind",),
        classes={"no": 3, "yes": 1},
        missing=2,
        sha256=pack(cache / "titanic.csv.gz", WORDS),
    )


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_file_becomes_a_frame(small, installed, library):
    installed.intersection_update([library])
    X, y = load_uci("titanic")
    assert y.tolist() == ["no", "yes", "no", "no"] and y.dtype.kind == "U"
    if library == "pandas":
        assert isinstance(X, pd.DataFrame) and X["f0"].dtype == np.int64
        assert X["kind"].cat.categories.tolist() == ["NA", "None", "b"]
        X = pl.from_pandas(X).with_columns(pl.col("f1").fill_nan(None))
    else:
        kind = pl.Enum(["NA", "None", "b"])
        assert X.schema == {"f0": pl.Int64, "f1": pl.Float64, "kind": kind}
    assert X["f0"].to_list() == [1, 2, 3, 4]
    assert X["f1"].to_list() == [0.5, None, 2.5, 1e-05]
    assert X["kind"].to_list() == ["NA", "b", None, "None"]


def test_without_a_frame_library_it_says_what_to_install(installed, server):
    installed.clear()
    with pytest.raises(ImportError, match=r"neither pandas nor polars; install"):
        load_uci("adult")
    assert not server.asked


def test_another_file_is_refused(small, cache):
    path = cache / "titanic.csv.gz"
    changed = [*WORDS[:-1], [5, 1e-05, "None", "no"]]
    found = pack(path, changed)
    with pytest.raises(ValueError) as caught:
        load_uci("titanic")
    for part in (str(path), found, small.sha256, "Delete it", "OpenML"):
        assert part in str(caught.value)
    pack(cache / "ozone.csv.gz", WORDS)
    with pytest.raises(ValueError, match=r"Delete it.*onehr\.data .*ozone\.csv"):
        load_uci("ozone")
    assert pack(path, WORDS, compresslevel=1, mtime=9) == small.sha256
    assert len(load_uci("titanic")[1]) == 4  # however it is compressed


@pytest.mark.parametrize("damage", ["half", "noise", "text"])
def test_damaged_files_are_named(small, cache, damage):
    path = cache / "titanic.csv.gz"
    whole = path.read_bytes()
    path.write_bytes(
        {
            "half": whole[: len(whole) // 2],
            "noise": whole[:20] + bytes(20) + whole[40:],
            "text": b"f0,f1\n",
        }[damage]
    )
    with pytest.raises(ValueError, match=r"titanic\.csv\.gz is damaged .*delete it"):
        load_uci("titanic")


def put(row, column, value):
    rows = [list(fields) for fields in WORDS]
    rows[row][column] = value
    return rows


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        (put(0, 1, "f2"), r"columns are f0, f2, kind, target and not f0, f1, kind, t"),
        ([row[1:] for row in WORDS], r"its columns are f1, kind, target and not"),
        ([], r"its columns are  and not"),
        (WORDS[:-1], r"\{'no': 2, 'yes': 1\} and not \{'no': 3, 'yes': 1\}"),
        (put(1, 3, "yes"), r"\{'no': 2, 'yes': 2\} and not"),
        (put(1, 3, "maybe"), r"not no, yes alone but also maybe"),
        (put(1, 3, ""), r"not no, yes alone but also (nan|None)"),
        (put(1, 1, "many"), r"its column 'f1' holds more than numbers"),
        (put(1, 1, ""), r"3 cells are empty and not 2"),
        (put(3, 2, "b"), r"1 cells are empty and not 2"),
    ],
)
def test_without_a_hash_the_counts_must_agree(
    monkeypatch, small, cache, installed, rows, complaint
):
    installed.intersection_update(["polars"])
    shrink(monkeypatch, "titanic", sha256=None)
    assert len(load_uci("titanic")[1]) == 4
    pack(cache / "titanic.csv.gz", rows)
    with pytest.raises(ValueError, match=complaint) as caught:
        load_uci("titanic")
    assert "titanic.csv.gz is not the titanic of the catalogue" in str(caught.value)


# ------------------------------------------------------------- downloading from OpenML


def assert_is_adult(X, y):
    assert y.tolist() == ["<=50K", ">50K", "<=50K", "<=50K"]
    assert list(X.columns) == ["years", "employer"]
    np.testing.assert_array_equal(np.asarray(X["years"]), [39, 50, 38, np.nan])
    words = ["Private", None, "State-gov", "Never worked"]
    assert [word if isinstance(word, str) else None for word in X["employer"]] == words


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_what_is_absent_comes_from_openml(adult, cache, installed, library, capsys):
    installed.intersection_update([library])
    assert_is_adult(*load_uci("adult"))
    (path,) = cache.iterdir()
    assert path.name == "adult.openml.csv.gz"
    assert gzip.decompress(path.read_bytes()).decode().splitlines() == [
        "years,employer,target",
        "39.0,Private,<=50K",
        "50.0,,>50K",
        "38.0,State-gov,<=50K",
        ",Never worked,<=50K",
    ]
    out, err = capsys.readouterr()
    assert not out
    entry = UCI_CATALOGUE["adult"]
    for part in ("openml.org/d/1590", str(path), entry.source, entry.licence):
        assert part in err
    assert adult.files_sent == 1


def test_a_second_time_the_network_is_not_needed(adult, tmp_path, cache, capsys):
    folder = tmp_path / "a" / "b"  # is made
    load_uci("adult", data_home=folder)
    assert [path.name for path in folder.iterdir()] == ["adult.openml.csv.gz"]
    assert not cache.exists()
    asked = len(adult.asked)
    capsys.readouterr()
    for download in (True, False):
        assert_is_adult(*load_uci("adult", data_home=folder, download=download))
    assert len(adult.asked) == asked
    assert capsys.readouterr() == ("", "")


def test_the_catalogues_file_comes_first_and_a_damaged_copy_is_named(
    adult, monkeypatch, cache
):
    load_uci("adult")
    (path,) = cache.iterdir()
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match=r"adult\.openml\.csv\.gz is damaged"):
        load_uci("adult")
    rows = [["years", "employer", "target"], *([k, "b", "<=50K"] for k in range(3))]
    digest = pack(cache / "adult.csv.gz", [*rows, ["", "", ">50K"]])
    shrink(monkeypatch, "adult", sha256=digest)
    assert load_uci("adult")[0]["years"].tolist()[:3] == [0, 1, 2]


def test_numbers_of_miniboone_are_kept_to_the_last_digit(monkeypatch, server):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(6, 50)) * 10.0 ** rng.integers(-9, 9, size=(6, 50))
    values = np.array([[float(f"{value:.6g}") for value in row] for row in values])
    values[2, 3:5] = -999
    values[:, 7] = np.round(values[:, 7])
    signal = [True, False, False, True, False, False]
    names = dict.fromkeys(UCI_CATALOGUE["miniboone"].columns)
    rows = [(*row, word) for row, word in zip(values.tolist(), signal, strict=True)]
    server.offer(41150, names | {"signal": ["True", "False"]}, rows)
    shrink(monkeypatch, "miniboone", classes={"background": 4, "signal": 2})
    for _ in range(2):
        X, y = load_uci("miniboone")
        np.testing.assert_array_equal(X.to_numpy(), values)
        assert X.iloc[:, 7].dtype == np.int64
        assert y.tolist() == ["signal" if one else "background" for one in signal]
    assert server.files_sent == 1


@pytest.mark.parametrize(
    ("name", "coded_as"), [("connect-4", "words"), ("connect-4_3class", "numbers")]
)
def test_codes_become_words_and_classes_are_merged(monkeypatch, server, coded_as, name):
    words = ["0", "1", "2", "3"] if coded_as == "words" else None
    rows = [(0, 2, 1), (1, "?", 1), (1, 0, 1), (0, 0, 0), (0, 0, 0), (2, 2, 2)]
    server.offer(40668, {"a1": words, "a2": words, "class": ["0", "1", "2"]}, rows)
    labels = {1: "win", 3: "loss", 2: "draw"}
    merged = dict.fromkeys([1, 2], "draw_or_win") | {3: "loss"}
    three = name == "connect-4_3class"
    shrink(
        monkeypatch,
        name,
        columns=("a1", "a2"),
        categorical=("a1", "a2"),
        classes={word: n for n, word in labels.items()}
        if three
        else {"draw_or_win": 3, "loss": 3},
        missing=1,
        openml=OpenML(
            40668,
            "",
            labels={} if three else merged,
            words={"a1": {3: "b", 2: "o", 1: "x"}},
        ),
    )
    X, y = load_uci(name)
    assert X["a1"].tolist() == ["b", "o", "o", "b", "b", "x"]
    assert X["a2"].dropna().tolist() == ["x", "b", "b", "b", "x"]
    assert X["a2"].isna().tolist() == [False, True, *[False] * 4]
    by_code = {0: "draw", 1: "loss", 2: "win"}
    if not three:
        by_code |= dict.fromkeys([0, 2], "draw_or_win")
    assert y.tolist() == [by_code[row[-1]] for row in rows]


def test_columns_that_are_not_ours_and_first_rows_that_are_our_last(
    monkeypatch, server
):
    attributes = {"ID": None, "fLength:": None, "class:": ["g", "h"]}
    rows = [(1, 28.5, "g"), (2, 31.5, "g"), (3, 0.25, "h")]
    server.offer(1120, attributes, rows)
    classes = {"g": 2, "h": 1}
    copy = replace(UCI_CATALOGUE["magic"].openml, first_are_last=1)
    shrink(monkeypatch, "magic", columns=("fLength",), classes=classes, openml=copy)
    X, y = load_uci("magic")
    assert list(X) == ["fLength"] and X["fLength"].tolist() == [31.5, 0.25, 28.5]
    assert y.tolist() == ["g", "h", "g"]


def test_a_download_that_is_the_catalogues_file_is_saved_as_such(
    monkeypatch, server, cache
):
    attributes = {"V1": None, "V2": None, "Class": ["1", "2"]}
    rows = [(4, 0.00007, 2), (5, 1.0, 1), (6, 2.5, 2)]
    server.offer(1488, attributes, rows)
    lines = ["f0,f1,target", "4,7e-05,1", "5,1.0,0", "6,2.5,1", ""]
    shrink(
        monkeypatch,
        "parkinsons",
        columns=("f0", "f1"),
        classes={1: 2, 0: 1},
        groups={"S01": 1, "S02": 2},
        sha256=hashlib.sha256("\n".join(lines).encode()).hexdigest(),
    )
    *_, groups = load_uci("parkinsons", return_groups=True)
    assert groups.tolist() == ["S01", "S02", "S02"]
    assert [path.name for path in cache.iterdir()] == ["parkinsons.csv.gz"]
    asked = len(server.asked)
    assert len(load_uci("parkinsons")[1]) == 3
    assert len(server.asked) == asked


def test_rows_in_another_order_have_no_groups(monkeypatch, server):
    server.offer(1488, {"V1": None, "Class": ["1", "2"]}, [(4, 2), (5, 1), (6, 2)])
    shrink(monkeypatch, "parkinsons", columns=("f0",), classes={1: 2, 0: 1})
    assert len(load_uci("parkinsons")[1]) == 3
    with pytest.raises(ValueError, match=r"copy from OpenML .* put parkinsons\.csv"):
        load_uci("parkinsons", return_groups=True)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"classes": {"<=50K": 2, ">50K": 3}}, r"in \[1, 3\] rows and not in \[2, 3\]"),
        ({"classes": {"<=50K": 3, ">50K": 1, "?": 5}}, r"\[1, 3\] rows and not in \[1"),
        ({"columns": ("years",)}, r"it has 2 columns and not 1"),
        ({"missing": 1}, r"2 cells are empty and not 1"),
        ({"categorical": ()}, r"column 'employer' holds more than numbers"),
    ],
)
def test_a_set_that_is_not_the_catalogues_is_not_kept(
    monkeypatch, adult, cache, changes, complaint
):
    shrink(monkeypatch, "adult", **changes)
    with pytest.raises(OSError, match=complaint) as caught:
        load_uci("adult")
    assert "put adult.csv.gz into" in str(caught.value)
    assert list(cache.iterdir()) == []


@pytest.mark.filterwarnings("ignore:Invalid cache")
@pytest.mark.parametrize("failure", ["md5", "half"])
def test_a_spoilt_download_leaves_nothing_behind(adult, cache, failure):
    if failure == "md5":
        adult.spoil(1590)
    adult.breaks_off = failure == "half"
    complaint = "md5" if failure == "md5" else "(?i)end-of-stream|md5|incomplete"
    with pytest.raises(OSError, match=complaint) as caught:
        load_uci("adult")
    assert "adult could not be loaded from https://www.openml.org" in str(caught.value)
    assert list(cache.iterdir()) == []
    adult.breaks_off = False
    adult.offer(1590, ADULT, ADULT_ROWS)
    assert_is_adult(*load_uci("adult"))


@pytest.mark.filterwarnings("ignore:A network error occurred")
def test_without_a_network(monkeypatch, cache):
    with openml_server(monkeypatch):
        pass  # and it is gone
    hurried = SimpleNamespace(sleep=lambda seconds: None)
    monkeypatch.setattr("sklearn.datasets._openml.time", hurried)
    with pytest.raises(
        OSError, match=r"could not be loaded .* put adult\.csv\.gz into"
    ):
        load_uci("adult")
    assert list(cache.iterdir()) == []


def test_what_cannot_be_saved_leaves_nothing_behind(monkeypatch, adult, cache):
    def fail(*_, **__):
        assert list(cache.iterdir())
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match=r"be written \(No space"):
        load_uci("adult")
    assert list(cache.iterdir()) == []


def test_a_folder_that_cannot_be_made(adult, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"adult cannot be saved in .*file.* data_home"):
        load_uci("adult", data_home=tmp_path / "file")
    assert not adult.asked


# -------------------------------------------------------------------------- real data


@pytest.mark.parametrize("name", HERE or [pytest.param("none", marks=needs_data)])
def test_files_are_those_of_the_catalogue(name):
    entry = UCI_CATALOGUE[name]
    X, y, groups = load_uci(name, data_home=DATA, return_groups=True)
    assert X.shape == (entry.rows, len(entry.columns))
    assert len(y) == entry.rows
    assert tuple(X.select_dtypes("category")) == entry.categorical
    assert (groups is None) == (name != "parkinsons")


@needs_data
def test_groups_are_the_subjects_of_the_recordings():
    path = Path(DATA) / "parkinsons.groups.csv"
    if not path.exists():
        pytest.skip("no parkinsons.groups.csv")
    *_, groups = load_uci("parkinsons", data_home=DATA, return_groups=True)
    assert groups.tolist() == pd.read_csv(path)["subject"].tolist()
