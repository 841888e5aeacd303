"""The cleaned CSV that the review page saves: only lines that must change differ."""

import csv
import io
import random

import pytest

from review_page import make_report, put_right
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


CSV_FILES = {
    "plain": ("a,label\n1,no\n2,yes\n3,no\n4,no\n", "a,label\n1,yes\n2,yes\n4,no\n"),
    "CRLF": (
        "a,label\r\n1,no\r\n2,yes\r\n3,no\r\n4,no\r\n",
        "a,label\r\n1,yes\r\n2,yes\r\n4,no\r\n",
    ),
    "BOM": (
        "\ufefflabel,a\nno,1\nyes,2\nno,3\nno,4",
        "\ufefflabel,a\nyes,1\nyes,2\nno,4",
    ),
    "semicolon": (
        "a;b,c;label\n1,5;x;no\n2;y;yes\n3;z;no\n4;;no\n",
        "a;b,c;label\n1,5;x;yes\n2;y;yes\n4;;no\n",
    ),
    "tab": (
        "a\tlabel\tb\n1\tno\tx\n2\tyes\ty\n3\tno\tz\n4\tno\t\n",
        "a\tlabel\tb\n1\tyes\tx\n2\tyes\ty\n4\tno\t\n",
    ),
    "quotes": (
        'a,"label"\n"1,""no""\n,",no\n2,"yes"\n"3\r\n\r\n",no\n5",no\n',
        'a,"label"\n"1,""no""\n,",yes\n2,"yes"\n5",no\n',
    ),
    "quoted labels": (
        '"label","a"\n"no","1"\n"yes","2"\n"no","3"\n"no","4"\n',
        '"label","a"\n"yes","1"\n"yes","2"\n"no","4"\n',
    ),
    "blank lines": (
        "a,label\n\n1,no\n2,yes\n\n3,no\n4,no\n\n",
        "a,label\n\n1,yes\n2,yes\n\n4,no\n\n",
    ),
    "lines of spaces": (
        ' \t\na,label\n  \n1,no\n2,yes\n" "\n3,no\n4,no\n   ',
        ' \t\na,label\n  \n1,yes\n2,yes\n" "\n4,no\n   ',
    ),
    "own spelling": (
        "a,label\n1,NO\n2, Yes\n3,no\n4,no\n",
        'a,label\n1," Yes"\n2, Yes\n4,no\n',
    ),
    "name in a cell": (
        "b,label,a\nlabel,no,1\nno,yes,2\n,no,3\nyes,no,4\n",
        "b,label,a\nlabel,yes,1\nno,yes,2\nyes,no,4\n",
    ),
}


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


@pytest.mark.parametrize("dialect", [",", "|"])
def test_cleaned_csv_of_wild_cells(visit, dialect):
    draw = random.Random(7)
    wild = ["", "x", '"', "a,b;c|d\te", "two\nlines", "\r\n", "é👍", "no", " y ", '""']
    labels = [draw.randrange(2) for _ in range(24)]
    classes = ('n"o', "yes;,\t|")
    table = [[draw.choice(wild), classes[label], draw.choice(wild)] for label in labels]
    source = io.StringIO()
    writer = csv.writer(source, delimiter=dialect, lineterminator="\r\n")
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
    assert list(csv.reader(cleaned, delimiter=dialect))[1:] == expected


@pytest.mark.parametrize(
    "source, why",
    [
        ("a,label\n1,no\n2,no\n3,no\n4,no\n", "row 1 of the file is not labelled yes"),
        ("a,label\n1,no\n2,yes\n", "row 2 of the file is not labelled no"),
        ("a,other\n1,no\n2,yes\n3,no\n4,no\n", "the file has no column named label"),
        ("a,label\n\n1,no\n2,yes\n3,no\n", "the file has 3 rows, the audit 5"),
        ("", "the file has no column named label"),
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
