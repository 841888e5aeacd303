"""The page of the paper's results: whole, safe and honest."""

import html
import re
from base64 import b64decode
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from paper_results import CHARACTERS, SETS, make_results, without

pytest.importorskip("matplotlib", reason="pictures need the extra plot")

from matplotlib.figure import Figure

from splboost.paper import gaussians, report
from splboost.paper.figures import draw_figure
from splboost.paper.protocol import PRESETS
from splboost.paper.report import find_missing, is_report, write_report
from splboost.paper.statistics import Outcomes
from splboost.paper.tables import (
    Markup,
    element,
    frame_table,
    picture,
    rank_table,
    rival_table,
    table,
)

ABOUT = {
    "command": "splboost paper report",
    "versions": {"numpy": "2.4", "<b>bold</b>": "x & y"},
    "settings": {"ages": [1, 1.5], "rounds": 200},
}
HOSTILE = '<script>alert("x")</script>'
EMPTY = {"meta", "link", "br", "img", "hr"}


@pytest.fixture(scope="module", autouse=True)
def few_draws():
    """The Gaussians once, and few."""
    one = gaussians.measure(1)
    weights = pd.concat([one, one.assign(draw=1)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gaussians, "measure", lambda rounds=60: weights)
        yield


@pytest.fixture
def small_pictures(monkeypatch):
    """Stands in for the pictures that are the same on every page."""

    def draw(number, results=None):
        return Figure((1, 1)) if results is None else draw_figure(number, results)

    monkeypatch.setattr(report, "draw_figure", draw)
    monkeypatch.setattr(report, "draw_gaussians", lambda rounds: Figure((1, 1)))


class Page(HTMLParser):
    """Checks that elements are closed, and gathers what stands in them."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.text = [], [], [], []
        self.attributes, self.tags = [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name in ("href", "xlink:href"):
                self.links.append(value)
            self.links += re.findall(r"url\((#[^)]+)\)", value or "")
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text.append(data)

    @property
    def words(self):
        return " ".join(" ".join(self.text).split())


def write(tmp_path, results, about=ABOUT):
    path = write_report(
        results, tmp_path / "new" / "page.html", about=about, data_home="no"
    )
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    results = make_results(repeats=1, methods=list(CHARACTERS))
    return write(tmp_path_factory.mktemp("report"), results)


# ---------------------------------------------------------------------- the whole page


def test_the_page_is_whole(whole):
    page = Page(whole)
    assert len(page.ids) == len(set(page.ids))
    assert page.links and {link[1:] for link in page.links} <= set(page.ids)
    assert page.tags.count("img") == 7
    headings = [
        "Claims",
        "Figures",
        "Statistics",
        "Numbers",
        "Table",
        "How",
        "What",
    ]
    places = [whole.index(f"<h2>{word}") for word in headings]
    assert places == sorted(places)
    assert "Verdicts on 6 claims: holds 5, partly 1." in page.words
    assert page.words.count("From 17 of the paper's 17 data sets") == 5
    for text in (
        "Friedman",
        "Nemenyi",
        "SPLForest as a tenth",
        "in two ways",
        "with two potentials",
        "with more goals",
        "With whole trees",
        "With the same trees for all",
        "sets with the large protocol adult",
        "were written before any result was seen",
        "data: catalogue",
        "85 cases",
        "Holm's p",
        "splboost paper report",
        "ages 1, 1.5",
        "rounds 200",
        "x & y",
    ):
        assert text in page.words
    assert "nan" not in page.words.split()


def test_the_page_is_known_again_and_needs_no_network(whole, tmp_path):
    page = Page(whole)
    assert all(link.startswith("#") for link in page.links)
    assert not {"script", "svg", "link", "iframe", "object"} & set(page.tags)
    assert not re.search(r"@import|url\((?!#)|src=\"(?!data:)", whole)
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    path = tmp_path / "page.html"
    path.write_text(whole, encoding="utf-8")
    assert is_report(path)
    path.write_text("<!DOCTYPE html><title>The SPLBoost paper, run again</title>")
    assert not is_report(path)


def test_nothing_from_data_becomes_markup(tmp_path, small_pictures):
    results = make_results([HOSTILE, *SETS[:6]], repeats=1)
    results["version"] = HOSTILE
    results.loc[results["method"] == "RBoost", "method"] = HOSTILE
    about = {HOSTILE: HOSTILE, "more": {HOSTILE: [HOSTILE]}}
    text = write(tmp_path, results, about)
    page = Page(text)
    assert "script" not in page.tags
    assert page.words.count('alert("x")') >= 6


# ------------------------------------------------------------------------ partial pages


def test_a_page_without_results(tmp_path, small_pictures):
    page = Page(write(tmp_path, make_results(SETS[:1])[:0], {}))
    assert "There are no results of the protocol yet." in page.words
    assert "Figure 4 is not drawn: results has no cell that all" in page.words
    assert "There is nothing to compare yet." in page.words
    assert "Nothing is recorded." in page.words
    assert page.words.count("cannot be said yet") == 5


@pytest.mark.parametrize("kind", ["one row", "three sets", "one method", "no spl"])
def test_pages_of_partial_tables(tmp_path, small_pictures, kind):
    results = make_results(SETS[:3], repeats=2, methods=list(CHARACTERS))
    part = {
        "one row": results[:1],
        "three sets": without(results, data=SETS[1], noise=30, method="RBoost"),
        "one method": results[results["method"] == "SPL hard"],
        "no spl": results[~results["method"].str.startswith("SPL")],
    }[kind]
    page = Page(write(tmp_path, part, {}))
    assert "cannot be said yet 5" in page.words
    assert "nan" not in page.words.split()
    if kind == "three sets":
        assert "too few for a test" in page.words


def test_a_page_that_cannot_be_made_leaves_the_old_one(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")
    with pytest.raises(ValueError, match="'cv_error'"):
        write_report(pd.DataFrame({"data": []}), path)
    assert path.read_text() == "old"


def test_what_is_missing_is_counted():
    results = make_results(repeats=2, methods=list(CHARACTERS))
    assert find_missing(results) == []
    part = without(results, data="pima", noise=30, repeat=1)
    part = without(part, data="miniboone")
    part = without(part, method="SPLForest")
    assert find_missing(part) == [
        "No results on miniboone.",
        "No results of SPLForest.",
        "pima: 9 of 90 results are missing (2 repeats).",
    ]
    assert len(find_missing(results[:0])) == 2
    planned = find_missing(part, PRESETS["standard"])
    assert "pima: 369 of 450 results are missing (10 repeats)." in planned
    assert "adult: 45 of 135 results are missing (3 repeats)." in planned


# --------------------------------------------------------------- numbers of the tables


def rows_of(markup):
    """The texts of a table, without its header."""
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", markup, flags=re.DOTALL)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]
    return [
        [html.unescape(re.sub("<[^>]+>", "", text)) for text in row] for row in cells
    ][1:]


def in_points(difference):
    return f"{100 * difference:+.2f}".replace("-", "−")


def counts_of(differences):
    signs = np.sign(differences.round(9))
    return " / ".join(str((signs == sign).sum()) for sign in (-1, 0, 1))


TRIO = ["AdaBoost", "RBoost", "SPL hard"]
NARROW = {"AdaBoost": (0.001, 0.0021), "RBoost": (0.002, 0.0019)}


def test_numbers_of_a_comparison_are_those_of_its_results():
    results = make_results(SETS[:9], repeats=2, methods=TRIO, characters=NARROW)
    outcomes = Outcomes.of(results, TRIO)
    sets = results.pivot_table(index="data", columns="method", values="error")
    cases = results.pivot_table(
        index=["data", "noise"], columns="method", values="error"
    )
    rivals = ["AdaBoost", "RBoost"]
    of_sets = {name: (sets["SPL hard"] - sets[name]).to_numpy() for name in rivals}
    of_cases = {name: (cases["SPL hard"] - cases[name]).to_numpy() for name in rivals}
    p = {name: stats.wilcoxon(of_sets[name]).pvalue for name in rivals}
    smaller, larger = sorted(rivals, key=p.get)
    holm = {smaller: 2 * p[smaller], larger: max(2 * p[smaller], p[larger])}
    for row, name in zip(
        rows_of(rival_table(outcomes, "SPL hard")), rivals, strict=True
    ):
        assert row == [
            name,
            in_points(of_sets[name].mean()),
            in_points(np.median(of_sets[name])),
            counts_of(of_sets[name]),
            f"{p[name]:.2g}",
            f"{min(holm[name], 1):.2g}",
            counts_of(of_cases[name]),
            f"{stats.wilcoxon(of_cases[name]).pvalue:.2g}",
        ]
    assert len({*p.values(), *holm.values()}) > 2  # so that Holm's are no others


@pytest.mark.parametrize(("n_sets", "shown"), [(5, 0), (6, 1), (7, 2)])
def test_probabilities_that_cannot_be_small_are_not_shown(n_sets, shown):
    """Wilcoxon's needs six sets to be below 5%; the larger of two by Holm seven."""
    results = make_results(SETS[:n_sets], repeats=1, methods=TRIO)
    for row in rows_of(rival_table(Outcomes.of(results, TRIO), "SPL hard")):
        assert [text != "–" for text in row[4:6]] == [shown > 0, shown > 1]
        assert (row[7] != "–") == (shown > 0)


def test_numbers_of_the_ranks_are_those_of_the_results():
    results = make_results(SETS[:5], repeats=2, methods=TRIO, characters=NARROW)
    sets = results.pivot_table(index="data", columns="method", values="error")
    cases = results.pivot_table(
        index=["data", "noise"], columns="method", values="error"
    )
    is_first = cases.eq(cases.min(axis=1), axis=0).mean()
    found = {row[0]: row[1:] for row in rows_of(rank_table(Outcomes.of(results, TRIO)))}
    for name in TRIO:
        assert found[name] == [
            f"{sets.rank(axis=1)[name].mean():.2f}",
            f"{100 * sets[name].mean():.2f}",
            *(f"{100 * e:.2f}" for e in cases[name].groupby("noise").mean()),
            f"{cases.rank(axis=1)[name].mean():.2f}",
            f"{100 * is_first[name]:.2f}",
        ]
    assert list(found) == sorted(TRIO, key=sets.rank(axis=1).mean().get)


def test_titles_say_how_numbers_are_written():
    titles = ["mean rise (points)", "Holm's p", "mean difference (points)", "sets"]
    frame = pd.DataFrame([[5.0, 0.0321, -1.234, 7]], ["RBoost"], titles)
    missing = pd.DataFrame([[np.nan] * 4], ["AdaBoost"], titles)
    assert rows_of(frame_table(frame)) == [["RBoost", "5.00", "0.032", "−1.23", "7"]]
    assert rows_of(frame_table(missing)) == [["AdaBoost", *["–"] * 4]]


# ------------------------------------------------------------------------- small pieces


def test_text_is_escaped_and_markup_is_not():
    assert element("p", "<", Markup("<b>")) == "<p>&lt;<b></p>"
    assert element("a", title='"<', class_="x") == (
        '<a title="&quot;&lt;" class="x"></a>'
    )
    assert "<td>&amp;</td>" in table([{"a": "x", "b": "&"}])


def test_pictures_are_whole_and_the_same_each_time():
    figure = Figure(figsize=(2, 1))
    figure.subplots().plot([0, 1], color="#1f5fa8")
    shown = picture(lambda: figure, 'A "picture" <of> lines')
    assert 'alt="A &quot;picture&quot; &lt;of&gt; lines"' in shown
    image = b64decode(re.search('png;base64,([^"]+)', shown)[1])
    assert image.startswith(b"\x89PNG") and "max-width: 192px" in shown
    assert shown == picture(lambda: figure, 'A "picture" <of> lines')
