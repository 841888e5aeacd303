"""Compiling kernels with numba, once per machine where the result can be stored."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from types import FunctionType
from typing import Any

from numba import njit
from numba.core.cpu import CPUTargetOptions
from numba.experimental import structref
from numba.extending import overload, register_jitable

from splboost._tools import maths


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function, which releases the GIL and divides as numpy does.

    The result is stored on disk: beside the package, in the user's cache, or in the
    folder that ``NUMBA_CACHE_DIR`` names. If none of these can be written to, each
    process compiles again.
    """
    if function is None:
        return partial(kernel, **options)
    compiler = partial(njit, nogil=True, error_model="numpy", **options)
    try:
        return compiler(cache=True)(function)
    except RuntimeError:  # numba has found no folder
        return compiler()(function)


def inner_kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function that only kernels call.

    It has no entry from Python and no file of its own in the cache, which saves a
    quarter of the time of compiling.
    """
    if function is None:
        return partial(inner_kernel, **options)
    options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return njit(nogil=True, error_model="numpy", **options)(function)


def lean_kernel(
    function: Callable[..., Any] | None = None, *, inner: bool = False, **options: Any
) -> Any:
    """Compile a kernel that makes and returns no arrays, and calls none that does.

    Such a kernel needs no reference counts, which take longer than the work on small
    arrays. Versions of numba that cannot leave them out compile an ordinary kernel.
    ``inner`` is for those that only kernels call.
    """
    without_counting = {"_nrt": False} if hasattr(CPUTargetOptions, "_nrt") else {}
    compiler = inner_kernel if inner else kernel
    return compiler(function, **without_counting, **options)


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
