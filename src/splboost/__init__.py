"""Boosting that is not fooled by wrong labels.

Names are imported when they are first used, so that the command line starts at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__all__ = [
    "AdaBoostClassifier",
    "BrownBoostClassifier",
    "GentleBoostClassifier",
    "L2BoostRegressor",
    "LogitBoostClassifier",
    "PaceSearchCV",
    "RBoostClassifier",
    "RealAdaBoostClassifier",
    "RobustBoostClassifier",
    "SPLBoostClassifier",
    "SPLForestClassifier",
    "SavageBoostClassifier",
    "__version__",
    "spl_path",
]

if TYPE_CHECKING:
    from splboost.boosting import (
        AdaBoostClassifier,
        BrownBoostClassifier,
        GentleBoostClassifier,
        L2BoostRegressor,
        LogitBoostClassifier,
        RBoostClassifier,
        RealAdaBoostClassifier,
        RobustBoostClassifier,
        SavageBoostClassifier,
        SPLBoostClassifier,
    )
    from splboost.selection import PaceSearchCV, SPLForestClassifier, spl_path

    __version__: str
else:

    def __getattr__(name: str) -> object:
        if name == "__version__":
            value = import_module("importlib.metadata").version(__name__)
        elif name in __all__:
            in_selection = name in ("PaceSearchCV", "SPLForestClassifier", "spl_path")
            home = "selection" if in_selection else "boosting"
            value = getattr(import_module(f"{__name__}.{home}"), name)
        else:
            value = _import_module(name)
        globals()[name] = value
        return value

    def _import_module(name: str) -> object:
        """Import ``splboost.name``, which ``import splboost`` alone gives access to."""
        whole = f"{__name__}.{name}"
        try:
            if not name.startswith("_"):
                return import_module(whole)
        except ModuleNotFoundError as error:
            if error.name != whole:
                raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
