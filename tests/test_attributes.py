"""docs/attributes.md says what there is: no more, no less, and so do the docstrings."""

import dataclasses
import inspect
import re
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from sklearn.datasets import load_iris

from splboost import (
    AdaBoostClassifier,
    BrownBoostClassifier,
    GentleBoostClassifier,
    L2BoostRegressor,
    LogitBoostClassifier,
    PaceSearchCV,
    RBoostClassifier,
    RealAdaBoostClassifier,
    RobustBoostClassifier,
    SavageBoostClassifier,
    SPLBoostClassifier,
    SPLForestClassifier,
    boosting,
    trees,
)
from splboost.boosting import Progress, fitting, loop
from splboost.display import (
    LossDisplay,
    PaceSearchDisplay,
    ShapeFunctionsDisplay,
    WeightDisplay,
)
from splboost.display.loss_curves import MarginCurve
from splboost.display.shape_functions import ShapeFunction
from splboost.engines import (
    DaskSPLXGBClassifier,
    SPLLGBMClassifier,
    SPLXGBClassifier,
)
from splboost.selection import PacePath
from splboost.selection.path import Setting
from splboost.trees import C45Classifier, CARTClassifier, CARTRegressor
from splboost.trees.c45.multiway import MultiwayTrees, Nodes
from splboost.trees.ensemble import TreeEnsemble

PAGE = Path(__file__).resolve().parents[1] / "docs" / "attributes.md"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the pages are not here")

BOOSTERS = [
    AdaBoostClassifier,
    SPLBoostClassifier,
    RealAdaBoostClassifier,
    GentleBoostClassifier,
    LogitBoostClassifier,
    SavageBoostClassifier,
    RBoostClassifier,
    RobustBoostClassifier,
    BrownBoostClassifier,
    L2BoostRegressor,
]
TREES = [CARTClassifier, CARTRegressor, C45Classifier]
RECORDS = [Progress, TreeEnsemble, MultiwayTrees, Nodes, ShapeFunction, MarginCurve]
RECORDS += [PacePath, Setting]
PROPERTIES = {Progress: {"model"}, PacePath: {"n_models", "mean", "standard_error"}}


def sections():
    """The first cells of the tables below each heading, without quotes."""
    found = {}
    for part in re.split(r"^##+ ", PAGE.read_text("utf-8"), flags=re.M)[1:]:
        heading, _, text = part.partition("\n")
        found[heading] = [
            cell.strip('"') for cell in re.findall(r"^\| `([^`]+)`", text, flags=re.M)
        ]
    return found


def in_page(cls):
    """The attributes that the page lists for a class."""
    listed = [
        names
        for heading, names in sections().items()
        if cls.__name__ in re.findall(r"`(\w+)`", heading)
    ]
    assert len(listed) == 1, f"{cls.__name__} has {len(listed)} tables"
    assert len(listed[0]) == len(set(listed[0]))
    return set(listed[0])


def in_docstring(cls):
    """The attributes that a docstring lists."""
    parts = re.split(r"^(.+)\n-+$", inspect.cleandoc(cls.__doc__), flags=re.M)
    text = dict(zip(parts[1::2], parts[2::2], strict=True))["Attributes"]
    entries = re.findall(r"^(\w.*?)(?: :|$)", text, flags=re.M)
    return {name for entry in entries for name in entry.split(", ")}


def learned(fitted):
    """Names of all that ends in an underscore."""
    return {name for name in dir(fitted) if re.fullmatch(r"[a-z]\w*_", name)}


def iris():
    return load_iris(return_X_y=True, as_frame=True)


def fit(cls):
    """An object that has every attribute there can be."""
    X, y = iris()
    if cls is SPLForestClassifier:
        return SPLForestClassifier(n_bags=2).fit(X, y)
    if cls is PaceSearchCV:
        return PaceSearchCV(SPLBoostClassifier(n_estimators=3), cv=2).fit(X, y)
    if cls not in BOOSTERS:
        return cls().fit(X, y)
    options = {"n_estimators": 5, "n_iter_no_change": 3}
    if cls is L2BoostRegressor:
        options |= {"pace": "hard", "warm_rounds": 2}
    return cls(**options).fit(X[y > 0], y[y > 0])  # with two classes


def test_every_public_estimator_is_held_to_the_page():
    public = {
        getattr(module, n) for module in (boosting, trees) for n in module.__all__
    }
    assert public == {*BOOSTERS, *TREES, Progress}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("cls", [*BOOSTERS, *TREES, PaceSearchCV, SPLForestClassifier])
def test_attributes_of_estimators(cls):
    assert learned(fit(cls)) == in_page(cls)
    assert in_docstring(cls) == in_page(cls)


@pytest.mark.parametrize("cls", RECORDS)
def test_attributes_of_records(cls):
    names = getattr(cls, "_fields", None)
    if names is None:
        names = [f.name for f in dataclasses.fields(cls) if not f.name.startswith("_")]
    assert {*names, *PROPERTIES.get(cls, ())} == in_page(cls)
    if "Attributes" in cls.__doc__:
        assert in_docstring(cls) == set(names)


def test_attributes_of_the_display():
    X, y = iris()
    booster = SPLBoostClassifier(n_estimators=5).fit(X, y)
    display = ShapeFunctionsDisplay.from_estimator(booster, X)
    plt.close(display.figure_)
    assert set(vars(display)) == in_page(ShapeFunctionsDisplay)
    assert in_docstring(ShapeFunctionsDisplay) == learned(display)


@pytest.mark.parametrize("Display", [LossDisplay, WeightDisplay])
def test_attributes_of_displays_of_losses(Display):
    display = Display.from_losses("logistic")
    plt.close(display.figure_)
    assert set(vars(display)) == in_page(Display)
    assert in_docstring(Display) == learned(display)


def test_attributes_of_the_display_of_a_search():
    display = PaceSearchDisplay.from_estimator(fit(PaceSearchCV))
    plt.close(display.figure_)
    assert set(vars(display)) == in_page(PaceSearchDisplay)
    assert in_docstring(PaceSearchDisplay) == learned(display)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "cls", [SPLXGBClassifier, SPLLGBMClassifier, DaskSPLXGBClassifier]
)
def test_attributes_of_engines(cls):
    """What they have beside the parent's; on Dask see engines/test_dask.py."""
    assert in_docstring(cls) == in_page(cls)
    if cls is not DaskSPLXGBClassifier:
        X, y = iris()
        quiet = {"verbose": -1} if cls is SPLLGBMClassifier else {}
        own = cls(n_estimators=3, n_jobs=1, **quiet).fit(X, y)
        parents = learned(own.to_plain())
        assert learned(own) - parents == in_page(cls)


def test_tables_of_trees():
    assert type(fit(CARTClassifier).tree_) is TreeEnsemble
    assert type(fit(CARTRegressor).tree_) is TreeEnsemble
    tree = fit(C45Classifier).tree_
    assert type(tree) is MultiwayTrees and type(tree.nodes) is Nodes


def test_reasons_to_stop():
    constants = {
        value
        for name, value in vars(loop).items()
        if name.isupper() and isinstance(value, str)
    }
    constants -= {loop.VOTES, loop.SHARES, loop.MEANS}
    assert set(sections()["Why it stopped"]) == {*constants, fitting.NOT_FINISHED}
