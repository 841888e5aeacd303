"""With what, on what and when results were reported."""

from __future__ import annotations

import platform
import shlex
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from splboost.paper.protocol import Protocol

PACKAGES = "splboost", "numpy", "scipy", "scikit-learn", "numba", "pandas"


def provenance(protocol: Protocol | None = None) -> dict[str, Any]:
    """What a page should say of how it came about.

    Parameters
    ----------
    protocol : Protocol, default=None
        That of the results.

    Examples
    --------
    >>> from splboost.paper.protocol import Protocol
    >>> from splboost.paper.provenance import provenance
    >>> list(provenance(Protocol(("twonorm",), (20,), repeats=1)))
    ['date', 'command', 'settings', 'seeds', 'versions', 'system']
    """
    of_protocol: dict[str, Any] = {}
    if protocol is not None:
        of_protocol = {"settings": asdict(protocol), "seeds": list(protocol.seeds)}
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        **of_protocol,
        "versions": {
            "python": platform.python_version(),
            **{package: version(package) for package in PACKAGES},
        },
        "system": f"{platform.system()} {platform.machine()}",
    }
