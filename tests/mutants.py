"""Measures how well the tests notice broken code.

``python tests/mutants.py`` draws mutants of the core of the package, in which one place
is wrong, such as ``<=`` where ``<`` was, and runs the tests on each until one fails. A
mutant that no test notices has survived: either nothing tests that code, or the change
makes no difference. Somebody has to look which of the two it is.

Mutants are written into a copy of the checkout in a temporary folder. Each is compiled
from nothing, as numba does not notice changes in functions that another file calls. The
tests must pass on the copy without a mutant; this first run also sets time limits, for
all tests and for the longest pause in their output. A mutant beyond a limit has timed
out, and counts as caught.

A survivor takes as long as all tests do. ``--results`` names a file that keeps what is
known, so that the next run goes on from there. pytest takes further options from
``PYTEST_ADDOPTS``. Needs Linux or macOS.
"""

import argparse
import ast
import hashlib
import json
import math
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
ROOMS = "boosting", "trees", "selection", "losses*", "pace*"  # of src/splboost
NOT_COPIED = ".git", ".venv*", ".*_cache", ".hypothesis", "__pycache__"
PYTEST = "-m", "pytest", "-x", "-v", "--tb=no", "--disable-warnings"
NO_TESTS = 5  # an exit code of pytest
SLOWER = 8  # times what the tests take without a mutant, and a minute, is too long
MEMORY = 8 * 2**30  # bytes for each process; a mutant may ask for more and more

# What is exchanged for each other: operators and functions
PAIRS = (
    "<,<=; <,>=; >,>=; >,<=; ==,!=; is,is not; in,not in; and,or; +,-; *,/; +=,-=; "
    "*=,/=; min,max; minimum,maximum; fmin,fmax; argmin,argmax"
)
OTHERS: dict[str, list[str]] = {}
for pair in PAIRS.split("; "):
    one, other = pair.split(",")
    OTHERS.setdefault(one, []).append(other)
    OTHERS.setdefault(other, []).append(one)
# Annotations of functions that may return 1 - value instead of the value
NUMERIC = re.compile(r"(tuple\[)?(bool|int|float|[\w.]*array)", re.IGNORECASE)
# A test that runs, or has failed, as pytest names it at the start of a line
TEST = re.compile(r"^(?:FAILED |ERROR )?((?:tests|src)/\S+)", re.MULTILINE)


class Mutant(NamedTuple):
    """A file in which the bytes from ``start`` to ``end`` are replaced."""

    path: str
    line: int
    start: int
    end: int
    text: str

    def apply(self, source: bytes) -> bytes:
        return source[: self.start] + self.text.encode() + source[self.end :]

    def diff(self, source: bytes) -> str:
        """The lines that go, and those that come instead."""
        first = source.rfind(b"\n", 0, self.start) + 1
        n_left = len(source) - source.find(b"\n", self.end)
        marked = ("-", source), ("+", self.apply(source))
        return "\n".join(
            f"   {mark} {line}"
            for mark, text in marked
            for line in text[first:-n_left].decode().split("\n")
        )


class Changes:
    """All changes of a source: their kind, where they start and end, and the text."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        lengths = map(len, source.splitlines(keepends=True))
        self._line_starts = [0, *accumulate(lengths)]

    def __iter__(self) -> Iterator[tuple[str, int, int, str]]:
        return self._visit(ast.parse(self._source), numeric=True)

    def _visit(self, node: ast.AST, *, numeric: bool) -> Iterator[Any]:
        """Changes of a node and all in it, except messages, types and defaults."""
        parts: list[Any] = list(ast.iter_child_nodes(node))
        match node:
            case ast.Raise() | ast.Assert() | ast.JoinedStr():
                parts = []
            case ast.Call(func=ast.Attribute(attr="warn") | ast.Name(id="warn")):
                parts = []
            case ast.FunctionDef(name=name, returns=returns):
                parts = [] if name == "__repr__" else [*node.body]
                numeric = returns is None or bool(NUMERIC.match(ast.unparse(returns)))
            case ast.ClassDef():
                parts = [*node.body]
            case ast.Lambda():
                parts = [node.body]
            case ast.AnnAssign():
                parts = [node.value] if node.value else []
            case ast.If() if "TYPE_CHECKING" in ast.unparse(node.test):
                parts = [*node.orelse]
            case ast.Return() if not numeric:
                pass
            case _:
                yield from self._change(node)
        for part in parts:
            yield from self._visit(part, numeric=numeric)

    def _change(self, node: ast.AST) -> Iterator[tuple[str, int, int, str]]:
        """Changes of one node."""
        match node:
            case ast.Compare(left=left, comparators=others):
                yield from self._change_operators("comparison", [left, *others])
            case ast.BoolOp(values=values):
                yield from self._change_operators("logic", values)
            case ast.BinOp(left=left, right=right) if not is_text(left, right):
                yield from self._change_operators("arithmetic", [left, right])
            case ast.AugAssign(target=left, value=right) if not is_text(right):
                yield from self._change_operators("arithmetic", [left, right])
                yield "dropped", *self._span(node), "pass"
            case ast.Constant(value=int() | float() as number):
                for other in other_numbers(number):
                    yield "constant", *self._span(node), repr(other)
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in OTHERS:
                end = self._span(node)[1]
                yield "function", end - len(name), end, OTHERS[name][0]
            case ast.Return(value=ast.expr() as value):
                first = value.elts[0] if isinstance(value, ast.Tuple) else value
                if not isinstance(first, ast.Constant | ast.Starred):
                    yield "returned", *self._span(first), f"1 - ({self._text(first)})"
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
                if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
                    yield "negation", *self._span(test), f"({self._text(test.operand)})"
                elif not isinstance(test, ast.Compare | ast.Constant):
                    yield "negation", *self._span(test), f"not ({self._text(test)})"

    def _change_operators(
        self, kind: str, operands: list[ast.expr]
    ) -> Iterator[tuple[str, int, int, str]]:
        for left, right in pairwise(operands):
            start, end = self._span(left)[1], self._span(right)[0]
            between = self._source[start:end]
            operator = between.strip(b"() \n")
            start += between.index(operator)
            for other in OTHERS.get(operator.decode(), ()):
                yield kind, start, start + len(operator), other

    def _span(self, node: Any) -> tuple[int, int]:
        start = self._line_starts[node.lineno - 1] + node.col_offset
        return start, self._line_starts[node.end_lineno - 1] + node.end_col_offset

    def _text(self, node: ast.expr) -> str:
        return self._source[slice(*self._span(node))].decode()


def is_text(*operands: ast.expr) -> bool:
    return any(
        isinstance(operand, ast.JoinedStr)
        or (isinstance(operand, ast.Constant) and isinstance(operand.value, str))
        for operand in operands
    )


def other_numbers(value: float) -> list[float]:
    """Small integers off by one, other numbers doubled and halved."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value * 2, value // 2] if value > 16 else [value + 1, abs(value - 1)]
    others = [value * 2, value / 2] if value else [1.0]
    return [other for other in others if math.isfinite(other)]


def read_sources(tree: Path) -> dict[str, bytes]:
    """All files of the core, by their paths in the checkout."""
    package = tree / "src" / "splboost"
    places = [place for room in ROOMS for place in package.glob(room)]
    files = [file for place in places for file in (place, *place.rglob("*.py"))]
    python = sorted(file for file in files if file.suffix == ".py")
    return {file.relative_to(tree).as_posix(): file.read_bytes() for file in python}


def draw(sources: dict[str, bytes], seed: int, number: int) -> list[Mutant]:
    """As many mutants of each kind, while there are, and no two on a line.

    The same seed with a larger number gives the same mutants and others.
    """
    kinds: dict[str, list[Mutant]] = {}
    for path, source in sources.items():
        for kind, start, end, text in Changes(source):
            line = source.count(b"\n", 0, start) + 1
            kinds.setdefault(kind, []).append(Mutant(path, line, start, end, text))
    generator = random.Random(seed)
    for kind in sorted(kinds):
        generator.shuffle(kinds[kind])
    drawn: dict[tuple[str, int], Mutant] = {}
    while len(drawn) < number and any(kinds.values()):
        for mutants in (kinds[kind] for kind in sorted(kinds)):
            while mutants:
                mutant = mutants.pop()
                if (mutant.path, mutant.line) not in drawn:
                    drawn[mutant.path, mutant.line] = mutant
                    break
    return list(drawn.values())[:number]


def order_tests(tree: Path, chosen: list[str], room: str = "") -> list[list[str]]:
    """Recorded results first, then the tests of a room of the package, then others."""
    stages: list[list[str]] = [[], [], []]
    for name in chosen:
        path = tree / name.partition("::")[0]
        if not path.exists():
            sys.exit(f"--tests {name}: there is no such path in the checkout.")
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            text, parts = file.read_text("utf-8"), file.relative_to(tree).parts
            has_examples = parts[0] == "src" and ">>>" in text
            if file == path or has_examples or file.name.startswith("test_"):
                is_near = room and (room in parts or f"splboost.{room}" in text)
                stage = 0 if file.stem == "test_recorded" else 1 if is_near else 2
                stages[stage].append(name if file == path else "/".join(parts))
    stages[1].sort(key=lambda name: room not in name)
    return [stage for stage in stages if stage]


class Run(NamedTuple):
    """How tests ended, the test that failed, and times in seconds."""

    outcome: str  # "passed", "failed", "crashed" or "timed out"
    test: str
    seconds: float
    pause: float  # the longest between two lines of output


def run_tests(tree: Path, stages: list[list[str]], limits: list[float]) -> Run:
    """Run stages of tests until a test fails; all kernels are compiled anew."""
    start, pause, outcome, said = time.monotonic(), 0.0, "passed", ""
    with tempfile.TemporaryDirectory(
        dir=tree.parent, ignore_cleanup_errors=True
    ) as scratch:
        log = Path(scratch, "log")
        environment = {
            **os.environ,
            "PYTHONPATH": str(tree / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "NUMBA_CACHE_DIR": f"{scratch}/numba",
            "HYPOTHESIS_STORAGE_DIRECTORY": f"{scratch}/hypothesis",
            "TMPDIR": scratch,
        }
        for tests in stages:
            with log.open("wb") as stream:
                process = subprocess.Popen(
                    [sys.executable, *PYTEST, *tests],
                    cwd=tree,
                    env=environment,
                    stdout=stream,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            try:
                pause = max(pause, _wait(process, log, start, *limits))
            except TimeoutError:
                outcome = "timed out"
            finally:
                if process.returncode is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            said = log.read_text("utf-8", errors="replace")
            if outcome == "passed" and process.returncode not in (0, NO_TESTS):
                outcome = "failed" if process.returncode > 0 else "crashed"
            if outcome != "passed":
                break
    test = "" if outcome == "passed" else [said[-500:], *TEST.findall(said)][-1]
    return Run(outcome, test, round(time.monotonic() - start), round(pause))


def _wait(
    process: subprocess.Popen[bytes],
    log: Path,
    start: float,
    most_seconds: float = math.inf,
    longest_pause: float = math.inf,
) -> float:
    """Wait for the end of a process; gives the longest pause in what it writes."""
    size, last, pause = 0, time.monotonic(), 0.0
    while process.poll() is None:
        time.sleep(0.2)
        now = time.monotonic()
        pause = max(pause, now - last)
        if pause > longest_pause or now - start > most_seconds:
            raise TimeoutError
        if log.stat().st_size > size:
            size, last = log.stat().st_size, now
    return pause


class Results:
    """The runs that are known, kept in a file if there is one."""

    def __init__(self, path: Path | None, tree: Path, chosen: list[str]) -> None:
        digest = hashlib.sha256(repr(chosen).encode())
        for file in sorted([*tree.glob("src/**/*"), *tree.glob("tests/**/*")]):
            digest.update(file.read_bytes() if file.is_file() else b"")
        self._path, self._tree, self._chosen = path, tree, chosen
        self._known: dict[str, Any] = {"files": digest.hexdigest(), "runs": {}}
        if path and path.exists():
            known = json.loads(path.read_text("utf-8"))
            if known["files"] != self._known["files"]:
                sys.exit(
                    f"--results {path} is of other files or --tests; name another."
                )
            self._known = known

    def run(self, name: str, room: str = "", limits: Iterable[float] = ()) -> Run:
        """Run the tests, unless it is known how that ends."""
        runs = self._known["runs"]
        if name not in runs:
            stages = order_tests(self._tree, self._chosen, room)
            runs[name] = run_tests(self._tree, stages, [*limits])
            if self._path and (room or runs[name].outcome == "passed"):
                part = self._path.with_name(f"{self._path.name}.part")
                part.write_text(json.dumps(self._known, indent=1), "utf-8")
                part.replace(self._path)
        return Run(*runs[name])


def measure(tree: Path, mutants: list[Mutant], results: Results) -> None:
    """Run the tests on each mutant, and print how that ended."""
    whole = results.run("without a mutant")
    if whole.outcome != "passed":
        sys.exit(f"Without a mutant the tests must pass: {whole.outcome}, {whole.test}")
    print(f"Without a mutant: passed ({whole.seconds} s, pauses up to {whole.pause} s)")
    limits = [SLOWER * seconds + 60 for seconds in (whole.seconds, whole.pause)]
    outcomes: Counter[str] = Counter()
    for number, mutant in enumerate(mutants, 1):
        path = tree / mutant.path
        source = path.read_bytes()
        print(f"\n{number}. {mutant.path}:{mutant.line}\n{mutant.diff(source)}")
        path.write_bytes(mutant.apply(source))
        name = f"{mutant.path}, {mutant.start} to {mutant.end}: {mutant.text}"
        run = results.run(name, Path(mutant.path).parts[2].split(".")[0], limits)
        path.write_bytes(source)
        says = "survived" if run.outcome == "passed" else f"{run.outcome}: {run.test}"
        print(f"   {says} ({run.seconds} s)", flush=True)
        outcomes[run.outcome] += 1
    n_survived, n_late = outcomes["passed"], outcomes["timed out"]
    print(
        f"\n{len(mutants)} mutants: {len(mutants) - n_survived} caught "
        f"({n_late} by a time limit), {n_survived} survived"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--seed", type=int, default=0, help="of the draw")
    add("--number", type=int, default=40, help="of mutants")
    add("--tests", nargs="+", default=["tests", "src"], metavar="PATH", help="to run")
    add("--tree", type=Path, default=ROOT, help="another checkout to measure")
    add("--results", type=Path, metavar="FILE", help="what is known, as JSON")
    add("--list", action="store_true", help="only show the mutants")
    options = parser.parse_args()
    sources = read_sources(options.tree)
    mutants = draw(sources, options.seed, options.number)
    if options.list:
        for number, mutant in enumerate(mutants, 1):
            lines = mutant.diff(sources[mutant.path])
            print(f"{number}. {mutant.path}:{mutant.line}\n{lines}")
        return
    import resource  # not on Windows, where pytest still imports this file

    hard_limit = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, hard_limit))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Stopped."))
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = Path(folder, "checkout").resolve()
        ignored = shutil.ignore_patterns(*NOT_COPIED)
        shutil.copytree(options.tree, tree, symlinks=True, ignore=ignored)
        measure(tree, mutants, Results(options.results, tree, options.tests))


if __name__ == "__main__":
    main()
