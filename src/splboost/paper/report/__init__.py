"""One page with all results of the paper's experiments.

`sections` says what stands on it, with the `comparisons`, the `tables`, the `pictures`
and what is `missing`; `html` and style.css say how it looks. The page needs no network.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd

from splboost._tools.progress_bar import make_report
from splboost._tools.whole_files import has_mark, write_whole
from splboost.paper.outcomes import check_results
from splboost.paper.protocol import Protocol
from splboost.paper.provenance import provenance
from splboost.paper.report.html import Markup, element
from splboost.paper.report.pictures import palette
from splboost.paper.report.sections import SECTIONS, Material

__all__ = ["is_report", "write_report"]

TITLE = "The SPLBoost paper, run again"
MARK = '<meta name="generator" content="splboost paper '


def write_report(
    results: pd.DataFrame,
    path: str | os.PathLike[str],
    *,
    about: Mapping[str, Any] | None = None,
    protocol: Protocol | None = None,
    data_home: str | os.PathLike[str] | None = None,
    verbose: int = 0,
) -> Path:
    """Write a page with verdicts, figures, tables and statistics.

    It takes about a minute: the synthetic problems are run on the way.

    Parameters
    ----------
    results : frame
        The table of results. It need not be complete; the page says what is missing.
    path : str or path
        The HTML file to write.
    about : dict, default=None
        How the results came about, such as versions, settings and seeds; values are
        dicts, lists or texts. What it has under "missing" stands among what is missing.
        None is what ``splboost.paper.provenance`` finds.
    protocol : Protocol, default=None
        What was planned, so that the page can say what is missing of it.
    data_home : str or path, default=None
        The folder with the data, as in `load_uci`, to compare Table I with.
    verbose : int, default=0
        1 shows how far it is.

    Returns
    -------
    Path
        That of the file.
    """
    about = provenance(protocol) if about is None else dict(about)
    material = Material(check_results(results), about, protocol, data_home)
    parts, links = [], []
    with make_report(verbose, len(SECTIONS), "report") as report:
        for n, (title, make) in enumerate(SECTIONS.items()):
            report.show(n, title)
            anchor = title.lower().replace(" ", "-")
            contents = make(material)
            parts.append(element("section", element("h2", title), *contents, id=anchor))
            links.append(element("li", element("a", title, href=f"#{anchor}")))
        report.show(len(SECTIONS))
    body = Markup(
        element("h1", TITLE)
        + element("p", material.summary, class_="lead")
        + element("nav", element("ul", *links))
        + "\n".join(parts)
    )
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_whole(target, _document(body))
    return target


def is_report(path: Path) -> bool:
    """Whether a file is a page that ``write_report`` has written."""
    return has_mark(path, MARK)


def _document(body: Markup) -> str:
    style = (files(__package__) / "style.css").read_text(encoding="utf-8")
    light, dark = palette(body)
    style += (
        f":root{{{light}}}\n"
        f"@media screen and (prefers-color-scheme: dark){{:root{{{dark}}}}}\n"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'{MARK}{version("splboost")}">\n'
        f"{element('title', TITLE)}\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )
