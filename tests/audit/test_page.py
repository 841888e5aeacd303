"""The review page as it is written, and as it looks in a browser."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from importlib import resources

import pytest

from review_page import HOSTILE, hostile_report, make_report
from splboost.audit.page import write_page

ASSETS = resources.files("splboost.audit") / "assets"


# What is written


class Reader(HTMLParser):
    """Notes the elements, and whether each that is opened is closed."""

    EMPTY = frozenset({"meta", "link", "input", "br"})

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.texts = [], [], {}

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("script", "style", "title"):
            self.texts.setdefault(self.open[-1], []).append(data)


def read_page(path):
    reader = Reader()
    reader.feed(path.read_text("utf-8"))
    reader.close()
    assert not reader.open
    return reader


def test_data_are_json_that_cannot_leave_its_element(tmp_path):
    report = hostile_report()
    write_page(report, tmp_path / "page.html")
    page = read_page(tmp_path / "page.html")
    data, _ = page.texts["script"]
    assert not re.search("[<>&\u2028\u2029]", data)
    found = json.loads(data)
    assert re.fullmatch("[0-9a-f]{16}", found.pop("digest"))
    assert found == report
    assert page.texts["title"] == [f"{report['name']}: label review"]


def test_page_is_sound_html_that_loads_nothing(tmp_path):
    write_page(hostile_report(), tmp_path / "hostile.html")
    write_page(make_report(), tmp_path / "tame.html")
    hostile, tame = (
        read_page(tmp_path / "hostile.html"),
        read_page(tmp_path / "tame.html"),
    )
    shape = [tag for tag, _ in tame.elements]
    assert [tag for tag, _ in hostile.elements] == shape
    assert (shape.count("script"), shape.count("style")) == (2, 1)
    identities = [a["id"] for _, a in tame.elements if "id" in a]
    assert len(identities) == len(set(identities))
    for _, attributes in tame.elements:
        assert not attributes.keys() & {"src", "style", "srcset", "action"}
        assert not any(name.startswith("on") for name in attributes)
        assert attributes.get("href", "#").startswith(("#", "data:"))
        for name in ("aria-labelledby", "for"):
            assert attributes.get(name, identities[0]) in identities


def test_policy_admits_the_own_script_and_style_alone(tmp_path):
    write_page(make_report(), tmp_path / "page.html")
    page = read_page(tmp_path / "page.html")
    policy = next(a["content"] for _, a in page.elements if "http-equiv" in a)
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    for tag in ("script", "style"):
        digest = hashlib.sha256(page.texts[tag][-1].encode("utf-8")).digest()
        assert rules[f"{tag}-src"] == f"'sha256-{base64.b64encode(digest).decode()}'"


def test_every_script_is_in_the_page(tmp_path):
    write_page(make_report(), tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text("utf-8")
    scripts = [file for file in ASSETS.iterdir() if file.name.endswith(".js")]
    assert len(scripts) >= 5
    for script in scripts:
        source = script.read_text("utf-8")
        assert source in text
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacent|document\.write", source
        )


def test_digest_is_of_the_data_not_of_the_run(tmp_path):
    def digest(**changed):
        write_page({**make_report(), **changed}, tmp_path / "page.html")
        return json.loads(read_page(tmp_path / "page.html").texts["script"][0])[
            "digest"
        ]

    assert digest(made="later", version="9") == digest()
    assert digest(source=None) != digest()
    assert digest(suspects=[]) != digest()


def test_report_that_is_no_json_leaves_the_file_alone(tmp_path):
    path = tmp_path / "page.html"
    write_page(make_report(), path)
    earlier = path.read_text("utf-8")
    with pytest.raises(ValueError, match="JSON"):
        write_page({**make_report(), "noise_rate": float("nan")}, path)
    assert path.read_text("utf-8") == earlier


# What a reviewer sees


def test_overview_says_what_was_found(visit):
    tab = visit(make_report())
    facts = tab.text("#facts")
    assert "12% ± 2%" in facts
    assert "about 12 of 100" in facts
    assert "expect about 26 really wrong and 4 right after all (87% precision)" in facts
    assert tab.page.locator("#confusion .cell").all_inner_texts() == ["15", "15"]
    assert tab.page.locator("#quality rect.all").count() == 4
    assert tab.page.locator("#quality text.cut").text_content() == "cut 0.5"
    tab.page.click("#contradictions summary")
    assert tab.text("#contradictions li").split() == [
        "no",
        "row",
        "3",
        "yes",
        "row",
        "77",
    ]
    tab.page.click("#contradictions li button")
    assert tab.current() == 3


def test_numbers_of_the_confusion_filter_the_list(visit):
    tab = visit(make_report())
    tab.page.click("#confusion .cell >> nth=1")
    assert tab.text("#shown") == "15 of 30 shown"
    assert set(tab.rows("given")) == {"yes"}
    tab.page.click("#reset")
    assert tab.text("#shown") == "30"


def test_five_thousand_suspects(visit, capsys):
    tab = visit(make_report(5000, 20, n_rows=20_000))
    ready = tab.page.evaluate("performance.getEntriesByName('ready')[0].startTime")
    with capsys.disabled():
        print(f"\n5 000 suspects, 20 columns: ready after {ready:.0f} ms")
    assert len(tab.rows()) < 100
    assert tab.page.locator("#suspects").get_attribute("aria-rowcount") == "5001"

    tab.page.evaluate("document.getElementById('scroller').scrollTop = 1e9")
    tab.page.wait_for_selector("td.in-rank >> text='5,000'")
    assert tab.rows()[-1] == str(3 * 4999)
    assert len(tab.rows()) < 100

    heading = tab.page.locator("th.in-row")
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    assert tab.rows()[:3] == ["0", "3", "6"]
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    assert tab.rows()[:3] == ["14997", "14994", "14991"]
    assert tab.current() == 14997
    assert tab.page.locator("th.in-rank").get_attribute("aria-sort") == "none"

    given = tab.page.locator("th.in-given button")
    given.click()  # rows that are equal in it stay in the order of the audit
    assert tab.rows()[:3] == ["0", "6", "12"]
    given.click()
    assert tab.rows()[:3] == ["3", "9", "15"]
    heading.locator("button").click(click_count=2)

    tab.page.fill("#search", "because of 1200")
    assert tab.rows() == ["12009", "12006", "12003", "12000", "1200"]
    tab.page.select_option("#filter-given", label="yes")
    assert tab.rows() == ["12009", "12003"]
    tab.page.fill("#search", "of nothing")
    assert tab.text("#none") == "No suspect fits these filters."
    assert tab.page.locator("#detail").is_hidden()


def test_list_never_shows_a_gap_while_it_scrolls(visit):
    tab = visit(make_report(5000, 2, n_rows=20_000))
    covered = """async () => {
        const scroller = document.getElementById("scroller");
        scroller.scrollIntoView();
        const bad = [];
        for (let top = 0; top < scroller.scrollHeight; top += 11_111) {
            scroller.scrollTop = top;
            await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
            const box = scroller.getBoundingClientRect();
            for (const y of [box.top + 60, box.bottom - 5]) {
                const row = document.elementFromPoint(box.left + 20, y).closest("tr");
                if (!row || row.matches(".spacer")) bad.push([top, y]);
            }
        }
        return bad;
    }"""
    assert tab.page.evaluate(covered) == []


def test_detail_shows_beliefs_reasons_and_what_differs(visit):
    report = make_report(classes=("no", "yes", "perhaps"))
    report["suspects"][0] |= {
        "belief": [0.004, 0.9, 0.096],
        "cells": ["a", None, "c", "d"],
    }
    report["suspects"][0]["similar"] = [
        {"row": 8, "id": "A-8", "label": 1, "cells": ["a", "b", "c", "D"]},
        {"row": 9, "id": None, "label": 0, "cells": ["a", None, "c", "d"]},
    ]
    tab = visit(report)
    assert "The chance that the label is wrong is 99%" in tab.text(".verdict")
    beliefs = [
        item.split() for item in tab.page.locator(".beliefs li").all_inner_texts()
    ]
    assert beliefs == [
        ["yes", "90%", "proposed"],
        ["perhaps", "10%"],
        ["no", "0.4%", "given"],
    ]
    widths = tab.page.locator(".beliefs .bar").evaluate_all(
        "bars => bars.map((bar) => bar.style.getPropertyValue('--share'))"
    )
    assert widths == ["0.9", "0.096", "0.004"]
    assert tab.text(".reasons").split("\n") == [
        "column 0",
        "−30 points",
        "",
        "because of 0",
    ]
    lines = tab.page.locator(".cells tbody tr")
    assert lines.nth(1).locator("td").all_inner_texts() == [
        "missing",
        "b\n(differs)",
        "missing",
    ]
    assert tab.page.locator(".cells .differs div").all_inner_texts() == ["b", "D"]
    tab.page.check(".detail input[type=checkbox]")
    visible = [
        line.locator("th").inner_text() for line in lines.all() if line.is_visible()
    ]
    assert visible == ["column 0", "column 1", "column 3"]


def test_there_is_no_choice_of_columns_where_all_differ(visit):
    report = make_report(2)
    cells = [f"other {each}" for each in report["suspects"][0]["cells"]]
    for suspect in report["suspects"]:
        suspect["similar"] = [{"row": 8, "id": None, "label": 1, "cells": cells}]
    report["suspects"][1]["cells"] = [*cells[:-1], "own"]
    tab = visit(report)
    assert tab.page.locator(".detail input[type=checkbox]").count() == 0
    tab.press("n")
    assert tab.page.locator(".detail input[type=checkbox]").count() == 1


# Odd data


def test_hostile_data_are_text(visit):
    tab = visit(hostile_report())
    elements = set(
        tab.page.evaluate(
            "[...document.querySelectorAll('*')].map((one) => one.localName)"
        )
    )
    assert not elements & {"img", "iframe", "object", "u"}
    assert tab.page.locator("script").count() == 2
    assert tab.page.locator("b:not(.reasons b), i:not(.cells i), body svg").count() == 1
    for text in HOSTILE:
        shown = tab.page.locator(".reasons p").evaluate(
            "element => element.textContent"
        )
        assert shown.removesuffix("…") == text[:5_000].replace("\ud83d", shown[-1:])
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= 1440
        tab.press("n")
    tab.press("f k")
    tab.page.fill("#search", "<img src=x onerror")
    assert tab.rows()
    cells = tab.page.locator(".cells tbody tr")
    assert cells.count() == 60
    assert cells.nth(2).locator("th").inner_text() == HOSTILE[2]
    for row in tab.page.locator("#suspects tbody tr:not(.spacer)").all():
        assert row.bounding_box()["height"] < 40


def test_policy_holds_where_the_script_would_not(visit):
    """Should markup ever get in, it neither runs nor loads anything."""
    tab = visit(make_report())
    blocked = []
    tab.page.on("requestfailed", lambda request: blocked.append(request.failure))
    ran = tab.page.evaluate(
        """async () => {
            const frame = document.createElement("img");
            frame.src = "https://example.com/x.png";
            const script = document.createElement("script");
            try { script.text = "window.ran = true"; } catch { }
            document.body.append(frame, script);
            let markup = "refused";
            try {
                document.body.innerHTML = "<b onclick=ran()>";
                markup = "taken";
            } catch { }
            await new Promise((done) => setTimeout(done, 100));
            return [window.ran ?? false, markup];
        }"""
    )
    assert ran == [False, "refused"]
    assert blocked == ["csp"]
    assert tab.requests.pop() == "https://example.com/x.png"
    assert len(tab.faults) >= 3
    assert all("blocked" in fault for fault in tab.faults)
    tab.faults.clear()


@pytest.mark.parametrize(
    "changed",
    [
        {"suspects": [], "contradictions": [], "confusion": [[0, 0], [0, 0]]},
        {"noise_rate": None, "noise_rate_std": None, "expected_precision": None},
        {"quality": {"edges": [0, 1], "all": [0], "suspects": [0], "cut": None}},
        {"contradictions": [{"rows": list(range(40)), "labels": [0, 1] * 20}] * 120},
        {"columns": [], "contradictions": None},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_sparse_reports_are_shown(visit, changed):
    report = {**make_report(), **changed}
    if not report["columns"]:
        for suspect in report["suspects"]:
            suspect |= {"cells": [], "similar": [], "reasons": []}
    tab = visit(report)
    if report["suspects"]:
        tab.press("n f ?")
    assert tab.page.locator("#facts dt").count() >= 3
    assert "NaN" not in tab.page.content()
    assert not re.search("undefined|null%", tab.text("main"))


def test_page_does_not_say_what_nobody_has_looked_for(visit):
    report = make_report()
    report["suspects"][0]["reasons"], report["suspects"][1]["reasons"] = None, []
    tab = visit(report)
    assert "Not worked out" in tab.text(".detail")
    assert "No single column" not in tab.text(".detail")
    tab.press("n")
    assert "No single column" in tab.text(".detail")
    tab.page.fill("#search", "because of 2")
    assert tab.page.locator("#suspects tr[data-rank]").count() >= 1


def test_page_of_probabilities_alone_says_what_is_known(visit):
    """No columns, so no reasons, no similar rows, and nobody knows of equal ones."""
    report = make_report() | {"columns": [], "contradictions": None}
    for suspect in report["suspects"]:
        suspect |= {"cells": [], "similar": [], "reasons": None}
    tab = visit(report)
    said = tab.text("main")
    assert "What the model believes" in said
    for unknown in ("ontradiction", "Not worked out", "speaks against", "The row"):
        assert unknown not in said
    assert tab.page.locator(".cells, .reasons, td.in-reason").count() == 0


def test_page_without_suspects_has_nothing_to_review(visit):
    report = make_report() | {"suspects": [], "confusion": [[0, 0], [0, 0]]}
    tab = visit(report)
    assert "no label looks wrong enough to review; --top 20" in tab.text("#facts")
    for part in ("#review", "#pairs", ".progress", "#open-files"):
        assert tab.page.locator(part).is_hidden()
    assert tab.page.locator("#quality svg").is_visible()
    tab.press("f k d n u")
    assert tab.faults == []


@pytest.mark.parametrize("share, said", [(0.0004, "<0.1%"), (0.9996, ">99.9%")])
def test_share_that_is_not_none_is_not_said_to_be(visit, share, said):
    report = make_report() | {"noise_rate": share, "noise_rate_std": None}
    assert visit(report).text("#facts div:nth-child(2) .value") == said


SPELLED = {
    "id": ["-1", "9", "10", "1e3", "a 2", "a 10", "b"],
    "given": ["-3", "2.5", "10.25", "10.25", "a", "b", "b"],
    "wrong": ["99%", "92%", "85%", "78%", "70%", "63%", "56%"],
    "quality": ["0.01", "0.08", "0.15", "0.22", "0.30", "0.37", "0.44"],
}


def test_list_is_sorted_by_numbers_and_texts(visit):
    report = make_report(7, classes=("10.25", "2.5", "-3", "b", "a"))
    ids = "a 10", "9", "b", "-1", "10", "a 2", "1e3"
    for suspect, own in zip(report["suspects"], ids, strict=True):
        suspect["id"] = own
    tab = visit(report)
    tab.page.set_viewport_size({"width": 1800, "height": 900})
    for column, order in SPELLED.items():
        for shown in (order, order[::-1]):
            tab.page.click(f"#suspects th.in-{column} button")
            assert tab.rows(column) == shown


def test_headings_of_the_list_say_what_they_mean(visit):
    headings = visit(make_report()).page.locator("#suspects th")
    assert headings.count() == 9
    assert all(headings.evaluate_all("all => all.map((one) => one.title)"))


def test_buttons_to_decide_are_in_one_line(visit):
    tab = visit(make_report(classes=("malignant", "benign")))
    tab.page.set_viewport_size({"width": 1280, "height": 800})
    for line in (("keep", "flip", "drop"), ("undo", "previous", "next")):
        middles = []
        for button in line:
            box = tab.page.locator(f"#{button}").bounding_box()
            middles.append(box["y"] + box["height"] / 2)
        assert max(middles) - min(middles) < 2


def test_list_on_a_narrow_screen_is_as_high_as_its_rows(visit):
    for n_suspects, n_shown in ((3, 3), (200, 10)):
        tab = visit(
            make_report(n_suspects, n_rows=1000), has_touch=True, is_mobile=True
        )
        tab.page.set_viewport_size({"width": 390, "height": 844})
        panel = tab.page.locator(".list").bounding_box()
        assert panel["height"] < 844
        rows = tab.page.locator("#suspects tbody tr:not(.spacer)")
        assert rows.count() >= n_shown
        # At once, because the rows are made anew when the size of the screen changes
        end, below = tab.page.evaluate("""
            [[...document.querySelectorAll("#suspects tbody tr:not(.spacer)")].at(-1),
             document.querySelector(".list")]
            .map((element) => element.getBoundingClientRect().bottom)""")
        assert end >= below - 3  # no blank below the rows


def test_many_classes_are_listed_by_number(visit):
    report = make_report(60, classes=[f"class {index}" for index in range(40)])
    tab = visit(report)
    assert tab.page.locator("#confusion li").count() == 21
    assert tab.page.locator(".beliefs li").count() == 9
    assert tab.page.locator(".beliefs .predicted").count() == 2


# Every screen


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast(visit, scheme):
    tab = visit(make_report(), color_scheme=scheme)
    pairs = [
        (text, ground)
        for text in ("text", "muted", "accent", "given", "keep", "drop")
        for ground in ("ground", "panel", "raised")
    ]
    pairs += [
        ("accent", "accent-ground"),
        ("given", "given-ground"),
        ("text", "differs"),
        ("text", "current"),
        ("muted", "current"),
        ("accent", "current"),
        ("keep", "current"),
        ("drop", "current"),
    ]
    colour = "name => getComputedStyle(document.body).getPropertyValue('--' + name)"

    def luminance(name):
        value = tab.page.evaluate(colour, name).strip().lstrip("#")
        shares = [int(value[at : at + 2], 16) / 255 for at in (0, 2, 4)]
        linear = [
            s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for pair in pairs:
        dark, light = sorted(luminance(name) for name in pair)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, pair


@pytest.mark.parametrize("width", [360, 1100])
def test_nothing_is_wider_than_the_screen(visit, width):
    tab = visit(
        make_report(classes=("a rather long class name", "another one as long", "c"))
    )
    tab.page.set_viewport_size({"width": width, "height": 800})
    overflow = (
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    assert tab.page.evaluate(overflow) <= 0
    tab.page.click("#suspects tbody tr:not(.spacer) >> nth=1")
    assert tab.page.evaluate(overflow) <= 0
    assert tab.page.locator("#detail").is_visible()


def test_narrow_screen_shows_list_or_suspect(visit):
    tab = visit(make_report(200, n_rows=1000), has_touch=True, is_mobile=True)
    tab.page.set_viewport_size({"width": 390, "height": 844})
    assert tab.page.locator("#detail").is_hidden()
    tab.page.locator("#scroller").evaluate("scroller => { scroller.scrollTop = 4400; }")
    row = tab.page.locator("#suspects tr:has(button:text-is('306'))")
    row.tap()
    assert tab.current() == 306
    assert tab.page.locator(".list").is_hidden()
    tab.page.tap("#flip")
    assert tab.current() == 309
    tab.page.tap("#back")
    assert tab.page.locator("#detail").is_hidden()
    assert tab.page.locator("tr[aria-current]").bounding_box()["y"] < 844
    assert "flip" in row.inner_text()


def test_print_has_all_suspects(visit):
    tab = visit(make_report(200, n_rows=1000), alone=True)
    tab.page.set_viewport_size({"width": 794, "height": 1123})
    tab.page.click("#suspects tbody tr:not(.spacer) >> nth=1")
    tab.page.emulate_media(media="print", color_scheme="dark")
    tab.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert len(tab.rows()) == 200
    assert tab.page.locator("td.in-reason").first.is_visible()
    assert tab.page.locator("#detail").is_hidden()
    ground = "getComputedStyle(document.querySelector('.list')).backgroundColor"
    assert tab.page.evaluate(ground) == "rgb(255, 255, 255)"
    tab.page.emulate_media(media="screen")
    tab.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert len(tab.rows()) < 100


def test_every_control_has_a_name(visit):
    tab = visit(make_report(classes=("a", "b", "c")))
    unnamed = """[...document.querySelectorAll("button, input, select")]
        .filter((one) => !(one.ariaLabel ?? (one.closest("label") ?? one).textContent))
        .map((one) => one.outerHTML)"""
    assert tab.page.evaluate(unnamed) == []
    tab.page.focus("#suspects tbody tr:not(.spacer) button")
    tab.press("n f")  # the focus goes with the suspect
    assert tab.page.evaluate("document.activeElement.textContent") == "6"
