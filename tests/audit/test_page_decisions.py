"""What a reviewer decides on the review page, by key and button, and what is kept."""

import csv
import io
import json
import re

from review_page import make_report
from splboost.audit.decisions import read_decisions

HEAD = "row,id,given,decision,new_label,id_column,digest,format\n"


def line(start):
    """A line of decisions as the page saves it, by its first fields."""
    return f"{start},person,row-{int(start.split(',')[0] or 1):016x},1"


def test_decisions_by_key_are_kept_and_saved(visit):
    report = make_report()
    tab = visit(report)
    tab.press("f n F k d f")
    assert tab.current() == 18
    found = tab.rows("decision")[:7]
    assert found == ["flip", "open", "flip", "keep", "drop", "flip", "open"]
    tab.reload()
    assert tab.current() == 3  # the first that is open
    assert "5 of 30 reviewed: 1 kept, 3 flipped, 1 dropped" in tab.text(".progress")

    assert tab.save("save-csv") == (
        "people.decisions.csv",
        HEAD
        + "\n".join(
            map(
                line,
                [
                    "0,A-0,no,flip,yes",
                    "6,A-6,no,flip,yes",
                    "9,A-9,yes,keep,",
                    "12,A-12,no,drop,",
                    "15,A-15,yes,flip,no",
                ],
            )
        )
        + "\n",
    )
    name, text = tab.save("save-json")
    assert name == "people.decisions.json"
    assert json.loads(text)["format"] == "1"
    assert json.loads(text)["id_column"] == "person"
    assert json.loads(text)["decisions"][0] == {
        "row": 0,
        "id": "A-0",
        "given": "no",
        "decision": "flip",
        "new_label": "yes",
        "digest": "row-0000000000000000",
    }
    lines = report["source"].splitlines(keepends=True)
    for row, label in ((0, "yes"), (6, "yes"), (15, "no")):
        lines[row + 1] = lines[row + 1].rsplit(",", 1)[0] + f",{label}\n"
    del lines[13]
    assert tab.save("save-clean") == ("people.cleaned.csv", "".join(lines))


def test_keys_move_undo_clear_and_help(visit):
    tab = visit(make_report())
    tab.press("n ArrowDown n p ArrowUp")
    assert tab.current() == 3
    tab.press("p p p")
    assert tab.current() == 0
    tab.press("d f")
    assert tab.rows("decision")[:3] == ["drop", "flip", "open"]
    tab.press("u")
    assert tab.current() == 3
    assert tab.rows("decision")[:3] == ["drop", "open", "open"]
    tab.press("p c")
    assert tab.current() == 0
    assert tab.rows("decision")[:3] == ["open", "open", "open"]
    tab.press("U")
    assert tab.rows("decision")[:3] == ["drop", "open", "open"]
    tab.press("U U U Control+d")
    tab.page.keyboard.down("n")
    tab.page.keyboard.down("n")
    assert tab.current() == 6  # a key held down goes on, but decides only once
    tab.page.keyboard.down("d")
    tab.page.keyboard.down("d")
    assert tab.text(".progress").startswith("1 of 30 reviewed")
    for key in "nd":
        tab.page.keyboard.up(key)
    tab.press("u")
    assert tab.text(".progress").startswith("0 of 30 reviewed")
    tab.press("?")
    assert tab.page.locator("#help").is_visible()
    tab.press("f")  # keys rest while help is open
    tab.page.click("#help button")
    assert not tab.page.locator("#help").is_visible()
    tab.press("/ f d Enter d")  # letters in the search are no decisions
    assert tab.page.input_value("#search") == "fd"
    assert tab.text(".progress").startswith("0 of 30 reviewed")


def test_buttons_do_what_keys_do(visit):
    tab = visit(make_report())
    assert tab.page.locator("#other").is_hidden()  # there are two classes
    for button in ("keep", "flip", "drop", "next", "previous", "flip", "undo"):
        tab.page.click(f"#{button}")
    assert tab.current() == 9
    assert tab.rows("decision")[:4] == ["keep", "flip", "drop", "open"]
    tab.page.click("td.in-decision >> nth=1")
    assert tab.current() == 3
    pressed = tab.page.locator(".choices [aria-pressed=true]")
    assert pressed.evaluate_all("all => all.map((one) => one.id)") == ["flip"]


def test_open_suspects_are_listed_until_they_are_decided(visit):
    tab = visit(make_report(4))
    tab.page.select_option("#filter-decision", "open")
    tab.page.locator("#filter-decision").blur()
    tab.press("n d")
    assert tab.rows() == ["0", "6", "9"]
    assert tab.current() == 6
    tab.press("f d f")
    assert tab.rows() == []
    assert "4 of 4 reviewed: 0 kept, 2 flipped, 2 dropped" in tab.text(".progress")
    tab.press("f d n p")
    assert "2 flipped, 2 dropped" in tab.text(".progress")


def test_any_other_label_can_be_chosen(visit):
    report = make_report(classes=("cat", "dog", "owl"))
    tab = visit(report)
    assert tab.page.locator("#other option").all_inner_texts() == ["…", "dog", "owl"]
    tab.page.select_option("#other", label="owl")
    assert tab.current() == 3
    tab.press("f p p")
    assert tab.page.input_value("#other") == "2"
    assert tab.rows("decision")[:2] == ["flip to owl", "flip"]
    _, saved = tab.save("save-csv")
    assert saved.splitlines()[1:] == [
        line("0,A-0,cat,flip,owl"),
        line("3,A-3,cat,flip,dog"),
    ]
    _, cleaned = tab.save("save-clean")
    assert cleaned.splitlines()[1] == report["source"].splitlines()[1].replace(
        "cat", "owl"
    )


def test_without_storage_decisions_last_until_the_page_is_closed(visit):
    denied = """Object.defineProperty(window, "localStorage", {
        get() { throw new DOMException("denied", "SecurityError"); },
    });"""
    tab = visit(make_report(), script=denied)
    assert "lost when it is closed" in tab.text("#notice")
    tab.press("f d")
    assert tab.rows("decision")[:3] == ["flip", "drop", "open"]
    assert tab.save("save-csv")[1].count("\n") == 3
    tab.press("u u")  # else the browser would ask before it leaves
    tab.reload(stored=False)
    assert tab.rows("decision")[0] == "open"


def test_full_storage_is_told(visit):
    full = """Storage.prototype.setItem = () => {
        throw new DOMException("full", "QuotaExceededError");
    };"""
    tab = visit(make_report(), script=full)
    assert tab.page.locator("#notice").is_hidden()
    tab.press("f")
    assert tab.page.locator("#notice").is_visible()
    assert tab.rows("decision")[0] == "flip"
    tab.press("u")


def test_two_tabs_share_their_decisions(visit, tmp_path):
    tab = visit(make_report())
    other = tab.page.context.new_page()
    other.goto(tab.page.url)
    other.keyboard.press("f")
    tab.page.wait_for_selector("#suspects .decision.flip")
    tab.press("n d")
    other.wait_for_selector("#suspects .decision.drop")
    assert other.locator("#suspects .decision").count() == 2


def test_saved_decisions_are_loaded_elsewhere(visit):
    report = make_report(classes=("a,b", 'say "c"', " d\n"))
    first = visit(report)
    first.press("f k d")
    first.page.select_option("#other", index=2)
    second = visit(report, alone=True)
    for button in ("save-csv", "save-json"):
        name, text = first.save(button)
        assert second.load(name, text) == "4 decisions loaded."
        assert second.save(button) == (name, text)
        second.press("u")
        assert second.text(".progress").startswith("0 of 30 reviewed")


HOSTILE = (
    "=1+1",
    "'=1+1",
    "+x",
    "-x",
    "@x",
    "\tx",
    "''-",
    "-1",
    "1e5",
    "'a",
    "é=",
    "-1_0",
)


def test_no_saved_cell_is_a_formula_and_all_are_read_again(visit, tmp_path):
    report = make_report(24, classes=HOSTILE)
    for row, suspect in enumerate(report["suspects"]):
        suspect["given"] = row % 12
        suspect["predicted"] = (row + 1 + row // 12) % 12
        suspect["id"] = f"={row}"
    page = visit(report)
    page.press("Shift+F " * 24)
    name, text = page.save("save-csv")
    with (path := tmp_path / name).open("w", newline="") as stream:
        stream.write(text)
    lines = list(csv.reader(io.StringIO(text)))[1:]
    assert len(lines) == 24
    for cell in (cell for line in lines for cell in line):
        assert not re.match("[=+@\t\r]|-[^\\d]|-1_", cell), cell
    found = read_decisions([path])
    expected = [
        (suspect["row"], HOSTILE[suspect["given"]], HOSTILE[suspect["predicted"]])
        for suspect in report["suspects"]
    ]
    assert [(each.row, each.given, each.label) for each in found] == sorted(expected)
    assert visit(report, alone=True).load(name, text) == "24 decisions loaded."
    name, text = page.save("save-json")
    (tmp_path / name).write_text(text)
    assert read_decisions([tmp_path / name]) == found


def test_decisions_that_a_spreadsheet_has_saved_are_loaded(visit):
    tab = visit(make_report())
    lines = ["", HEAD.strip(), line("0,A-0,no,Flip,yes"), line("6,A-6,no, DROP ,")]
    for separator in ";\t":
        said = tab.load("some.csv", "\n".join(lines).replace(",", separator))
        assert said == "2 decisions loaded."


def test_what_does_not_fit_is_not_loaded(visit):
    tab = visit(make_report())
    lines = [
        "0,A-0,no,flip,yes",
        "1,A-1,yes,drop,",  # no suspect
        "3,A-3,no,drop,",  # labelled otherwise
        "6,A-6,no,flip,maybe",  # no such class
        "9,A-9,yes,flip,yes",  # the label it has
        "12,A-12,no,burn,",
        ",,no,drop,",
        "18,A-21,yes,drop,",  # the id of another row
    ]
    changed = line("15,A-15,yes,drop,").replace("000f", "000e")  # since the audit
    text = "\r\n".join([*map(line, lines), changed])
    said = tab.load("some.csv", HEAD + text + "\r\n\r\n")
    assert said.startswith("1 decision loaded, 8 left out")
    assert tab.save("save-csv")[1] == HEAD + line(lines[0]) + "\n"


def test_fields_that_the_page_does_not_know_survive(visit):
    """Notes that people add to a list, with a decision or without."""
    tab = visit(make_report())
    lines = [
        line("0,A-0,no,flip,yes") + ",why?,=x",
        line("3,A-3,yes,,") + ',"a ""b""",',
    ]
    text = HEAD.strip() + ",note,reviewer\n" + "\n".join(lines) + "\n"
    assert tab.load("some.csv", text.replace("=x", "'=x")) == "1 decision loaded."
    tab.reload()
    tab.press("p p k")  # another decision on the first row
    saved = list(csv.DictReader(io.StringIO(tab.save("save-csv")[1])))
    found = [(each["decision"], each["note"], each["reviewer"]) for each in saved]
    assert found == [("keep", "why?", "'=x"), ("", 'a "b"', "")]
    assert [*saved[0]][:8] == HEAD.strip().split(",")
    name, text = tab.save("save-json")
    noted = json.loads(text)["decisions"]
    assert [each["note"] for each in noted] == ["why?", 'a "b"']
    other = visit(make_report())
    other.load(name, text)
    assert other.save("save-json")[1] == text


STRAY = HEAD + line('0,"A-0,no,drop,') + "\n" + line("3,A-3,yes,drop,") + "\n"


REFUSED = {
    " \n": "it is empty",
    "": "",
    "{": "",
    '{"decisions": [null]}': "",
    '{"format": "1", "decisions": [{"decision": 7}]}': "decision 1 has the decision",
    "row,id,given,decision,new_label\n0,A-0,no,flip,yes\n": "",
    HEAD + line("0,A-0,no,drop,").replace(",1", ",2"): "line 2 has format 2, not 1",
    HEAD + "\n" + line("0,A-0,no,drop,") + ",": "line 3 has a quote too",
    STRAY: "",
    STRAY.replace("\n3,A-3,", '\n3",'): "",
    HEAD + line("0,A-0,no,drop,") + "\n3,A-3,yes,drop\n": "",
    HEAD + line("0,A-0,no,drop,") + "\n" + line("0,A-0,no,keep,") + "\n": "row 0 has",
}


def test_other_files_are_refused(visit):
    tab = visit(make_report())
    for text, why in REFUSED.items():
        said = tab.load("other.csv", text)
        assert said.startswith(f"other.csv is not a file of decisions: {why}")
        assert tab.text(".progress").startswith("0 of 30 reviewed")
