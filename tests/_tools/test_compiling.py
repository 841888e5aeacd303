"""Kernels are compiled once, which is said once, and without a cache they work, too."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numba
import pytest

import splboost

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")

# Prints what it compiles of the package, then uses a kernel
USE_A_KERNEL = """
    import numpy as np
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event):
            function = event.data["dispatcher"].py_func
            if (function.__module__ or "").startswith("splboost."):
                print(function.__name__)

        def on_end(self, event):
            pass

    event.register("numba:compile", Listener())

    from splboost.boosting.loop import put_on_grid

    def use():
        assert put_on_grid(np.ones((2, 1)), 1.0) == 1.0
    """


def start(script, cache=None):
    paths = [str(Path(splboost.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = str(cache)
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def run(script, cache=None):
    out, err = start(script, cache).communicate(timeout=300)
    return out, err


def test_without_a_folder_for_compiled_code():
    script = """
        import numba.core.caching as caching
        from numba.core.caching import CacheImpl

        class Nowhere:
            @classmethod
            def from_function(cls, *_):
                return None

        CacheImpl._locator_classes = [Nowhere]
        for name in dir(caching):  # subclasses may have lists of their own
            kind = getattr(caching, name)
            if isinstance(kind, type) and issubclass(kind, CacheImpl):
                kind._locator_classes = [Nowhere]
        """
    uses = "use(), use()\nimport splboost.warmup as warmup; warmup.main()"
    out, err = run(textwrap.dedent(script) + textwrap.dedent(USE_A_KERNEL) + uses)
    assert out == "put_on_grid\n", err
    notice, refusal = err.splitlines()
    assert notice.startswith("splboost: compiling") and "NUMBA_CACHE_DIR" in notice
    assert refusal.startswith("There is no folder to store compiled kernels in")


def test_compiling_is_announced_once_and_neither_by_workers_nor_for_users(tmp_path):
    again = "use(), use(); put_on_grid(np.ones((2, 1), np.float32), 1.0)"
    script = textwrap.dedent(USE_A_KERNEL) + again
    out, err = run(script, tmp_path / "cache")
    assert out == "put_on_grid\n" * 2
    assert err == (
        "splboost: compiling, which takes up to a minute, once on this machine; python "
        "-m splboost.warmup does it beforehand.\n"
    )
    script += "; import numba; numba.njit(lambda x: x + 1)(1)"  # of the user
    assert run(script, tmp_path / "cache") == ("", "")
    of_worker = """
        from joblib import Parallel, delayed

        def work():
            from splboost.boosting.loop import put_on_grid
            import numpy as np
            return put_on_grid(np.ones((2, 1)), 1.0)

        print(Parallel(n_jobs=2)([delayed(work)(), delayed(work)()]))
        """
    assert run(of_worker, tmp_path / "other cache") == ("[1.0, 1.0]\n", "")


@pytest.mark.parametrize("state", ["enable", "disable"])
def test_compiling_leaves_the_garbage_collector_as_it_was(tmp_path, state):
    script = f"import gc; gc.{state}(); use(); print(gc.isenabled())"
    out, err = run(textwrap.dedent(USE_A_KERNEL) + script, tmp_path)
    assert out == f"put_on_grid\n{state == 'enable'}\n", err


@pytest.mark.skipif(sys.platform == "win32", reason="each process compiles there")
def test_of_processes_that_start_at_once_one_compiles(tmp_path):
    wait = "print('ready', flush=True); input(); use()"
    script = textwrap.dedent(USE_A_KERNEL) + wait
    started = [start(script, tmp_path) for _ in range(2)]
    assert [process.stdout.readline() for process in started] == ["ready\n"] * 2
    for process in started:
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate(timeout=300) for process in started]
    assert sorted(out for out, _ in said) == ["", "put_on_grid\n"]


def test_after_the_warm_up_nothing_is_left_to_compile():
    out, err = run("import splboost.warmup as warmup; warmup.main()")
    assert out.startswith("All kernels are compiled"), err
    out, err = run(textwrap.dedent(USE_A_KERNEL) + textwrap.dedent(FITS))
    assert (out, err) == ("", "")


# Fits of users, with data of kinds that the warm-up does not have
FITS = """
    import warnings
    import pandas as pd
    import splboost
    from splboost._tools import threads
    from splboost.audit import LabelAudit
    from splboost.trees import C45Classifier, CARTClassifier

    threads.THREADED_WORK = 1
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 6))
    y = np.array(["a", "b"])[(X[:, 0] + 0.5 * rng.normal(size=400) > 0).astype(int)]
    frame = pd.DataFrame(X, columns=list("uvwxyz")).assign(z=pd.Categorical(y[::-1]))
    weight = rng.random(400) + 0.1
    weight.flags.writeable = False
    options = {"n_estimators": 5, "n_jobs": 2, "subsample": 0.7, "random_state": 0}
    for tree in None, CARTClassifier(max_depth=2), C45Classifier():
        model = splboost.SPLBoostClassifier(tree, **options)
        for data in X, X.astype(np.float32), np.asfortranarray(X), X[:, ::-2], frame:
            model.fit(data, y, sample_weight=weight).predict(data)
            list(model.staged_predict(data))
    splboost.BrownBoostClassifier(**options).fit(X, y).predict_proba(X)
    splboost.LogitBoostClassifier(pace={"a": "hard", "b": None}, **options).fit(X, y)
    splboost.spl_path(X, y, booster=splboost.SPLBoostClassifier(n_estimators=5))
    LabelAudit(quick=True, n_jobs=2, random_state=1).fit(frame, y)
    """
