"""Kernels work where there is no folder to keep compiled code in."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import splboost


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
        from splboost._tools.compiling import kernel

        @kernel
        def twice(x):
            return 2 * x

        assert twice(3) == 6
        print("compiled")
        """
    paths = [str(Path(splboost.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )
    assert done.stdout == "compiled\n", done.stderr
