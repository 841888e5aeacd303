"""Reports for the review page, tame and hostile, and a browser tab that shows one."""

import csv
import io
import re
from dataclasses import replace

from splboost.audit.cleaning import write_cleaned
from splboost.audit.decisions import digest_row, locate_decisions

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<img src=x onerror=alert(3)>",
    "<!-- <script>",
    "]]>&lt;b&gt;&amp;",
    "\"'><svg onload=alert(4)>",
    "javascript:alert(5)",
    "{{constructor.constructor('alert(6)')()}}",
    "$\\{alert(7)} ${report} $report",
    "line\u2028and\u2029paragraph",
    "👩‍👩‍👧‍👦 é \u202e right to left \x00\x01",
    "half a character \ud83d",
    "x" * 20_000,
    "many words " * 2_000,
    "two\nlines\r\nand\ttabs",
]


def make_report(
    n_suspects=30,
    n_columns=4,
    *,
    classes=("no", "yes"),
    n_rows=100,
    cell=lambda row, column: f"{row}.{column}",
    name="people.csv",
):
    """A report whose suspects are every third row, and the CSV that it is about."""
    labels = [row % len(classes) for row in range(n_rows)]
    columns = [f"column {column}" for column in range(n_columns)]
    cells = [
        [cell(row, column) for column in range(n_columns)] for row in range(n_rows)
    ]
    confusion = [[0] * len(classes) for _ in classes]
    suspects = []
    for rank in range(n_suspects):
        row = 3 * rank % n_rows
        given = labels[row]
        predicted = (given + 1) % len(classes)
        confusion[given][predicted] += 1
        wrong = 0.99 - 0.5 * rank / n_suspects
        belief = [0.0] * len(classes)
        belief[given], belief[predicted] = 1 - wrong, wrong
        other = (row + 1) % n_rows
        suspects.append(
            {
                "row": row,
                "id": f"A-{row}",
                "digest": f"row-{row:016x}",
                "given": given,
                "predicted": predicted,
                "quality": 1 - wrong,
                "wrong": wrong,
                "belief": belief,
                "cells": cells[row],
                "reasons": [{"column": 0, "text": f"because of {row}", "taken": 0.3}],
                "similar": [
                    {
                        "row": other,
                        "id": None,
                        "label": predicted,
                        "cells": cells[other],
                    }
                ],
            }
        )
    source = io.StringIO()
    writer = csv.writer(source, lineterminator="\n")
    writer.writerow([*columns, "income"])
    for line, label in zip(cells, labels, strict=True):
        writer.writerow([*line, classes[label]])
    return {
        "format": "1",
        "name": name,
        "target": "income",
        "id_column": "person",
        "made": "2026-11-16 12:00",
        "version": "0.1.0",
        "classes": list(classes),
        "n_rows": n_rows,
        "n_labels": n_rows,
        "noise_rate": 0.12,
        "noise_rate_std": 0.02,
        "expected_precision": 0.87,
        "confusion": confusion,
        "quality": {
            "edges": [0, 0.25, 0.5, 0.75, 1],
            "all": [20, 10, 30, 40],
            "suspects": [20, 10, 0, 0],
            "cut": 0.5,
        },
        "contradictions": [{"rows": [3, 77], "labels": [0, 1]}],
        "columns": [{"name": name, "kind": "text"} for name in columns],
        "suspects": suspects,
        "source": source.getvalue(),
    }


def put_right(file, target, decisions, path):
    """Write a file with decisions applied that were made on it as it is."""
    proven = [replace(each, digest=digest_row(file, each.row)) for each in decisions]
    write_cleaned(file, target, locate_decisions(proven, file, target), path)


def hostile_cell(row, column):
    text = HOSTILE[(row + column) % len(HOSTILE)]
    return text if column < len(HOSTILE) else text[:100]


def hostile_report():
    report = make_report(
        len(HOSTILE),
        60,
        classes=("<b>no</b>", "</script><script>alert(8)</script>", HOSTILE[12]),
        n_rows=50,
        cell=hostile_cell,
        name="<i>'\"&</i></title><script>alert(9)</script>.csv",
    )
    report["target"] = "<u>income</u>"
    for column, text in zip(report["columns"], 4 * HOSTILE, strict=True):
        column["name"] = text
    for suspect, text in zip(report["suspects"], HOSTILE, strict=True):
        suspect["id"] = text
        suspect["reasons"] = [{"column": 3, "text": text, "taken": 0.1}]
        suspect["similar"][0]["id"] = text
        suspect["cells"] = [None, *suspect["cells"][1:]]
    return report


# CSV files, and what they are with row 0 flipped and row 2 dropped
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


LONGEST = 120_000  # milliseconds to wait for the browser; machines may be busy
SCREEN = {"width": 1440, "height": 900}


class Visit:
    """A reviewer's tab: what they can do, and all that the page did unasked."""

    def __init__(self, page, path):
        self.page = page
        self.faults = []
        self.requests = []
        self._listeners = {
            "dialog": lambda dialog: self._note("dialog", dialog.message),
            "pageerror": lambda error: self._note("error", error),
            "console": lambda message: self._note("console", message.text),
            "request": lambda request: self.requests.append(request.url),
        }
        for event, listener in self._listeners.items():
            page.on(event, listener)
        page.set_default_timeout(LONGEST)
        page.set_viewport_size(SCREEN)
        page.goto(path.as_uri())

    def _note(self, kind, what):
        self.faults.append(f"{kind}: {what}")

    def leave(self):
        """Hear no more of the tab, and close those that were opened beside it."""
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)
        for other in self.page.context.pages:
            if other != self.page:
                other.close()

    def press(self, keys):
        """Press keys, given as `n f k`."""
        for key in keys.split():
            self.page.keyboard.press(key)

    def reload(self, *, stored=True):
        """Open the page again, once the browser has ``stored`` all that it was given.

        What a page stores comes to the browser later, but in order.
        """
        if stored:
            self.page.evaluate("localStorage.setItem('last', '1')")
        self.page.reload()
        while stored and self.page.evaluate("localStorage.getItem('last')") is None:
            self.page.wait_for_timeout(100)
            self.page.reload()
        if stored:
            self.page.evaluate("localStorage.removeItem('last')")

    def text(self, selector):
        return self.page.locator(selector).inner_text()

    def rows(self, column="row"):
        """What the rows of the table show in a column."""
        return self.page.locator(f"#suspects tbody td.in-{column}").all_inner_texts()

    def current(self):
        return int(re.match(r"Row (\d+)", self.text("#detail-title"))[1])

    def save(self, button):
        """What the browser saves as a file: its name and its text, every byte of it."""
        self.page.click("#open-files")
        with self.page.expect_download() as download:
            self.page.click(f"#{button}")
        self.page.keyboard.press("Escape")
        data = download.value.path().read_bytes()
        return download.value.suggested_filename, data.decode("utf-8")

    def load(self, name, text):
        """Give the page a file of decisions; what it says to that."""
        self.page.click("#open-files")
        file = {"name": name, "mimeType": "text/plain", "buffer": text.encode("utf-8")}
        self.page.evaluate("document.getElementById('files-said').textContent = ''")
        self.page.set_input_files("#load-file", file)
        self.page.locator("#files-said:not(:empty)").wait_for()
        said = self.text("#files-said")
        self.page.keyboard.press("Escape")
        return said
