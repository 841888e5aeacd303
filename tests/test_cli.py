"""The command line as a whole: how it starts, and how it is stopped."""

import signal
import subprocess
import sys
import time
from importlib.metadata import version

import pytest

pytest.importorskip("typer", reason="needs the extra cli")
from typer.testing import CliRunner

from splboost import cli


def call(*arguments, code=0):
    """What a command says, in one line."""
    done = CliRunner().invoke(cli.make_app(), list(arguments))
    assert done.exit_code == code, done.output + repr(done.exception)
    return " ".join(done.output.replace("│", " ").split())


def run_code(code, *arguments):
    """The command line in a process of its own, with a start of its own."""
    code = (
        "import os, signal, sys\n"
        # A shell lets background jobs, and what they start, ignore Ctrl-C.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"sys.argv[1:] = {list(map(str, arguments))}\n"
        f"from splboost import cli\n{code}\ncli.main()"
    )
    return run_python(code)


def run_python(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120
    )


# ------------------------------------------------------------------ starting a command


def test_version_and_mistyped_commands():
    assert call("--version") == f"splboost {version('splboost')}"
    assert "No such command 'papr'. Did you mean 'paper'?" in call("papr", code=2)


def test_help_names_the_extra_of_a_command_that_cannot_start(monkeypatch):
    def refuse(name):
        raise ImportError("No module named 'psutil'")

    monkeypatch.setattr(cli, "import_module", refuse)
    said = CliRunner().invoke(cli.make_app(), ["--help"]).output
    assert "splboost[paper]" in "".join(said.split()).replace("│", "")


@pytest.mark.parametrize(
    ("missing", "arguments", "extra"),
    [
        ("typer", ["audit", "x.csv"], "audit"),
        ("rich", ["audit", "x.csv", "--target", "y"], "audit"),
        ("psutil", ["paper", "--figure", "1"], "paper"),
    ],
)
def test_missing_packages_are_named(missing, arguments, extra):
    done = run_code(f"sys.modules[{missing!r}] = None", *arguments)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert missing in done.stderr and f"pip install 'splboost[{extra}]'" in done.stderr


def test_a_command_needs_nothing_of_the_others():
    done = run_code("sys.modules['psutil'] = None", "audit", "--help")
    assert done.returncode == 0 and "apply" in done.stdout, done.stderr


def test_what_is_not_needed_is_not_imported():
    heavy = {"numpy", "splboost.paper", "splboost.audit"}
    done = run_code(
        "import atexit\n"
        f"atexit.register(lambda: print({heavy} & set(sys.modules), file=sys.stderr))",
        "--version",
    )
    assert done.stderr == "set()\n"
    done = run_python(
        f"import sys, splboost; print({heavy | {'typer'}} & set(sys.modules))"
    )
    assert done.stdout == "set()\n", done.stderr


def test_names_of_the_package_are_there_when_asked_for():
    done = run_python(
        "import sys, splboost\n"
        "assert 'numpy' not in sys.modules\n"
        "assert set(splboost.__all__) <= set(dir(splboost))\n"
        "for name in ('boosting', 'losses', 'pace', 'trees', 'datasets'):\n"
        "    assert getattr(splboost, name).__name__ == f'splboost.{name}'\n"
        "assert not hasattr(splboost, 'nothing')\n"
        "from splboost import *\n"
        "assert spl_path is splboost.selection.spl_path\n"
        "assert SPLBoostClassifier is splboost.boosting.SPLBoostClassifier\n"
        "print(splboost.__version__)"
    )
    assert done.stdout.strip() == version("splboost"), done.stderr


# ------------------------------------------------------------------------------ Ctrl-C


@pytest.mark.parametrize("package", ["typer", "rich", "splboost.paper"])
def test_ctrl_c_while_packages_are_imported(package):
    """Not earlier: nobody can guard the start of Python itself."""
    done = run_code(
        "class Interrupt:\n"
        "    def find_spec(self, name, *given):\n"
        f"        if name == {package!r}:\n"
        "            sys.meta_path.remove(self)\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupt())",
        "paper",
        "--help",
    )
    assert (done.returncode, done.stderr, done.stdout) == (130, "Stopped.\n", "")


@pytest.mark.parametrize(
    ("arguments", "share"), [(["audit", "--help"], 0.5), (["paper", "table"], 0.95)]
)
def test_ctrl_c_at_any_time_shows_no_traceback(arguments, share):
    start = time.monotonic()
    assert run_code("", *arguments).returncode == 0
    seconds = max(0.05, share * (time.monotonic() - start))
    done = run_code(
        "import threading\n"
        f"stop = threading.Timer({seconds}, signal.raise_signal, [signal.SIGINT])\n"
        "stop.daemon = True; stop.start()",
        *arguments,
    )
    kept = "Stopped; what was measured is kept.\n"
    assert done.stderr in ("", "Stopped.\n", kept)
    assert done.returncode in (0, 130, -signal.SIGINT)


def test_ctrl_c_that_strikes_where_it_cannot_be_raised_comes_again():
    start = time.monotonic()
    done = run_code(
        "import time\n"
        "class Struck:\n"
        "    def __del__(self):\n"
        "        raise KeyboardInterrupt\n"
        "def work(*given, **options):\n"
        "    Struck()\n"
        "    time.sleep(60)\n"
        "from splboost.paper import commands\n"
        "commands.describe_table_one = work",
        "paper",
        "table",
    )
    assert done.stderr == "Stopped; what was measured is kept.\n"
    assert done.returncode == 130
    assert time.monotonic() - start < 45  # not only once the command has waited


def test_ctrl_c_that_is_ignored_stays_so():
    done = run_code(
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "import threading\n"
        "threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()",
        "paper",
        "--help",
    )
    assert done.returncode == 0 and done.stderr == ""


def test_ctrl_c_is_handled_as_before_once_a_command_is_there():
    before = signal.getsignal(signal.SIGINT)
    call("paper", "--help")
    assert signal.getsignal(signal.SIGINT) is before
