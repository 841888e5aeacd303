"""Ctrl-C takes effect while a large tree is made."""

import _thread
import signal
import threading
import time

import numpy as np
import pytest

from splboost.trees import C45Classifier


@pytest.fixture
def interruptible():
    """Ctrl-C raises KeyboardInterrupt, also in a process started in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_within_a_tree(interruptible):
    """It would come at the end of the tree if that were made by one call."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150_000, 10))
    y = (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=len(X)) > 0).astype(int)
    tree = C45Classifier(max_depth=2).fit(X[:500], y[:500])
    before = tree.predict_proba(X)
    start = time.perf_counter()
    C45Classifier().fit(X, y)
    whole = time.perf_counter() - start
    tree.set_params(max_depth=None)
    for share in (0.3, 0.5, 0.7):

        def interrupt():
            nonlocal start
            start = time.perf_counter()
            _thread.interrupt_main()

        threading.Timer(share * whole, interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            tree.fit(X, y)
        assert time.perf_counter() - start < 0.2 * whole
    np.testing.assert_array_equal(tree.predict_proba(X), before)
