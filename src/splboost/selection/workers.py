"""Many independent pieces of work: in parallel, with a bar, and with an orderly end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from joblib import Parallel, delayed

from splboost._tools.progress_bar import make_report
from splboost._tools.user_warnings import keeping_advice, warn


class Stop:
    """Tells workers to end early, and knows how many are at work.

    A copy in another process is on its own: it is never set.
    """

    def __init__(self) -> None:
        self.is_set = False
        self._working = 0
        self._changed = threading.Condition()

    def __reduce__(self) -> Any:
        return Stop, ()

    def run(self, function: Callable[..., Any], number: int, given: Any) -> Any:
        """A piece of work, unless it is to end: its number, result and warnings."""
        with self._changed:
            self._working += 1
        try:
            with keeping_advice() as advice:
                result = None if self.is_set else function(*given, self)
            return number, result, advice
        finally:
            with self._changed:
                self._working -= 1
                self._changed.notify_all()

    def set_and_wait(self) -> None:
        """Let all workers of this process come to their end."""
        self.is_set = True
        with self._changed:
            self._changed.wait_for(lambda: self._working == 0)


def work_through(
    function: Callable[..., Any],
    pieces: list[tuple[Any, ...]],
    *,
    n_jobs: int | None,
    verbose: int,
    title: str,
    unit: str,
    worth: int = 1,
    receive: Callable[[int, Any], None] | None = None,
) -> list[Any]:
    """``function(*piece, stop)`` for each piece, in order.

    Threads do it, or whatever joblib is told to use; warnings are given by this one.
    Ctrl-C ends them all before it is passed on, with the number of pieces that were
    done.

    Parameters
    ----------
    function : callable
        Looks at ``stop.is_set`` now and then, and returns at once if it is.
    pieces : tuples of arguments
    n_jobs : int or None
    verbose : int
        Whether to show a bar.
    title, unit : what is fitted, a noun, and in what units; ``worth`` to a piece
    receive : callable, default=None
        Gets the number and the result of each piece, in order and as soon as may be;
        nothing is kept and returned then.
    """
    total = worth * len(pieces)
    results: dict[int, Any] = {}
    n_done = n_received = 0
    stop = Stop()
    parallel = Parallel(
        n_jobs=n_jobs,
        prefer="threads",
        return_as="generator_unordered",
        pre_dispatch="2 * n_jobs",
    )
    report = make_report(verbose, total, title)
    try:
        with report:
            finished = parallel(
                delayed(stop.run)(function, number, given)
                for number, given in enumerate(pieces)
            )
            for number, result, advice in finished:
                for each in advice:
                    warn(*each)
                results[number] = result
                while receive is not None and n_received in results:
                    receive(n_received, results.pop(n_received))
                    n_received += 1
                n_done += 1
                report.show(worth * n_done)
    except BaseException as error:
        stop.set_and_wait()
        if not isinstance(error, KeyboardInterrupt):
            raise
        raise KeyboardInterrupt(
            f"Fitting the {title} was interrupted after {worth * n_done} of {total} "
            f"{unit}."
        ) from None
    return [results[number] for number in sorted(results)]
