"""Random small tables, good and bad."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl

SIZES = 1, 3, 8, 15, 40, 40, 120, 300
WORDS = "red", "green", "blue", "=1+1", "ä"


class Data(NamedTuple):
    """What a model is fitted to, and other rows of the same columns to predict."""

    X: Any
    y: Any
    weight: Any
    new: Any


def numpy_rng(rng):
    return np.random.default_rng(rng.randrange(2**32))


def make_data(rng, *, regression=False, plain=False, bad=0.1):
    """Rows, targets and weights; a share of ``bad`` has something to be refused.

    Where ``plain``, all is as XGBoost and LightGBM can bear it: the latter aborts on
    categories in polars, the former gives one class the probabilities of two.
    """
    n_rows, draw = rng.choice(SIZES[1:] if plain else SIZES), numpy_rng(rng)
    n_new, n_columns = 10, rng.choice([1, 2, 3, 5])
    frames = [pd.DataFrame] if plain else [pd.DataFrame, pl.DataFrame]
    container = rng.choice([np.array, np.array, *frames])
    kinds = list(NUMBERS) + ([] if container is np.array else list(CATEGORIES))
    chosen = [rng.choice(kinds) for _ in range(n_columns)]
    makers = NUMBERS | CATEGORIES
    columns = [makers[kind](draw, n_rows + n_new) for kind in chosen]
    is_bad = rng.random() < bad
    if is_bad and chosen[0] in NUMBERS:
        columns[0][: n_rows // 2 + 1] = np.inf
    y = make_target(rng, draw, columns[0], n_rows, regression)
    if rng.random() < 0.2:  # rows that are there twice
        copies = draw.integers(0, n_rows, n_rows)
        order = np.concatenate([copies, np.arange(n_rows, n_rows + n_new)])
        columns = [column[order] for column in columns]
    X, new = split(container, columns, chosen, n_rows, rng)
    return Data(X, y, make_weight(rng, draw, n_rows, is_bad), new)


def split(container, columns, kinds, n_rows, rng):
    """The rows to fit, and the others."""
    if container is np.array:
        table = np.column_stack(columns).astype(rng.choice([np.float64, np.float32]))
        table = table[:, ::-1] if rng.random() < 0.2 else table
        return table[:n_rows], table[n_rows:]
    names = [f"column {j}" for j in range(len(columns))]
    if container is pl.DataFrame:
        series = [pl.Series(n, list(c)) for n, c in zip(names, columns, strict=True)]
        frame = pl.DataFrame(
            [s.cast(pl.Categorical) if s.dtype == pl.String else s for s in series]
        )
        return frame[:n_rows], frame[n_rows:]
    frame = pd.DataFrame(dict(zip(names, columns, strict=True)))
    for name, kind in zip(names, kinds, strict=True):
        if kind == "words" or (kind == "rare words" and rng.random() < 0.8):
            frame[name] = frame[name].astype("category")
    if rng.random() < 0.2:
        frame.index = frame.index[::-1]
    return frame.iloc[:n_rows], frame.iloc[n_rows:]


def _with_holes(draw, column, share=0.2):
    column = np.asarray(column, dtype=float)
    return np.where(draw.random(column.size) < share, np.nan, column)


def _words(draw, n, n_words, share=0.1):
    words = [*WORDS, *(f"word {k}" for k in range(n_words))][:n_words]
    found = draw.choice(np.array(words, dtype=object), n)
    found[draw.random(n) < share] = None
    return found


NUMBERS = {
    "normal": lambda draw, n: draw.normal(size=n),
    "counts": lambda draw, n: draw.integers(-3, 4, n).astype(float),
    "holes": lambda draw, n: _with_holes(draw, draw.normal(size=n)),
    "empty": lambda draw, n: np.full(n, np.nan),
    "constant": lambda draw, n: np.full(n, 7.0),
    "huge": lambda draw, n: draw.normal(size=n) * 1e37,
    "largest": lambda draw, n: draw.choice([-1, 1, 0.5], n) * np.finfo(np.float32).max,
    "tiny": lambda draw, n: draw.normal(size=n) * 1e-44,
    "neighbours": lambda draw, n: 1 + draw.integers(0, 3, n) * np.finfo(float).eps,
    "zeros": lambda draw, n: draw.choice([0.0, -0.0, 1.0], n),
}
CATEGORIES = {
    "words": lambda draw, n: _words(draw, n, 4),
    "rare words": lambda draw, n: _words(draw, n, 300, 0.0),
    "whether": lambda draw, n: draw.random(n) < 0.5,
}


def make_target(rng, draw, column, n_rows, regression):
    """Labels, or numbers, that have to do with a column."""
    order = pd.factorize(np.asarray(column[:n_rows], dtype=object))[0]
    score = order / max(order.max(), 1) + draw.normal(size=n_rows) / 3
    if regression:
        return score * rng.choice([1.0, 1.0, 0.0, 1e-200, 1e100, 1e300])
    n_classes = rng.choice([2, 2, 3, 5])
    codes = np.argsort(np.argsort(score)) * n_classes // n_rows
    if rng.random() < 0.1:
        codes[0] = n_classes  # a class of one row
    kind = rng.choice(["codes", "signs", "words", "booleans", "list", "series"])
    if kind == "signs":
        return codes * 2 - 1
    if kind == "words":
        return np.array([f"class {code}" for code in codes])
    if kind == "booleans":
        return codes > 0
    return {"list": list, "series": pd.Series}.get(kind, np.asarray)(codes)


def make_weight(rng, draw, n_rows, bad):
    """Weights of rows, or none."""
    if bad and rng.random() < 0.5:
        return np.full(n_rows, rng.choice([-1.0, 0.0, np.nan, np.inf]))
    weight = draw.exponential(size=n_rows)
    kind = rng.choice(["none", "none", "plain", "zeros", "extreme", "whole", "sizes"])
    if kind == "zeros":
        weight[draw.random(n_rows) < 0.5] = 0
    if kind == "extreme":
        weight = 10.0 ** draw.integers(-300, 197, n_rows)
    if kind == "whole":
        weight = draw.integers(0, 4, n_rows)
    if kind == "sizes":
        weight *= rng.choice([1e-190, 1e190, 1e-300])
    return None if kind == "none" else weight
