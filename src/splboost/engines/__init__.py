"""Self-paced XGBoost and LightGBM, on one machine and on a Dask cluster.

``SelfPacedObjective`` puts a pace into either package; ``SPLXGBClassifier``,
``SPLLGBMClassifier`` and ``DaskSPLXGBClassifier`` are their own classifiers with it.
None of the packages is imported before it is needed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from splboost.engines.objective import SelfPacedObjective

if TYPE_CHECKING:
    from splboost.engines.dask_xgboost import DaskSPLXGBClassifier
    from splboost.engines.lightgbm_classifier import SPLLGBMClassifier
    from splboost.engines.xgboost_classifier import SPLXGBClassifier

__all__ = [
    "DaskSPLXGBClassifier",
    "SPLLGBMClassifier",
    "SPLXGBClassifier",
    "SelfPacedObjective",
]

_HOMES = {
    "SPLXGBClassifier": ("xgboost_classifier", "xgboost"),
    "SPLLGBMClassifier": ("lightgbm_classifier", "lightgbm"),
    "DaskSPLXGBClassifier": ("dask_xgboost", "xgboost,dask"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, extras = _HOMES[name]
    try:
        return getattr(import_module(f"{__name__}.{module}"), name)
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("splboost"):
            raise
        raise ImportError(
            f"{name} needs {missing.name}, which is not installed; run "
            f"pip install 'splboost[{extras}]'{_instead(extras)}.",
            name=missing.name,
        ) from missing


def _instead(extras: str) -> str:
    return (
        ", or pip install xgboost-cpu, a twentieth of the size, for a machine without "
        "a GPU"
        if "xgboost" in extras
        else ""
    )


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
