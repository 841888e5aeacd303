"""The cleaned CSV that the review page saves: only lines that must change differ."""

import csv
import io
import random

import pytest

from review_page import CSV_FILES, make_report, put_right
from splboost.audit.decisions import Decision
from splboost.audit.table_files import read_file


def of_source(source, labels, *, classes=("no", "yes"), target="label"):
    """A report on a given CSV, in which every row is suspect."""
    report = make_report(len(labels), classes=classes, n_rows=len(labels))
    report |= {"target": target, "source": source, "contradictions": []}
    for row, (suspect, label) in enumerate(
        zip(report["suspects"], labels, strict=True)
    ):
        suspect |= {"row": row, "given": label, "predicted": (label + 1) % len(classes)}
    return report


@pytest.mark.parametrize("kind", CSV_FILES)
def test_cleaned_csv_differs_where_it_must(visit, kind):
    source, expected = CSV_FILES[kind]
    tab = visit(of_source(source, [0, 1, 0, 0]))
    assert tab.save("save-clean")[1] == source
    tab.press("f k d")
    assert tab.save("save-clean")[1] == expected


def test_labels_that_are_numbers_or_need_quotes(visit):
    tab = visit(of_source("a,label\n1,1.0\n2,2.0\n", [0, 1], classes=("1", "2")))
    tab.press("f")
    assert tab.save("save-clean")[1] == "a,label\n1,2.0\n2,2.0\n"

    classes = ("no", 'yes, "sir"')
    source = 'label;a\nno;1\n"yes, ""sir""";2\n'
    tab = visit(of_source(source, [0, 1], classes=classes))
    tab.press("f f")
    assert tab.save("save-clean")[1] == 'label;a\n"yes, ""sir""";1\n"no";2\n'


def test_labels_that_differ_by_a_capital_alone(visit, tmp_path):
    source = "label,a\n yes,1\nYes,2\nyes,3\n"
    tab = visit(of_source(source, [1, 0, 1], classes=("Yes", "yes")))
    tab.press("f f d")
    expected = 'label,a\nYes,1\n" yes",2\n'
    assert tab.save("save-clean")[1] == expected

    (tmp_path / "data.csv").write_text(source)
    decisions = [
        Decision(0, "yes", "flip", "Yes"),
        Decision(1, "Yes", "flip", "yes"),
        Decision(2, "yes", "drop", None),
    ]
    path = tmp_path / "cleaned.csv"
    put_right(read_file(tmp_path / "data.csv"), "label", decisions, path)
    assert path.read_text() == expected


def test_cleaned_csv_of_wild_cells(visit):
    draw = random.Random(7)
    wild = ["", "x", '"', "a,b;c|d\te", "two\nlines", "\r\n", "é👍", "no", " y ", '""']
    labels = [draw.randrange(2) for _ in range(24)]
    classes = ('n"o', "yes;,\t|")
    table = [[draw.choice(wild), classes[label], draw.choice(wild)] for label in labels]
    source = io.StringIO()
    writer = csv.writer(source, delimiter="|", lineterminator="\r\n")
    writer.writerows([["a", "label", "b"], *table])
    tab = visit(of_source(source.getvalue(), labels, classes=classes))
    keys = [draw.choice(["f", "d", "k", "n"]) for _ in labels[1:]]
    tab.press(" ".join(keys))
    expected = []
    for (first, label, last), key in zip(table, [*keys, "n"], strict=True):
        if key == "f":
            label = classes[1 - classes.index(label)]
        if key != "d":
            expected.append([first, label, last])
    cleaned = io.StringIO(tab.save("save-clean")[1], newline="")
    assert list(csv.reader(cleaned, delimiter="|"))[1:] == expected


@pytest.mark.parametrize(
    "source, why",
    [
        ("a,label\n1,no\n2,no\n3,no\n4,no\n", "row 1 of the file is not labelled yes"),
        ("a,label\n1,no\n2,yes\n", "row 2 of the file is not labelled no"),
        ("a,other\n1,no\n2,yes\n3,no\n4,no\n", "the file has no column named label"),
        ("a,label\n\n1,no\n2,yes\n3,no\n", "the file has 3 rows, the audit 5"),
    ],
)
def test_source_that_does_not_fit_is_never_changed(visit, source, why):
    report = of_source(source, [0, 1, 0, 0])
    report["n_rows"] = 5
    tab = visit(report)
    tab.press("f")
    tab.page.click("#open-files")
    tab.page.click("#save-clean")
    assert f"Not saved: {why}. Use splboost audit apply" in tab.text("#files-said")


def test_page_without_the_source_names_the_command(visit):
    tab = visit({**make_report(), "source": None})
    tab.page.click("#open-files")
    assert tab.page.locator("#save-clean").is_disabled()
    assert "splboost audit apply" in tab.text("#clean-note")
    tab.press("Escape f")
    assert tab.save("save-csv")[1].splitlines()[1].startswith("0,A-0,no,flip,yes")
