"""What an audit of a file has found, as the review page takes it."""

import json

import numpy as np
import pytest

from splboost.audit import page as module
from splboost.audit.label_audit import LabelAudit
from splboost.audit.page import make_report, say, write_page
from splboost.audit.reasons import Reason
from splboost.audit.table_files import labels_of, make_table, read_file


def write_table(path, n=120):
    rng = np.random.default_rng(0)
    size = np.round(rng.normal(size=n), 3)
    kind = rng.choice(["x", "y", "z"], n)
    label = np.where(size > 0, np.where(kind == "x", "big x", "big"), "small")
    label[::12] = "small"
    for row, other in ((5, "big"), (6, "small")):
        size[row], kind[row], label[row] = size[4], kind[4], other
    lines = [f"{size[k]},{kind[k]},n{k},{label[k]}" for k in range(n)]
    path.write_text("size,kind,id,label\n" + "\n".join(lines) + "\n")
    return read_file(path)


def reported(file, *, rows=None, **options):
    features = ["size", "kind"]
    rows = list(range(file.n_rows)) if rows is None else rows
    X = make_table(file, features).iloc[rows]
    y = np.array(labels_of(file, "label"))[rows]
    audit = LabelAudit(quick=True, random_state=0, n_jobs=1, **options).fit(X, y)
    ids = file.columns["id"].cells
    return make_report(audit, file, "label", features, ids=ids, rows=rows), audit


@pytest.fixture
def file(tmp_path):
    return write_table(tmp_path / "some.csv")


def test_report_says_what_the_audit_found(file):
    report, audit = reported(file, top=15)
    issues, labels = audit.issues_, labels_of(file, "label")
    classes = report["classes"]
    assert classes == ["big", "big x", "small"]
    assert report["n_rows"] == file.n_rows == 120
    assert report["source"] == file.text
    assert (report["name"], report["target"]) == ("some.csv", "label")
    assert report["columns"] == [
        {"name": "size", "kind": "number"},
        {"name": "kind", "kind": "category"},
    ]
    assert report["noise_rate"] == pytest.approx(audit.noise_rate_, abs=1e-4)
    assert report["noise_rate_std"] == pytest.approx(audit.noise_rate_std_, abs=1e-4)
    assert len(report["suspects"]) == 15
    confusion = np.zeros((3, 3), dtype=int)
    for rank, each in enumerate(report["suspects"], start=1):
        row = each["row"]
        assert issues["rank"][row] == rank
        assert classes[each["given"]] == labels[row]
        assert each["predicted"] != each["given"]
        others = np.delete(audit.belief_[row], each["given"])
        assert audit.belief_[row, each["predicted"]] == others.max()
        assert each["quality"] == pytest.approx(issues["label_quality"][row], abs=1e-4)
        assert each["wrong"] == pytest.approx(issues["chance_wrong"][row], abs=1e-4)
        np.testing.assert_allclose(each["belief"], audit.belief_[row], atol=1e-4)
        assert each["id"] == f"n{row}"
        assert each["cells"] == [file.columns[c].cells[row] for c in ("size", "kind")]
        assert len(each["similar"]) == 3
        for other in each["similar"]:
            assert classes[other["label"]] == labels[other["row"]] != labels[row]
            assert other["id"] == f"n{other['row']}"
        confusion[each["given"], each["predicted"]] += 1
    assert report["confusion"] == confusion.tolist()
    first = report["suspects"][0]["reasons"][0]
    assert first["text"].startswith(report["columns"][first["column"]]["name"])
    assert 0 < first["taken"] <= 1


def test_rows_are_numbered_as_in_the_file(file):
    """Some were dropped before the audit."""
    rows = [row for row in range(120) if row not in (0, 1, 2, 50)]
    report, audit = reported(file, rows=rows, top=10)
    labels = labels_of(file, "label")
    for each in report["suspects"]:
        assert each["row"] in rows
        assert report["classes"][each["given"]] == labels[each["row"]]
        assert each["id"] == f"n{each['row']}"
        assert audit.issues_["is_label_issue"].iloc[rows.index(each["row"])]
        for other in each["similar"]:
            assert report["classes"][other["label"]] == labels[other["row"]]
    assert [each["rows"] for each in report["contradictions"]] == [[4, 5, 6]]
    found = [report["classes"][k] for k in report["contradictions"][0]["labels"]]
    assert found == labels[4:7]
    assert report["n_rows"] == 120


def test_worst_alone_are_explained(file, monkeypatch):
    whole = reported(file, top=9)[0]["suspects"]
    monkeypatch.setattr(module, "MOST_EXPLAINED", 4)
    monkeypatch.setattr(module, "MOST_SOURCE", len(file.text) - 1)
    report = reported(file, top=9)[0]
    assert report["source"] is None
    some = report["suspects"]
    assert some[:4] == whole[:4]
    assert any(each["reasons"] for each in whole[4:])
    assert all(each["reasons"] is None for each in some[4:])  # nobody has looked
    for key in ("row", "similar", "wrong"):
        assert [each[key] for each in some] == [each[key] for each in whole]


def test_row_that_no_model_can_judge_does_not_spoil_the_page(tmp_path):
    file = write_table(tmp_path / "some.csv")
    text = file.text.replace(",small\n", ",odd\n", 1)
    (tmp_path / "some.csv").write_text(text)
    report, _ = reported(read_file(tmp_path / "some.csv"), top=1000)
    assert "odd" in report["classes"]
    assert len(report["suspects"]) == 119
    json.dumps(report, allow_nan=False)
    write_page(report, tmp_path / "page.html")


def test_histogram_and_cut():
    quality = np.array([0.05, 0.1, 0.3, 0.31, 0.9, 1.0, np.nan])
    suspect = np.array([True, True, True, False, False, False, False])

    def histogram(quality, suspect):
        issues = {"label_quality": quality, "is_label_issue": suspect}
        return module._histogram(issues)

    found = histogram(quality, suspect)
    assert len(found["edges"]) == len(found["all"]) + 1 == 41
    assert (sum(found["all"]), sum(found["suspects"])) == (6, 3)
    assert found["all"][-1] == 1  # a quality of 1 counts
    assert found["cut"] == pytest.approx(0.305)
    assert histogram(quality, ~suspect)["cut"] is None
    assert histogram(quality, np.zeros(7, dtype=bool))["cut"] is None
    assert histogram(quality[:3], suspect[:3])["cut"] is None


@pytest.mark.parametrize(
    "value, usual, said",
    [
        (85.0, 150.0, "85, but 150"),
        (0.123456, -1.0, "0.1235, but -1"),
        (150.25, 9999.4, "150.2, but 9999"),
        (20240105.0, 20231224.0, "20240105, but 20231224"),
        (12345.678, 1e20, "12346, but 1e+20"),
        (None, "red", "missing, but red"),
        (True, False, "True, but False"),
        ("x" * 100, 3, "x" * 59 + "…, but 3"),
    ],
)
def test_reasons_in_words(value, usual, said):
    text = say(Reason(0, value, usual, 0.407), "a b", "no")
    assert text == f"a b is {said} in similar rows that are no."
