"""Commands run in this process, on files made up for them."""

import csv
import gzip
import io

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from splboost.cli import make_app

TARGET = "rich"


class Refused(Exception):
    """What a command said before it ended with a failure."""

    def __init__(self, said, code):
        super().__init__(said)
        self.code = code


def run(*arguments):
    """How a command ends, and what it says; raises whatever it has not caught."""
    done = CliRunner().invoke(make_app(), list(map(str, arguments)))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def call(*arguments, code=0):
    """What ``splboost audit`` says, in one line, when it ends with this code."""
    done = run("audit", *arguments)
    assert done.exit_code == code, done.output
    return " ".join(done.output.replace("│", " ").split())


def invoke(*arguments):
    """What a command says; raises Refused if it fails."""
    done = run(*arguments)
    if done.exit_code:
        raise Refused(done.output, done.exit_code)
    return done.output


def audit(path, folder, *options):
    options = "--target", TARGET, "--quick", "--jobs", 1, "--out", folder, *options
    return invoke("audit", path, *options)


def apply(path, decisions, out):
    return invoke("audit", "apply", path, decisions, "--target", TARGET, "--out", out)


def make_rows(n=40, seed=0):
    """A table of people, of whom some labels are wrong."""
    draw = np.random.default_rng(seed)
    income, home = draw.normal(40, 10, n).round(1), draw.choice(["own", "rent"], n)
    rich = (income > 45) ^ (draw.random(n) < 0.2)
    return [
        {
            "name": f"person {row}",
            "income": str(income[row]),
            "home": str(home[row]),
            TARGET: "yes" if rich[row] else "no",
        }
        for row in range(n)
    ]


def text_of(rows, **options):
    stream = io.StringIO()
    options = {"lineterminator": "\n", **options}
    writer = csv.DictWriter(stream, list(rows[0]), **options)
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def save(path, rows):
    """Write a table as the name of the file says."""
    if path.suffix == ".parquet":
        pd.DataFrame(rows).to_parquet(path)
    else:
        text = text_of(rows).encode()
        path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)


def read_rows(text):
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


def decide(suspects, kinds):
    """The lines of a list of suspects with decisions filled in, in turn."""
    lines = read_rows(suspects.read_text("utf-8"))
    for line, kind in zip(lines, kinds, strict=False):
        line["decision"] = kind
    return lines
