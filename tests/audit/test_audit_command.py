"""splboost audit: files in, page and decisions out, and the file put right."""

import csv
import gzip
import io
import json
import os
import re
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer", reason="needs the extra cli")
from fuzz.commands import call, run, text_of
from review_page import HOSTILE
from splboost import cli
from splboost._tools.compiling import notice
from splboost.audit.decisions import digest_row
from splboost.audit.label_audit import LabelAudit
from splboost.audit.table_files import read_file

N_ROWS = 150
FLIPPED = [7, 20, 33, 48, 61, 77, 90, 104, 119, 140]
HEAD = "row,id,given,decision,new_label\n"
PROVEN = "row,id,given,decision,new_label,id_column,digest,format\n"


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")


def audit(path, *options, code=0):
    return call(path, "--target", "rich", "--quick", "--jobs", 1, *options, code=code)


def people(n=N_ROWS):
    """Who is rich has a high income or owns a house; ten labels are wrong."""
    rng = np.random.default_rng(0)
    income = np.round(rng.normal(40, 10, n), 1)
    home = rng.choice(["own", "rent", ""], n, p=[0.3, 0.6, 0.1])
    rich = np.where((income > 45) | (home == "own"), "yes", "no")
    for row in FLIPPED:
        if row < n:
            rich[row] = "no" if rich[row] == "yes" else "yes"
    return [
        {
            "name": f"person {row}",
            "income": str(income[row]),
            "home": str(home[row]),
            "shoe": str(36 + row % 10),
            "country": "here",
            "rich": str(rich[row]),
        }
        for row in range(n)
    ]


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(text_of(people()))
    return path


def table_in(path):
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


# ------------------------------------------------------------------------- what it says


def test_audit_writes_a_list_a_page_and_a_summary(data, tmp_path):
    said = audit(data)
    folder = tmp_path / "people-audit"
    names = {path.name for path in folder.iterdir()}
    assert names == {"suspects.csv", "review.html", "summary.json"}
    assert "people.csv: 150 rows" in said
    assert "numbers: income, shoe" in said
    assert "categories: home" in said
    assert "left out: rich (the labels)" in said
    assert "left out: name (too many different values to be categories)" in said
    assert "left out: country (the same in all rows)" in said
    assert "150 labels, of which about" in said
    assert f"Review them: {folder / 'review.html'}" in said
    assert f"As a table: {folder / 'suspects.csv'}" in said
    assert "look like yes" in said
    assert "in similar rows that are" in said

    suspects = table_in(folder / "suspects.csv")
    assert list(suspects[0]) == [
        *HEAD.strip().split(","),
        *("chance_wrong", "label_quality", "because", "id_column", "digest", "format"),
        *("income", "home", "shoe"),
    ]
    rows = [int(each["row"]) for each in suspects]
    assert len(set(rows) & set(FLIPPED)) > 0.7 * len(rows) > 4
    given = people()
    for each in suspects:
        own = given[int(each["row"])]
        assert each["given"] == own["rich"]
        assert each["new_label"] != own["rich"]
        assert each["decision"] == each["id"] == ""
        for name in ("income", "home", "shoe"):
            assert each[name] == own[name]
    chances = [float(each["chance_wrong"]) for each in suspects]
    assert chances == sorted(chances, reverse=True)
    assert min(chances) > 0.5
    assert "income is" in suspects[0]["because"] or "home is" in suspects[0]["because"]

    summary = json.loads((folder / "summary.json").read_text())
    assert summary["n_rows"] == 150
    assert summary["n_suspects"] == len(suspects)
    assert summary["classes"] == ["no", "yes"]
    assert summary["name"] == "people.csv"
    assert summary["target"] == "rich"
    assert np.sum(summary["confusion"]) == len(suspects)
    assert summary["expected_precision"] == pytest.approx(np.mean(chances), abs=1e-3)
    assert 0 < summary["noise_rate"] < 0.2
    assert summary["page"] == str(folder / "review.html")

    page = (folder / "review.html").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert "people.csv" in page


def test_json_alone_is_printed_to_stdout(data, tmp_path, monkeypatch, capfd):
    options = ["--target", "rich", "--quick", "--json", "--top", "3", "--jobs", "1"]
    monkeypatch.setattr(sys, "argv", ["splboost", "audit", str(data), *options])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code in (0, None)
    done = capfd.readouterr()
    found = json.loads(done.out)
    assert found["n_suspects"] == 3
    assert json.loads((tmp_path / "people-audit/summary.json").read_text()) == found
    assert "150 rows" in done.err
    assert audit(data, "--quiet") == ""


def test_clean_data_have_no_suspects_and_that_is_said(tmp_path):
    rows = [{"a": str(3 * k), "rich": ["no", "yes"][k > 40]} for k in range(80)]
    path = tmp_path / "plain.csv"
    path.write_text(text_of(rows))
    said = audit(path)
    assert "No label is suspect." in said
    assert "The worst" not in said
    assert "Review them" not in said
    assert f"How well labels fit their rows: {tmp_path / 'plain-audit'}" in said
    summary = json.loads((tmp_path / "plain-audit/summary.json").read_text())
    assert summary["expected_precision"] is None
    assert table_in(tmp_path / "plain-audit/suspects.csv") == []


def test_default_audit_is_by_the_forest(data, monkeypatch):
    seen = []

    def fit(self, X, y, **options):
        seen.append(self.get_params())
        raise ValueError("enough")

    monkeypatch.setattr(LabelAudit, "fit", fit)
    call(data, "--target", "rich", "--jobs", 2, "--seed", 5, "--top", 3, code=2)
    call(data, "--target", "rich", "--quick", "--quiet", "--precision", 0.8, code=2)
    first, second = seen
    assert first["estimator"] is None
    assert not first["quick"]
    assert second["quick"]
    assert (first["top"], second["precision"]) == (3, 0.8)
    assert (first["n_jobs"], first["random_state"]) == (2, 5)
    assert (first["verbose"], second["verbose"]) == (1, 0)


# ------------------------------------------------------------------ which columns count


def fitted_frames(monkeypatch):
    """What the audit is fitted to, while it is fitted as ever."""
    seen = []
    fit = LabelAudit.fit

    def spy(self, X, y, **options):
        seen.append(SimpleNamespace(X=X, y=y, **options))
        return fit(self, X, y, **options)

    monkeypatch.setattr(LabelAudit, "fit", spy)
    return seen


def test_id_is_shown_and_not_judged_by(data, tmp_path, monkeypatch):
    seen = fitted_frames(monkeypatch)
    rows = [{**row, "a,b": row["shoe"], "x": row["shoe"]} for row in people()]
    data.write_text(text_of(rows))
    options = "--id", "name", "--ignore", "country, home", "--categorical", "shoe"
    said = audit(data, *options, "--ignore", "a,b", "--ignore", "x", "--top", 25)
    assert "left out: name (--id)" in said and "left out: home (--ignore)" in said
    assert "left out: a,b (--ignore)" in said and "left out: x (--ignore)" in said
    assert seen[0].X.dtypes.astype(str).to_dict() == {
        "income": "float64",
        "shoe": "category",
    }
    suspects = table_in(tmp_path / "people-audit/suspects.csv")
    assert all(each["id"] == f"person {each['row']}" for each in suspects)
    shown = re.findall(r"person \d+", said)
    assert shown == [each["id"] for each in suspects[:10]]
    assert re.search(r"row\W+id\W+label", said)
    for none in ([], ["--id", "empty"]):
        data.write_text(text_of([{**row, "empty": ""} for row in people()]))
        assert re.search(r"row\W+label", audit(data, *none))


def test_groups(tmp_path, monkeypatch):
    rows = people()
    for row, each in enumerate(rows):
        each["rich"] += " and so on" * 500
        each["family"] = "" if row < 20 else f"F{row // 3}"
    path = tmp_path / "families.csv"
    path.write_text(text_of(rows))
    seen = fitted_frames(monkeypatch)
    said = audit(path, "--groups", "family")
    assert "left out: family (--groups)" in said
    assert len(said) < 10_000 and "yes and so on" in said  # nothing floods it
    assert "family" not in seen[0].X.columns
    groups = seen[0].groups
    assert len(set(groups[:20])) == 20  # who belongs to none is on their own
    assert groups[30] == groups[31] == groups[32] != groups[33]


def test_neither_library_is_an_error(data, installed):
    installed.clear()
    assert "needs pandas or polars; install one" in audit(data, code=1)


@pytest.mark.parametrize(
    "kind, library",
    [
        ("csv.gz", "polars"),
        ("parquet", "pandas"),
        ("semicolons", "pandas"),
        ("no ending", "polars"),
    ],
)
def test_kinds_of_files(tmp_path, installed, kind, library):
    installed.difference_update({"pandas", "polars"} - {library})
    rows = people()
    if kind == "csv.gz":
        path = tmp_path / "people.2024.csv.gz"
        path.write_bytes(gzip.compress(text_of(rows).encode()))
    elif kind == "parquet":
        path = tmp_path / "people.2024.parquet"
        frame = pd.DataFrame(rows)
        frame["income"] = frame["income"].astype(float)
        frame["home"] = frame["home"].replace({"": None})
        frame.to_parquet(path)
    elif kind == "semicolons":
        path = tmp_path / "people.2024.txt"
        for row in rows:
            row["income"] = row["income"].replace(".", ",")
        path.write_text(text_of(rows, delimiter=";"))
    else:
        path = tmp_path / "people"
        path.write_text(text_of(rows))
    name = "people" if kind == "no ending" else "people.2024"
    said = audit(path)
    assert "numbers: income" in said
    suspects = table_in(tmp_path / f"{name}-audit/suspects.csv")
    assert len({int(each["row"]) for each in suspects} & set(FLIPPED)) > 4
    page = (tmp_path / f"{name}-audit/review.html").read_text("utf-8")
    assert ('"source":null' in page) == (kind == "parquet")

    flip = suspects[0]
    decisions = decide(path, suspects, ["flip"])
    said = call("apply", path, decisions, "--target", "rich")
    ending = path.name.removeprefix(name)
    cleaned = tmp_path / f"{name}-cleaned{ending}"
    assert f"{cleaned}: 1 label changed, 0 rows dropped, 0 kept" in said
    rows[int(flip["row"])]["rich"] = flip["new_label"]
    if kind == "parquet":
        assert pd.read_parquet(cleaned)["rich"].tolist() == [r["rich"] for r in rows]
    else:
        content = cleaned.read_bytes()
        content = gzip.decompress(content) if kind == "csv.gz" else content
        separator = ";" if kind == "semicolons" else ","
        assert content.decode() == text_of(rows, delimiter=separator)


@pytest.mark.parametrize(
    "spelling, classes",
    [
        ({"no": "2.0", "yes": "10"}, ["2", "10"]),
        ({"no": "1e20", "yes": "3"}, ["1e+20", "3"]),
        ({"no": "False", "yes": "True"}, ["False", "True"]),
        ({"no": " No", "yes": "Yes "}, ["No", "Yes"]),
    ],
)
def test_labels_of_any_kind_and_back(tmp_path, spelling, classes):
    rows = people()
    for row in rows:
        row["rich"] = spelling[row["rich"]]
    path = tmp_path / "people.csv"
    path.write_text(text_of(rows))
    has_blanks = " No" in spelling["no"]
    assert ("without the blanks around some" in audit(path)) == has_blanks
    summary = json.loads((tmp_path / "people-audit/summary.json").read_text())
    assert summary["classes"] == classes
    listed = (tmp_path / "people-audit/suspects.csv").read_text()
    first = table_in(tmp_path / "people-audit/suspects.csv")[0]
    assert {first["given"], first["new_label"]} == set(classes)
    filled = listed.replace(f"{first['given']},,", f"{first['given']},flip,", 1)
    (tmp_path / "filled.csv").write_text(filled)
    call("apply", path, "filled.csv", "--target", "rich")
    own = rows[int(first["row"])]
    own["rich"] = next(text for text in spelling.values() if text != own["rich"])
    assert table_in(tmp_path / "people-cleaned.csv") == rows
    audit(path, "--reviewed", "filled.csv")


# ------------------------------------------------------------------------ review rounds


def decide(data, suspects, kinds, force=False):
    """Decisions on the first suspects, as the page saves them."""
    file = read_file(data, force=force)
    lines = [
        f"{each['row']},,{each['given']},{kind},"
        f"{each['new_label'] if kind in ('flip', 'Flip') else ''},,"
        f"{digest_row(file, int(each['row']))},1\n"
        for each, kind in zip(suspects, kinds, strict=False)
    ]
    path = data.with_name("decisions.csv")
    path.write_text(PROVEN + "".join(lines))
    return path


def test_reviewed_labels_are_trusted_next_time(data, tmp_path, monkeypatch):
    audit(data)
    suspects = table_in(tmp_path / "people-audit/suspects.csv")
    page = tmp_path / "people-audit/review.html"
    assert '"source":null' not in page.read_text("utf-8")
    decisions = decide(data, suspects, ["flip", "drop", "keep", "drop"])
    seen = fitted_frames(monkeypatch)
    audit(data, "--reviewed", decisions, "--top", 30)
    rows = [int(each["row"]) for each in suspects]
    left = [row for row in range(N_ROWS) if row not in (rows[1], rows[3])]
    assert len(seen[0].X) == len(seen[0].y) == N_ROWS - 2
    assert [left[k] for k in np.flatnonzero(seen[0].trusted)] == sorted(
        [rows[0], rows[2]]
    )
    labels = {row: each["rich"] for row, each in enumerate(people())}
    labels[rows[0]] = suspects[0]["new_label"]
    assert seen[0].y.tolist() == [labels[row] for row in left]
    assert seen[0].original.tolist() == [people()[row]["rich"] for row in left]
    incomes = [float(people()[row]["income"]) for row in left]
    assert seen[0].X["income"].tolist() == incomes

    again = table_in(tmp_path / "people-audit/suspects.csv")
    assert len(again) == 30
    for each in again:  # numbered as in the file, although rows were dropped
        own = people()[int(each["row"])]
        assert each["income"] == own["income"]
        assert each["given"] == own["rich"]
    assert not {int(each["row"]) for each in again} & set(rows[:4])
    summary = json.loads((tmp_path / "people-audit/summary.json").read_text())
    assert summary["n_rows"] == N_ROWS
    # Else the page could save a file without the decisions so far.
    assert '"source":null' in page.read_text("utf-8")


def test_running_numbers_are_left_out(data):
    rows = [
        {"": str(k), "visit": str(700 - k), **row} for k, row in enumerate(people())
    ]
    data.write_text(text_of(rows))
    said = audit(data)
    assert "left out: (a running number)" in said
    assert "numbers: visit," in said  # for it does not rise


def test_warnings_are_sentences(data, monkeypatch):
    def fit(self, *given, fit=LabelAudit.fit, **named):
        for number in (665, 648):
            warnings.warn(f"Columns with {number} categories.", stacklevel=2)
            warnings.warn(f"Many categories: x{number}.", stacklevel=2)
        return fit(self, *given, **named)

    monkeypatch.setattr(LabelAudit, "fit", fit)
    said = audit(data)
    assert "Note: Columns with 665 categories." in said and "648 cat" not in said
    assert "x665" in said and "x648" in said
    assert "UserWarning" not in said
    assert audit(data, "--quiet") == ""


def test_apply_writes_what_was_decided(data, tmp_path):
    rows = people()
    flipped = "no" if rows[7]["rich"] == "yes" else "yes"
    suspects = [
        {"row": row, "given": rows[row]["rich"], "new_label": flipped}
        for row in (7, 9, 20)
    ]
    decisions = decide(data, suspects, ["Flip", " KEEP ", "drop"])
    other = tmp_path / "more.json"
    more = {"row": 30, "given": rows[30]["rich"], "decision": "drop"}
    more["digest"] = digest_row(read_file(data), 30)
    other.write_text(json.dumps({"format": "1", "decisions": [more]}))
    out = tmp_path / "new folder/cleaned.csv"
    said = call("apply", data, decisions, other, "--target", "rich", "--out", out)
    assert "1 label changed, 2 rows dropped, 1 kept" in said
    rows[7]["rich"] = flipped
    assert out.read_text() == text_of(rows[:20] + rows[21:30] + rows[31:])
    assert data.read_text() == text_of(people())
    assert call("apply", data, decisions, "--target", "rich", "--quiet") == ""
    assert (tmp_path / "people-cleaned.csv").exists()


def test_suspects_filled_in_by_hand_can_be_applied(data, tmp_path):
    """Also when a column of the data is called like one of the list."""
    rows = people()
    for k, row in enumerate(rows):
        row["row"], row["given"] = str(k % 7), ["no", "yes"][k % 2]
        row["decision"] = ["keep", "drop"][k % 3 == 0]
    data.write_text(text_of(rows))
    audit(data)
    path = tmp_path / "people-audit/suspects.csv"
    said = call("apply", data, path, "--target", "rich", code=2)
    assert f"There are no decisions in {path}; fill in the column decision" in said
    lines = list(csv.reader(io.StringIO(path.read_text("utf-8-sig"), newline="")))
    assert "row (data)" in lines[0] and "decision (data)" in lines[0]
    for line, decision in zip(lines[1:], ["flip", "", "drop"], strict=False):
        line[3] = decision
    stream = io.StringIO()
    csv.writer(stream, delimiter=";").writerows(lines)
    path.write_text(stream.getvalue())
    said = call("apply", data, path, "--target", "rich")
    assert "1 label changed, 1 row dropped, 0 kept" in said
    rows[int(lines[1][0])]["rich"] = lines[1][4]
    del rows[int(lines[3][0])]
    assert (tmp_path / "people-cleaned.csv").read_text() == text_of(rows)

    filled_in = path.read_bytes()
    slip = filled_in.replace(b";flip;", b";flipp;").replace(b"row;id", b"line;id")
    for content, *options in (
        (filled_in, "--reviewed", path),
        (filled_in, "--force"),
        (slip,),
    ):
        path.write_bytes(content)
        said = audit(data, *options, code=2)
        assert "suspects.csv has changed since an audit wrote it" in said
        assert path.read_bytes() == content
    path.write_bytes(filled_in)
    summary = tmp_path / "people-audit/summary.json"
    text = summary.read_text()
    for content in (text[:-9], None):
        summary.write_text(content) if content else summary.unlink()
        said = audit(data, "--force", code=2)
        assert (
            "suspects.csv may have changed since an audit wrote it: no summary.json "
            "beside it can be read that would tell; give --out another folder, or move "
            "it." in said
        )
        assert path.read_bytes() == filled_in


def test_no_cell_is_a_formula_to_a_spreadsheet(data, tmp_path):
    rows = people()
    for row in rows:
        row["rich"] = {"yes": "=1+1", "no": "-x"}[row["rich"]]
        row["income"] = f"-{row['income']}"
    data.write_text(text_of(rows))
    audit(data)
    suspects = table_in(tmp_path / "people-audit/suspects.csv")
    assert {each["given"] for each in suspects} <= {"'=1+1", "'-x"}
    assert all(each["income"].startswith("-") for each in suspects)
    decisions = decide(data, suspects, ["flip"])
    call("apply", data, decisions, "--target", "rich")
    changed = table_in(tmp_path / "people-cleaned.csv")[int(suspects[0]["row"])]["rich"]
    assert changed == suspects[0]["new_label"][1:]


# ------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    "options, said",
    [
        (["--target", "wealth"], "people.csv has no column 'wealth', which --target"),
        (
            ["--target", "Rihc"],
            r"--target names; is it 'rich'\? Its columns are 'name'",
        ),
        (["--target", "rich", "--ignore", "x"], "'x', which --ignore names"),
        (["--target", "rich", "--groups", "x"], "'x', which --groups names"),
        (["--target", "rich", "--categorical", "x"], "'x', which --categorical names"),
        (["--target", "country"], "all labels in 'country' are 'here'; .* two classes"),
        (["--target", "name"], "'name' has 150 different values; an audit needs a"),
        (
            ["--target", "income"],
            "'income' has .* different numbers, from .* to .*, and looks like a "
            ".*--categorical income",
        ),
        (
            ["--target", "rich", "--ignore", "income,home,shoe"],
            "no column to judge .* 'country': the same in all rows.",
        ),
        (["--target", "rich", "--reviewed", "x.csv"], "x.csv does not exist; save"),
    ],
)
def test_errors_name_file_column_and_remedy(data, options, said):
    done = run("audit", data, "--quick", *options)
    assert done.exit_code == 2
    assert re.search(f"Error: .*{said}", done.output)
    assert "Traceback" not in done.output
    assert len(done.output.strip().splitlines()) == 1
    assert not (data.parent / "people-audit").exists()


@pytest.mark.parametrize(
    "content, said",
    [
        ("rich,a\nyes,1\nno,2\n", "bad.csv has 2 rows; an audit needs at least 20"),
        ("rich\n" + "yes\nno\n" * 20, "no column to judge the labels by"),
    ],
)
def test_files_that_will_not_do(tmp_path, content, said):
    path = tmp_path / "bad.csv"
    path.write_text(content)
    assert said in audit(path, code=2)


@pytest.mark.parametrize(
    "options, said",
    [
        (["--top", 3, "--precision", 0.9], "precision=0.9 and top=3 both say how many"),
        (["--precision", 90], "'--precision'"),
        (["--precision", 0], "'precision' parameter"),
        (["--top", 0], "--top"),
        (["--seed", 2**32], "--seed"),
        (["--jobs", 0], "n_jobs=0 has no meaning; give the number of threads"),
        (["--jobs", -7], "'--jobs'"),
        (["--out", ""], "'--out': the path is empty; give one."),
        (["--id", "rich"], "--id names 'rich', the labels of --target"),
        (["--groups", "rich"], "--groups names 'rich'"),
        (["--ignore", "home,rich"], "--ignore names 'rich'"),
        (["--colour", "red"], "--colour"),
    ],
)
def test_options_that_will_not_do(data, options, said):
    assert said in audit(data, *options, code=2)


@pytest.mark.parametrize("n_distinct", [25, 150])
def test_measured_target_with_an_odd_cell_is_no_class(data, n_distinct):
    rows = people()
    for k, row in enumerate(rows):
        row["rich"] = f"{k % n_distinct}.5"
    rows[5]["rich"] = "n/k"
    data.write_text(text_of(rows))
    said = audit(data, code=2)
    assert (
        f"'rich' has {n_distinct - (n_distinct == 150)} different numbers, from" in said
    )
    assert "looks like a measurement, but for 'n/k' in row 5; an audit needs" in said
    assert "If these are classes, give --categorical rich." in said
    said = audit(data, "--categorical", "rich", code=2 * (n_distinct > 100))
    assert ("needs a column of up to 100 classes" in said) == (n_distinct > 100)
    for k in range(0, 150, 4):  # texts of which some look like numbers
        rows[k]["rich"] = f"c{k % 8}"
    data.write_text(text_of(rows))
    assert "looks like a measurement" not in audit(data, code=2 * (n_distinct > 100))


def test_quote_that_is_not_closed_in_the_data(data, tmp_path):
    text = text_of(people())
    lines = text.splitlines(keepends=True)
    lines[6], lines[10] = f'"{lines[6]}', f'"{lines[10]}'
    data.write_text("".join(lines))
    decisions = decide(data, [{"row": 0, "given": people()[0]["rich"]}], ["drop"], True)
    for done in (
        run("audit", data, "--target", "rich", "--quick"),
        run("audit", "apply", data, decisions, "--target", "rich"),
    ):
        assert done.exit_code == 2
        assert (
            "people.csv: a cell in quotes goes from line 7 to line 11, and holds what "
            "could be rows. Close the quote; or if the cell has these lines, use --for"
        ) in done.output
    assert {path.name for path in tmp_path.iterdir()} == {"people.csv", "decisions.csv"}
    audit(data, "--force")
    call("apply", data, decisions, "--target", "rich", "--force")
    cleaned = (tmp_path / "people-cleaned.csv").read_text()
    assert cleaned == "".join([lines[0], *lines[2:]])


@pytest.mark.parametrize("out", ["people.csv", "people.csv/x/y", "people-audit"])
def test_folder_that_cannot_be_is_refused_before_the_audit(data, monkeypatch, out):
    monkeypatch.setattr(LabelAudit, "fit", None)
    (data.parent / "people-audit").write_text("a file of this name")
    options = [] if out == "people-audit" else ["--out", out]
    said = audit(data, *options, code=2)
    assert f"{out} cannot be a folder (" in said
    assert "; give --out another place" in said
    decided = data.parent / "decisions.csv"
    decided.write_text(HEAD + f"0,,{people()[0]['rich']},drop,\n")
    clean = "apply", data, decided, "--target", "rich", "--force", "--out"
    said = call(*clean, "new/people.xlsx", code=2)
    assert "is CSV, and is written as CSV; give --out an ending" in said
    assert not (data.parent / "new").exists()
    assert "cannot be a folder (" in call(*clean, "people.csv/x.csv", code=2)
    assert "is a folder; give the name of a file" in call(*clean, ".", code=2)


def test_folder_that_may_not_be_written_into(data, monkeypatch):
    monkeypatch.setattr(LabelAudit, "fit", None)
    monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK)
    assert "cannot be written into; give --out another place" in audit(data, code=2)


def test_audit_of_another_file_is_not_written_over(data, tmp_path):
    audit(data)
    page = (tmp_path / "people-audit/review.html").read_bytes()
    packed = tmp_path / "people.csv.gz"
    packed.write_bytes(gzip.compress(data.read_bytes()))
    said = audit(packed, code=2)
    assert "people-audit has the audit of 'rich' in ../people.csv; give" in said
    assert (tmp_path / "people-audit/review.html").read_bytes() == page
    audit(packed, "--out", "packed")
    audit(packed, "--out", "packed")
    audit(data)
    namesake = tmp_path / "more" / "people.csv"
    namesake.parent.mkdir()
    namesake.write_bytes(data.read_bytes())
    said = audit(namesake, "--out", tmp_path / "people-audit", code=2)
    assert "has the audit of 'rich' in ../people.csv; give" in said
    said = call(data, "--target", "home", "--quick", code=2)
    assert "has the audit of 'rich' in ../people.csv; give" in said
    assert "no column 'homes'" in call(data, "--target", "homes", "--quick", code=2)


def test_apply_refuses_what_does_not_fit(data, tmp_path):
    given = people()[0]["rich"]
    path = decide(data, [{"row": 0, "given": given}], ["drop"])
    text, link = path.read_text(), tmp_path / "link.csv"
    link.hardlink_to(data)
    for out in (data, path, link):
        said = call("apply", data, path, "--target", "rich", "--out", out, code=2)
        assert "is one of the inputs; give another name" in said
    assert path.read_text() == text
    assert data.read_text() == text_of(people())
    said = call("apply", data, path, "--target", "wealth", code=2)
    assert "no column 'wealth', which --target names" in said
    other = "no" if given == "yes" else "yes"
    path.write_text(HEAD + f"0,,{other},keep,\n")
    assert "Row 0 of" in audit(data, "--reviewed", path, "--force", code=2)
    said = call("apply", data, path, "--target", "rich", "--force", code=2)
    assert "Row 0 of" in said and not (tmp_path / "people-cleaned.csv").exists()


def test_help(data):
    said = call("--help")
    assert " audit [OPTIONS] " in said
    assert "splboost audit apply" in said
    for option in (
        *("--target", "--id", "--ignore", "--categorical", "--groups", "--top"),
        *("--precision", "--reviewed", "--out", "--quick", "--seed", "--jobs"),
        *("--json", "--quiet", "--force", "--encoding"),
    ):
        assert option in said
    assert call() == call("--help")
    said = call("apply", "--help")
    assert "nothing else changes" in said
    assert " audit apply [OPTIONS] " in said
    assert "--top" not in said
    said = call(data, code=2)
    assert "Missing option '--target'" in said
    assert "audit run" not in said
    assert "audit" in run("--help").output


def test_faults_of_labels_name_file_and_column(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("a,label\n" + "".join(f"{k % 7},c{k}\n" for k in range(30)))
    said = call(path, "--target", "label", "--quick", code=2)
    assert "people.csv, where y is 'label': y has one row of each class only" in said
    assert not (tmp_path / "people-audit").exists()


def test_quiet_is_quiet_while_kernels_are_compiled(data, monkeypatch):
    for option, is_due in (("--quiet", False), ("--json", True)):
        monkeypatch.setattr("splboost._tools.compiling.notice.is_due", True)
        audit(data, option, "--out", "x")
        assert notice.is_due == is_due


@pytest.mark.parametrize("odd", ["12,5 thousand", "inf", "1_000", None])
def test_cell_that_keeps_a_column_out_is_named(data, odd):
    rows = people()
    for row in rows[17:18] if odd else rows[::3]:
        row["income"] = odd or f"about {row['income']}"
    rows[16]["income"] = ""
    data.write_text(text_of(rows))
    why = "too many different values to be categories"
    if odd:
        why = f"numbers, but '{odd}' in row 17 is not one;"
    assert f"left out: income ({why}" in audit(data, "--ignore", "name")
    said = audit(data, "--ignore", "home,shoe", code=2)
    assert f"'income': {why}" in said


def test_interrupt_ends_in_a_word(data, monkeypatch):
    def fit(self, X, y, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(LabelAudit, "fit", fit)
    assert audit(data, code=130).endswith("Stopped.")
    assert not (data.parent / "people-audit").exists()

    def fail(*_, **__):
        raise OSError("No space left on device")

    monkeypatch.setattr(LabelAudit, "fit", fail)  # which is nobody's fault
    assert audit(data, code=1).endswith("Error: No space left on device")


# -------------------------------------------------------------------------- any content


def hostile_rows(n=60):
    """Columns whose names and cells are nasty, and tell the labels."""
    nasty = [text.replace("\x00", "").replace("\ud83d", "") for text in HOSTILE]
    nasty += ["[bold]", "[/]", "[/bold]", "[link=x]", ":smile:"]
    nasty += ["\x1b[31mred\x07", "{}", "%s"]
    names = [f"{nasty[k % len(nasty)][:200]} {k}" for k in range(25)]
    labels = ["[/red] <b>no</b>", ":thumbs_up: \x1b[2J </script>yes"]
    rows = []
    for row in range(n):
        high = row % 2
        cells = {name: nasty[(k + high) % len(nasty)] for k, name in enumerate(names)}
        label = labels[high] if row not in (10, 31) else labels[1 - high]
        own = nasty[(row + 2) % len(nasty)]  # row 10 has a very long one
        rows.append({"id]": own, **cells, "label[/]": label})
    return rows


def test_hostile_data_are_text(tmp_path):
    path = tmp_path / "[bold]x[link=y] :smile:.csv"
    text = text_of(hostile_rows())
    path.write_bytes(text.encode())
    options = ["--target", "label[/]", "--id", "id]", "--quick", "--jobs", 1]
    said = run("audit", path, *options, "--top", 3, "--out", "out").output
    assert "[bold]x[link=y] :smile:.csv: 60 rows" in said
    assert "[/bold] 17" in said
    assert ":smile: 19" in said
    assert "left out: label[/] (the labels)" in said
    assert "\x1b" not in said
    assert "\\x1b" in said
    assert "\x07" not in said
    assert "[/red] <b>no</b>" in said
    assert len(said) < 60_000
    assert "many words " * 20 not in said
    assert "x" * 61 not in said.replace("\n", "")

    suspects = table_in(tmp_path / "out/suspects.csv")
    rows = hostile_rows()
    assert {int(each["row"]) for each in suspects} >= {10, 31}
    for each in suspects:
        own = rows[int(each["row"])]
        assert each["id"] == own["id]"]
        assert each["given"] == own["label[/]"].strip()
        for name in list(own)[1:-1]:
            if name in each:
                assert each[name] == own[name]
    page = (tmp_path / "out/review.html").read_text("utf-8")
    assert page.count("<script") == page.count("</script>")
    assert "<script>alert(1)" not in page

    first = suspects[0]
    other = next(row["label[/]"] for row in rows if row["label[/]"] != first["given"])
    fields = {name: first[name] for name in ("row", "given", "digest")}
    decision = {**fields, "decision": "flip", "new_label": other}
    document = {"format": "1", "decisions": [decision]}
    (tmp_path / "d.json").write_text(json.dumps(document))
    call("apply", path, "d.json", "--target", "label[/]", "--out", "clean.csv")
    rows[int(first["row"])]["label[/]"] = other
    assert (tmp_path / "clean.csv").read_bytes() == text_of(rows).encode()


# --------------------------------------------------------------------------- end to end


def test_review_from_file_to_corrected_file(visit, data, tmp_path):
    """Audit, review by keyboard, save, apply: the page and the command agree."""

    def write(rows):
        return "\ufeff" + text_of(rows, delimiter=";").replace("\n", "\r\n")

    rows = people()
    for k, row in enumerate(rows):
        row["home"] = f'"{row["home"]}",\nroom {k % 3}; two'
        row["rich"] = f" {row['rich']}"
    data.write_bytes(write(rows).encode())
    said = audit(data, "--id", "name")
    assert "The page holds the whole file: give it only to those who may see" in said
    folder = tmp_path / "people-audit"
    suspects = table_in(folder / "suspects.csv")
    tab = visit(folder / "review.html")
    assert "holds all of the data: give it only to" in tab.text("#private")
    assert tab.current() == int(suspects[0]["row"])
    tab.press("f f f k d")
    decided = {}
    for button in ("save-csv", "save-json"):
        name, content = tab.save(button)
        (tmp_path / name).write_text(content, newline="")
        call("apply", data, tmp_path / name, "--target", "rich", "--out", "cleaned.csv")
        decided[button] = (tmp_path / "cleaned.csv").read_bytes().decode()
    name, from_page = tab.save("save-clean")
    assert name == "people.cleaned.csv"

    for each in suspects[:3]:
        rows[int(each["row"])]["rich"] = f"<{each['new_label']}>"
    del rows[int(suspects[4]["row"])]
    # A label that starts with a blank is put in quotes where it is written anew.
    expected = re.sub("<(.*)>", r'" \1"', write(rows))
    assert decided["save-csv"] == decided["save-json"] == from_page == expected

    said = audit(data, "--reviewed", tmp_path / "people.decisions.csv", "--id", "name")
    assert "149 labels, of which" in said
    assert "The page holds the suspects' rows: give it only to those who may" in said
    private = visit(folder / "review.html").text("#private")
    assert "holds rows of the data: give it only to those who may see" in private
    again = {each["row"] for each in table_in(folder / "suspects.csv")}
    assert not again & {each["row"] for each in suspects[:5]}


# ----------------------------------------------------------------------- reading tables


def test_checkbox_is_a_column_and_rows_without_a_label_are_skipped(data, tmp_path):
    rows = people()
    for k, row in enumerate(rows):
        row["member"] = "x" if k % 3 else ""
        row["nothing"] = ""
        if k in (3, 50):
            row["rich"] = ["", "NA"][k == 50]
    rows[60]["rich"] = "yse"
    data.write_text(text_of(rows))
    said = audit(data, "--ignore", "country")
    assert "categories: home, member" in said
    assert "left out: nothing (empty)" in said
    assert "skipped: 2 without a label (row 3 is the first)" in said
    assert "148 labels, of which" in said
    assert "have seen the label: row 60." in said  # numbered as in the file
    summary = json.loads((tmp_path / "people-audit/summary.json").read_text())
    assert (summary["n_rows"], summary["n_unlabelled"]) == (150, 2)
    suspects = table_in(tmp_path / "people-audit/suspects.csv")
    for each in suspects:  # numbered as in the file
        assert each["given"] == rows[int(each["row"])]["rich"]
    call("apply", data, decide(data, suspects, ["drop"]), "--target", "rich")
    del rows[int(suspects[0]["row"])]
    assert (tmp_path / "people-cleaned.csv").read_text() == text_of(rows)
    for row in rows:
        row["rich"] = ""
    data.write_text(text_of(rows))
    assert "has 0 rows with a label in 'rich'; an audit needs" in audit(data, code=2)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16-be", "UTF8"])
def test_encoding_is_kept(tmp_path, encoding):
    rows = people()
    for row in rows:
        row["home"] = row["home"].replace("own", "Zürich")
        row["rich"] = {"yes": "Ärzte", "no": "no"}[row["rich"]]
    path, text = tmp_path / "people.csv", text_of(rows)
    content = text.encode(encoding)
    if encoding == "utf-16-be":
        content = b"\xfe\xff" + content
    path.write_bytes(content)
    named = "utf-16" if encoding == "utf-16-be" else encoding
    if named != "UTF8":
        said = audit(path, code=2).replace(", often", "")
        assert f"); give its --encoding {named}, or save it as CSV in UTF-8" in said
    audit(path, "--encoding", named)
    suspects = table_in(tmp_path / "people-audit/suspects.csv")
    assert {each["given"] for each in suspects} <= {"Ärzte", "no"}
    page = (tmp_path / "people-audit/review.html").read_text("utf-8")
    assert ('"source":null' in page) == (named != "UTF8")
    table = pd.read_csv(tmp_path / "people-audit/suspects.csv", dtype=str)
    table.loc[0, "decision"] = "drop"
    table.to_csv("filled.csv", index=False)
    call("apply", path, "filled.csv", "--target", "rich", "--encoding", named)
    del rows[int(suspects[0]["row"])]
    cleaned = (tmp_path / "people-cleaned.csv").read_bytes()
    assert cleaned == content[: len(content) - len(text.encode(encoding))] + (
        text_of(rows).encode(encoding)
    )
    for other in ("latin-7", "base64"):
        said = audit(path, "--encoding", other, code=2)
        assert (
            f"--encoding '{other}' is not an encoding of texts; give one such as"
            in said
        )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PK\x03\x04\x14\x00\x06\x00", "is an Excel workbook (.xlsx) or another ZIP"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "is an old Excel workbook (.xls); open it and"),
        (b"SQLite format 3\x00", "is an SQLite database; export the table as CSV"),
    ],
)
def test_files_of_other_programs_are_recognised(tmp_path, content, said):
    for name in ("people.csv", "people.xlsx", "people.parquet"):
        (tmp_path / name).write_bytes(content + b"\x00" * 100)
        assert said in audit(tmp_path / name, code=2)
