"""Docstrings of estimators, whose common parts are filled in, are whole."""

import inspect
import re

import pytest

from splboost import boosting, engines, trees

ESTIMATORS = [
    getattr(module, name)
    for module in (boosting, engines, trees)
    for name in module.__all__
    if name not in ("Progress", "SelfPacedObjective")
]
every_estimator = pytest.mark.parametrize("cls", ESTIMATORS)


def parts_of(cls):
    """The text below each heading; what comes before the first, below ""."""
    parts = re.split(r"^(.+)\n-+\n", inspect.cleandoc(cls.__doc__), flags=re.M)
    headings = ["", *parts[1::2]]
    assert len(headings) == len(set(headings))
    return dict(zip(headings, parts[::2], strict=True))


def entries(text):
    """What is said of each name: its kind, and the lines below."""
    found = re.split(r"^(\w+)(?: : (.*))?$", text.strip(), flags=re.M)
    assert not found[0]
    assert len(found[1::3]) == len(set(found[1::3]))
    return {
        name: (kind, said.strip())
        for name, kind, said in zip(found[1::3], found[2::3], found[3::3], strict=True)
    }


@every_estimator
def test_every_parameter_is_described_with_its_default(cls):
    listed = entries(parts_of(cls)["Parameters"])
    parameters = dict(inspect.signature(cls).parameters)
    parameters.pop("kwargs", None)
    assert set(listed) == set(parameters)
    for name, (kind, said) in listed.items():
        assert said.endswith((".", ".)")), name
        default = re.fullmatch(r".*, default=(.+)", kind)[1]
        default = {"None": None, "True": True, "False": False}.get(default, default)
        if isinstance(default, str):
            default = default.strip('"')
            if not isinstance(parameters[name].default, str):
                default = float(default)
        assert default == parameters[name].default, name


@every_estimator
def test_nothing_is_left_to_fill_in(cls):
    parts = parts_of(cls)
    assert {"", "Parameters", "Attributes", "Examples"} <= set(parts)
    assert not re.search(r"^ *\{[\w ]+\}$", cls.__doc__, flags=re.M)
    assert max(map(len, cls.__doc__.splitlines())) <= 88
    assert entries(parts["Attributes"])
