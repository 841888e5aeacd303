"""The audit: of tables, of odd files, and what becomes of decisions in odd files."""

import csv
import gzip
import json
import random
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from fuzz.commands import (
    TARGET,
    Refused,
    apply,
    audit,
    decide,
    make_rows,
    read_rows,
    save,
    text_of,
)
from fuzz.fits import refuses
from fuzz.tables import make_data, numpy_rng
from splboost import AdaBoostClassifier
from splboost.audit import LabelAudit
from splboost.audit.table_files import FileError, read_file

CELLS = (
    *("", " ", "NA", "?", "1", "-0", "1.5", "1,5", "1e400", "inf", "0x1", "1_000", "١"),
    *("yes", "no", "=1+1", '"', "'", "a,b", "a;b", "a\nb", "a\r", "ä", "😀", "\ufeff"),
)
MISUSE = 2  # an exit code


# ------------------------------------------------------------------------------- tables


def audits(rng):
    """All labels are judged, by numbers that are probabilities, or none is."""
    data, draw = make_data(rng, bad=0.05), numpy_rng(rng)
    n, labels = len(data.X), list(dict.fromkeys(np.asarray(data.y).tolist()))
    extras = {
        "groups": draw.integers(0, rng.choice([1, 3, n]), n),
        "trusted": draw.random(n) < rng.choice([0.0, 0.3, 1.0]),
        "pred_probs": draw.dirichlet(np.full(len(labels), 0.1), n),
        "original": draw.permutation(np.asarray(data.y)),
    }
    chosen = {name: value for name, value in extras.items() if rng.random() < 0.2}
    how = rng.choice([{}, {"top": 3}, {"top": 10**6}, {"precision": 0.9}])
    judge = AdaBoostClassifier(n_estimators=3) if rng.random() < 0.2 else None
    model = LabelAudit(judge, quick=True, random_state=0, **how)
    X = None if "pred_probs" in chosen and rng.random() < 0.3 else data.X
    if refuses(lambda: model.fit(X, data.y, **chosen)):
        return True
    issues = pd.DataFrame({name: list(model.issues_[name]) for name in model.issues_})
    assert len(issues) == n
    for name in ("label_quality", "confidence", "chance_wrong"):
        assert not ((issues[name] < 0) | (issues[name] > 1)).any(), issues[name]
    assert sorted(issues["rank"].dropna()) == list(range(1, issues["rank"].count() + 1))
    assert 0 <= model.noise_rate_ <= 1
    assert not (issues["is_label_issue"] & chosen.get("trusted", False)).any()
    assert model.summary()
    with tempfile.TemporaryDirectory() as folder:
        model.write_page(Path(folder, "page.html"))
    return False


# -------------------------------------------------------------------------------- files


def files(rng):
    """A file is read, and audited, or refused with a sentence."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, rng.choice(["data.csv", "data.csv.gz", "data.parquet"]))
        if path.suffix == ".parquet":
            _odd_frame(rng).to_parquet(path)
            content = path.read_bytes()
        else:
            content = _odd_text(rng)
            content = gzip.compress(content) if path.suffix == ".gz" else content
        path.write_bytes(_damage(rng, content))
        try:
            table = read_file(path)
            assert all(len(c.cells) == table.n_rows for c in table.columns.values())
        except FileError as error:
            assert str(path) in str(error) and len(str(error).split()) > 4, error
        encoding = ["--encoding", rng.choice(["cp1252", "utf-16", "ascii", "base64"])]
        options = [["--id", "name"], ["--groups", "name"], ["--top", 3], encoding, []]
        try:
            audit(path, Path(folder, "out"), *rng.choice(options))
        except Refused as refused:
            assert refused.code == MISUSE and len(str(refused).split()) > 4, refused
            return True
    return False


def _odd_rows(rng):
    rows = make_rows(rng.choice([0, 1, 19, 25, 40]), seed=rng.randrange(4))
    for row in rows:
        for name in row:
            if rng.random() < 0.05:
                row[name] = rng.choice(CELLS)
    return rows


def _odd_text(rng):
    rows = _odd_rows(rng)
    if not rows:
        return rng.choice([b"", b"\n", b"rich", b'"', b"name,rich\n", b"\xef\xbb\xbf"])
    text = text_of(
        rows,
        delimiter=rng.choice(",,;\t|"),
        quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
        lineterminator=rng.choice(["\n", "\r\n", "\r"]),
    )
    if rng.random() < 0.1:
        text = text.replace("name", rng.choice(['"', "", "rich", "ä", "\n"]), 1)
    encodings = ["utf-8"] * 6 + ["utf-8-sig", "utf-16", "latin-1"]
    return text.encode(rng.choice(encodings), errors="replace")


def _odd_frame(rng):
    frame, draw = pd.DataFrame(_odd_rows(rng)), numpy_rng(rng)
    n = len(frame)
    columns = {
        "date": pd.Timestamp("2026-01-01") + pd.to_timedelta(draw.random(n), "D"),
        "list": [[1, 2]] * n,
        "bytes": [b"\xff"] * n,
        "bool": draw.random(n) < 0.5,
        "null": [None] * n,
        "category": pd.Categorical(draw.choice(["a", "b"], n)),
        "whole": pd.array(draw.integers(0, 3, n), dtype="Int64"),
        "float": draw.choice([1.5, np.inf, np.nan], n, p=[0.9, 0.05, 0.05]),
    }
    for name in rng.sample(list(columns), 3):
        frame[name if rng.random() < 0.8 else TARGET] = columns[name]
    return frame


def _damage(rng, content):
    """The same, cut off, or with another byte or two."""
    kind = rng.choice(["none", "none", "none", "cut", "bytes"])
    at = rng.randrange(len(content) + 1)
    if kind == "cut":
        return content[:at]
    if kind == "bytes":
        return content[:at] + rng.choice([b'"', b"\0", b"\xff", b","]) + content[at:]
    return content


# ---------------------------------------------------------------------------- decisions


def decisions(rng):
    """All decisions of a file are applied, or none; nothing else changes."""
    ending, seed = rng.choice([".csv", ".csv", ".parquet"]), rng.randrange(3)
    rows, suspects = _audited(ending, seed, rng.random() < 0.5)
    kinds = [rng.choice(["", "keep", "flip", "drop"]) for _ in suspects]
    lines = [{**line, "decision": k} for line, k in zip(suspects, kinds, strict=True)]
    as_json = rng.random() < 0.4
    text, n_sure = (_json_text if as_json else _csv_text)(rng, lines)
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder, f"data{ending}"), Path(folder, f"out{ending}")
        decided = Path(folder, "decisions.json" if as_json else "decisions.csv")
        save(data, rows)
        decided.write_bytes(text.encode("utf-8"))
        try:
            apply(data, decided, out)
        except Refused as refused:
            assert refused.code == MISUSE, refused
            assert not out.exists(), "refuses, and writes all the same"
            return True
        found = _load(out)
    # Of a line that was cut off, the decision may be whole.
    allowed = [_applied(rows, lines[: n_sure + more]) for more in (0, 1)]
    assert found in allowed[: 1 + (n_sure < len(lines))], "decisions were lost"
    return False


@cache
def _audited(ending, seed, has_id):
    """Rows with odd names, and the suspects among them."""
    rng, rows = random.Random(seed), make_rows(seed=seed)
    for row in rows:
        row["name"] += rng.choice(["", ', "Jr"', "\nthe second", "'s", "; -"])
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, f"data{ending}")
        save(data, rows)
        options = ["--id", "name"] if has_id else []
        audit(data, Path(folder, "audit"), "--top", 12, *options)
        return rows, decide(Path(folder, "audit", "suspects.csv"), [])


def _load(path):
    if path.suffix == ".parquet":
        return pd.read_parquet(path).to_dict("records")
    return read_rows(path.read_bytes().decode())


def _applied(rows, lines):
    """What must come of decisions."""
    changed = [dict(row) for row in rows]
    for line in lines:
        if line["decision"] == "flip":
            changed[int(line["row"])][TARGET] = line["new_label"]
    dropped = {int(line["row"]) for line in lines if line["decision"] == "drop"}
    return [row for n, row in enumerate(changed) if n not in dropped]


def _csv_text(rng, lines):
    """A file of decisions, in which something may be odd; how many are surely whole."""
    kinds = ["cut", "quotes", "quotes", "lines", "columns", "style", "cell", "sorted"]
    kind = rng.choice(kinds)
    lines, style = [dict(line) for line in lines], {}
    if kind == "lines":
        rng.shuffle(lines)
        lines += lines[: rng.choice([0, 1])]
    if kind == "columns":
        names = rng.sample(list(lines[0]), len(lines[0]))
        gone = rng.choice([*names, "", "", ""])
        lines = [{n: line[n] for n in names if n != gone} for line in lines]
        lines = [{**line, "note": "mine"} for line in lines]
    if kind == "style":
        style = {"delimiter": rng.choice(",;\t"), "lineterminator": rng.choice(ENDS)}
        style["quoting"] = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
        lines = [{**line, "decision": line["decision"].upper()} for line in lines]
    if kind == "cell":
        line = rng.choice(lines)
        line[rng.choice(["row", "given", "digest", "format"])] = rng.choice(CELLS)
    if kind == "sorted":  # one column without the others
        name = rng.choice(["row", "id", "digest"])
        for line, value in zip(
            lines, sorted(each[name] for each in lines), strict=True
        ):
            line[name] = value
    text = text_of(lines, **style)
    if kind == "quotes":
        for _ in range(rng.choice([1, 1, 2, 3])):
            at = rng.randrange(len(text) + 1)
            text = text[:at] + '"' + text[at:]
    if kind == "cut":
        at = rng.randrange(len(text) + 1)
        whole = [n for n in range(len(lines)) if len(text_of(lines[: n + 1])) <= at]
        return text[:at], len(whole)
    return rng.choice(["", "\ufeff"]) + text, len(lines)


ENDS = "\n", "\r\n", "\r"


def _json_text(rng, lines):
    """As the review page saves it."""
    kind = rng.choice(["cut", "twice", "deep", "cell", "none", "other"])
    fields = "row", "id", "given", "decision", "new_label", "digest"
    found = [{name: line[name] or None for name in fields} for line in lines]
    found = [{**line, "row": int(line["row"])} for line in found]
    known = {"format": lines[0]["format"], "id_column": lines[0]["id_column"] or None}
    if kind == "cell":
        odd = [None, True, -1, 1e400, 3.5, [], {}, "x", 10**400]
        rng.choice(found)[rng.choice(["row", "given", "digest"])] = rng.choice(odd)
    text = json.dumps({**known, "decisions": found}, indent=1)
    if kind == "cut":
        text = text[: rng.randrange(len(text))]
    if kind == "twice":
        at = rng.choice([n for n, c in enumerate(text) if c == "{"])
        text = text[: at + 1] + '"decision": "drop",' + text[at + 1 :]
    if kind == "deep":
        text = '{"decisions": ' + rng.choice(["[", '{"a":']) * 100_000
    if kind == "other":
        text = rng.choice(["{}", '{"decisions": 1}', '{"decisions": [1]}', "[]", "{"])
    return text, len(lines)
