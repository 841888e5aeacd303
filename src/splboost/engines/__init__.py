"""Self-paced XGBoost and LightGBM, on one machine and on a Dask cluster.

``SelfPacedObjective`` puts a pace into either package; ``SPLXGBClassifier``,
``SPLLGBMClassifier`` and ``DaskSPLXGBClassifier`` are their own classifiers with it.
None of the packages is imported before it is needed.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from splboost.engines.objective import SelfPacedObjective

if TYPE_CHECKING:
    from splboost.engines.dask import DaskSPLXGBClassifier
    from splboost.engines.lightgbm import SPLLGBMClassifier
    from splboost.engines.xgboost import SPLXGBClassifier

__all__ = [
    "DaskSPLXGBClassifier",
    "SPLLGBMClassifier",
    "SPLXGBClassifier",
    "SelfPacedObjective",
]

# Where each class is, the packages that it needs, and how to get these
_HOMES = {
    "SPLXGBClassifier": ("xgboost", ["xgboost"], "splboost[xgboost]"),
    "SPLLGBMClassifier": ("lightgbm", ["lightgbm"], "splboost[lightgbm]"),
    "DaskSPLXGBClassifier": (
        "dask",
        ["xgboost", "dask", "distributed"],
        "splboost[xgboost,dask]",
    ),
}


def _can_be_had(name: str) -> bool:
    return name not in _HOMES or all(map(find_spec, _HOMES[name][1]))


__all__[:] = filter(_can_be_had, __all__)  # import * asks for each of these


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home, _, extra = _HOMES[name]
    try:
        return getattr(import_module(f"{__name__}.{home}"), name)
    except ImportError as why:
        package = (why.name or "splboost").partition(".")[0]
        if package == "splboost":
            raise
        remedy = f"run pip install '{extra}'."
        if "xgboost" in extra:
            remedy += " Without a GPU xgboost-cpu does, a twentieth of the size."
        message = f"{name} cannot be imported ({why}); {remedy}"
        raise ImportError(message, name=package) from why


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
