"""The package does what it did: see ``recorder.py``, which says what to do if not."""

import pytest

from recorder import KINDS, differences


@pytest.mark.parametrize("kind", KINDS)
def test_results_are_those_recorded(kind):
    found = differences(kind)
    assert not found, "\n".join([f"{len(found)} cases differ", *found[:20]])
