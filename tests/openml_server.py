"""A server on this machine that answers as OpenML does."""

import gzip
import hashlib
import json
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlparse
from urllib.request import Request, urlopen

from splboost.datasets import UCI_CATALOGUE

API = "/api/v1/json/data"
FILES = "/data/v1/download"

# A set like adult
ADULT = {
    "age": None,
    "workclass": ["Private", "State-gov", "'Never worked'"],
    "class": [">50K", "<=50K"],
}
ADULT_ROWS = [
    (39, "Private", "<=50K"),
    (50, "?", ">50K"),
    (38, "State-gov", "<=50K"),
    ("?", "'Never worked'", "<=50K"),
]


class OpenMLServer(ThreadingHTTPServer):
    """Serves descriptions of data sets in JSON, and the data in ARFF.

    `asked` are the paths of all requests. With `breaks_off` the data end in the middle.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = {}
        self.asked = []
        self.breaks_off = False

    def offer(self, number, attributes, rows):
        """Serve a set.

        `attributes` has the words of each column, None for numbers; the last column is
        the target.
        """
        *_, target = attributes
        data = _arff(attributes, rows)
        features = [
            {
                "index": str(j),
                "name": name,
                "data_type": "numeric" if words is None else "nominal",
                "is_target": str(name == target).lower(),
                "is_ignore": "false",
                "is_row_identifier": "false",
                "number_of_missing_values": "0",
            }
            for j, (name, words) in enumerate(attributes.items())
        ]
        description = {
            "id": str(number),
            "name": "set",
            "version": "1",
            "description": "A set.",
            "format": "ARFF",
            "status": "active",
            "file_id": str(number),
            "url": f"https://www.openml.org{FILES}/{number}/set.arff",
            "md5_checksum": hashlib.md5(data).hexdigest(),
        }
        count = [{"name": "NumberOfInstances", "value": str(len(rows))}]
        for path, answer in {
            f"{API}/{number}": {"data_set_description": description},
            f"{API}/features/{number}": {"data_features": {"feature": features}},
            f"{API}/qualities/{number}": {"data_qualities": {"quality": count}},
        }.items():
            self.answers[path] = json.dumps(answer).encode()
        self.answers[f"{FILES}/{number}"] = data

    def spoil(self, number):
        """Change the data, and not the md5 in their description."""
        self.answers[f"{FILES}/{number}"] += b"\n"

    @property
    def files_sent(self):
        return sum(path.startswith(FILES) for path in self.asked)


def _arff(attributes, rows):
    lines = ["@relation set"]
    for name, words in attributes.items():
        kind = "numeric" if words is None else "{" + ", ".join(words) + "}"
        lines.append(f"@attribute '{name}' {kind}")
    lines += ["@data", *(", ".join(map(str, row)) for row in rows)]
    return "\n".join(lines).encode()


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        # Older versions of scikit-learn ask for a file by its number alone.
        path = self.path.removesuffix("/set.arff")
        if path not in self.server.answers:
            self.send_error(412)
            return
        body = gzip.compress(self.server.answers[path])
        self.send_response(200)
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.server.breaks_off and path.startswith(FILES):
            body = body[: len(body) // 2]
        self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing."""


@contextmanager
def openml_server(monkeypatch):
    """A server to which scikit-learn turns for all that it asks of OpenML."""
    server = OpenMLServer()
    host = f"http://127.0.0.1:{server.server_port}"

    def ask_here(request):
        here = Request(host + urlparse(request.full_url).path, headers=request.headers)
        return urlopen(here, timeout=60)

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", ask_here)
    thread = Thread(target=server.serve_forever, args=[0.01])
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def shrink(monkeypatch, name, **changes):
    """Change what the catalogue knows of a set."""
    entry = replace(UCI_CATALOGUE[name], **changes)
    monkeypatch.setitem(UCI_CATALOGUE, name, entry)
    return entry
