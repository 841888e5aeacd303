"""Compiling kernels with numba, once per machine where the result can be stored.

What is stored is shared by all processes. Where several start at once, one of them
compiles, and the others wait for what it stores. The first compilation of a process
that the user has started is announced.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import current_process
from operator import attrgetter
from types import FunctionType
from typing import Any

from numba import njit
from numba.core import event
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.cpu import CPUTargetOptions
from numba.experimental import structref
from numba.extending import overload, register_jitable

from splboost._tools import maths
from splboost._tools.interrupts import uninterrupted

try:
    import fcntl
except ImportError:  # on Windows each process compiles for itself
    fcntl = None  # type: ignore[assignment]

LONGEST_WAIT, BETWEEN_TRIES = 120.0, 0.05  # seconds
COMPILING = "splboost: compiling, which takes up to a minute"
STORED = "once on this machine; python -m splboost.warmup does it beforehand"
NOT_STORED = "in each process; NUMBA_CACHE_DIR can name a folder to store it in"


def kernel(
    function: Callable[..., Any] | None = None,
    *,
    inner: bool = False,
    lean: bool = False,
    **options: Any,
) -> Any:
    """Compile a function, which releases the GIL and divides as numpy does.

    The result is stored on disk: beside the package, in the user's cache, or in the
    folder that ``NUMBA_CACHE_DIR`` names. If none of these can be written to, each
    process compiles again.

    A kernel that only kernels call is ``inner``: without an entry from Python, a file
    and machine code of its own it takes half the time to compile. A ``lean`` one makes
    and returns no arrays, and calls none that does, so it needs no reference counts,
    which take longer than the work on small arrays; versions of numba that cannot leave
    them out compile an ordinary kernel.
    """
    if function is None:
        return partial(kernel, inner=inner, lean=lean, **options)
    if lean and hasattr(CPUTargetOptions, "_nrt"):
        options["_nrt"] = False
    options |= {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    if inner:
        options |= {"no_cpython_wrapper": True, "pipeline_class": InnerCompiler}
        return njit(**options)(function)
    try:
        compiled = njit(**options, cache=True)(function)
    except RuntimeError:  # numba has found no folder
        notice.remedy = NOT_STORED
        compiled = njit(**options)(function)
    if hasattr(compiled, "compile"):  # not where numba is turned off
        _take_turns(compiled)
    return compiled


class InnerLibrary(JITCodeLibrary):
    """The code of a kernel that only kernels call, which is linked into theirs.

    Numba would optimise it with all that it calls and make machine code of it, and so
    again at each level of calls. All that runs is what is made for the last of them,
    the kernel with an entry from Python: the others leave it to that.
    """

    def _optimize_final_module(self) -> None:
        """Leave the code as it is."""

    def _finalize_final_module(self) -> None:
        self._finalized = True  # without handing it to the engine that runs code

    def get_pointer_to_function(self, name: str) -> int:
        return 0  # numba's word for a function that is not there

    @property
    def codegen(self) -> Any:
        return self

    def set_env(self, name: str, env: Any) -> None:
        """Set no Python objects: only errors with values in their text need them."""


class InnerCompiler(Compiler):
    """Numba's compiler, but for the library that code goes to."""

    def __init__(self, typing: Any, target: Any, library: Any, *args: Any) -> None:
        library = InnerLibrary(target.codegen(), "inner")
        super().__init__(typing, target, library, *args)


inner_kernel = partial(kernel, inner=True)
lean_kernel = partial(kernel, lean=True)


def _take_turns(compiled: Any) -> None:
    """Let a kernel that is not stored wait for another process that compiles it."""
    compile_now, load = compiled.compile, compiled._cache.load_overload

    def compile_in_turn(signature: Any) -> Any:
        with global_compiler_lock, _turn.compiling():
            return compile_now(signature)

    def load_in_turn(signature: Any, context: Any) -> Any:
        stored, folder = load(signature, context), compiled._cache.cache_path
        if stored is None and folder is not None and _turn.take(folder):
            stored = load(signature, context)
        return stored

    compiled.compile, compiled._cache.load_overload = compile_in_turn, load_in_turn


class Turn:
    """A lock between processes with one cache; numba's own lock keeps threads apart.

    It is held from the first kernel that is not stored until that is compiled, with all
    that it calls. Without such locks each process compiles, and so it does if it has
    waited for long. While kernels are compiled, Python collects no garbage.
    """

    def __init__(self) -> None:
        self._collects = False
        self.forget()

    def forget(self) -> None:
        """Start anew, as in a forked child, which compiles nothing yet."""
        self._depth, self._file = 0, -1
        self._collect_again()

    def _collect_again(self) -> None:
        if self._collects:
            gc.enable()
            self._collects = False

    @contextmanager
    def compiling(self) -> Iterator[None]:
        if self._depth == 0 and gc.isenabled():
            # To search all that numba makes would take a seventh of the time.
            self._collects = True
            gc.disable()
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if self._depth == 0:
                self._collect_again()
            if self._depth == 0 and self._file >= 0:
                file, self._file = self._file, -1
                with suppress(OSError):
                    fcntl.flock(file, fcntl.LOCK_UN)  # a forked child has the file, too
                os.close(file)

    def take(self, folder: str) -> bool:
        """Wait for the process that has the lock; False if it is this one."""
        if fcntl is None or self._file >= 0:
            return False
        end = time.monotonic() + LONGEST_WAIT
        with suppress(OSError):
            path = os.path.join(folder, "splboost.lock")
            self._file = os.open(path, os.O_CREAT | os.O_RDWR, 0o666)
            while time.monotonic() < end:
                try:
                    fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    time.sleep(BETWEEN_TRIES)
        return True


class Notice(event.Listener):
    """Says once that kernels are compiled, unless in a worker."""

    is_due = True
    remedy = STORED

    def on_start(self, event: event.Event) -> None:
        function = getattr(event.data.get("dispatcher"), "py_func", None)
        is_own = (getattr(function, "__module__", None) or "").startswith("splboost.")
        if is_own and self.is_due and current_process().name == "MainProcess":
            self.is_due = False
            print(f"{COMPILING}, {self.remedy}.", file=sys.stderr, flush=True)

    def on_end(self, event: event.Event) -> None:
        """Say nothing; the next message is about progress."""


_turn = Turn()
notice = Notice()
event.register("numba:compile", notice)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_turn.forget)


_jitable: set[Callable[..., Any]] = {maths.choose, maths.clip}


def jitable(*functions: Callable[..., Any]) -> None:
    """Let kernels compile formulas, and formulas that these call, into their loops.

    For Python they stay as they are. Kernels may also take them as arguments of other
    jitable functions, which are then compiled for these formulas.
    """
    for function in functions:
        if function in _jitable:
            continue
        _jitable.add(function)
        # Large ones would not be inlined, and sums of series must keep their order.
        register_jitable(forceinline=True, fastmath=False)(function)
        called = map(function.__globals__.get, function.__code__.co_names)
        jitable(*(each for each in called if isinstance(each, FunctionType)))


@overload(maths.choose)
def _choose(condition, yes, no):  # type: ignore[no-untyped-def]
    return lambda condition, yes, no: yes if condition else no


@overload(maths.clip)
def _clip(x, low, high):  # type: ignore[no-untyped-def]
    return lambda x, low, high: min(max(x, low), high)


jitable(maths.exp, maths.log, maths.log1p, maths.expm1)


class Reference(structref.StructRefProxy):
    """A struct that is passed to kernels as one pointer.

    Numba's own getter of its type is written in Python. An interrupt in there is lost,
    because numba takes the error to mean that there is no such attribute.
    """

    _numba_type_ = property(attrgetter("_type"))


def as_reference(refer: Any, record: Any) -> Any:
    """The record as kernels get it, from the kernel that makes a ``Reference`` of it.

    Without compilation the record itself will do.
    """
    if not hasattr(refer, "py_func"):
        return record
    with uninterrupted():
        return refer(record)
