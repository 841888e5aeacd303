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

# Where each class is, and the packages that it needs
_HOMES = {
    "SPLXGBClassifier": ("xgboost", ["xgboost"]),
    "SPLLGBMClassifier": ("lightgbm", ["lightgbm"]),
    "DaskSPLXGBClassifier": ("dask", ["xgboost", "dask", "distributed"]),
}
_REMEDIES = {
    "xgboost": "pip install 'splboost[xgboost]', or pip install xgboost-cpu, a "
    "twentieth of the size, for a machine without a GPU",
    "lightgbm": "pip install 'splboost[lightgbm]'",
    "dask": "pip install 'splboost[dask]'",
    "distributed": "pip install 'splboost[dask]'",
}


def _can_be_had(name: str) -> bool:
    return name not in _HOMES or all(map(find_spec, _HOMES[name][1]))


__all__[:] = filter(_can_be_had, __all__)  # import * asks for each of these


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home, needed = _HOMES[name]
    try:
        return getattr(import_module(f"{__name__}.{home}"), name)
    except ImportError as missing:
        package = (missing.name or "").partition(".")[0]
        if package in ("", "splboost"):
            raise
        why = f"{name} cannot be imported ({missing})"
        if isinstance(missing, ModuleNotFoundError) and missing.name == package:
            why = f"{name} needs {package}, which is not installed"
        remedy = _REMEDIES[package if package in needed else needed[-1]]
        raise ImportError(f"{why}; run {remedy}.", name=package) from missing


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
