"""The data of a fit on a cluster: loaded once, and cut into pieces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from dask import delayed
from dask.base import is_dask_collection, unpack_collections
from distributed import wait

WEIGHT, MARGIN = "sample_weight", "base_margin"
NO_DATA = "verbose", "xgb_model"  # among the arguments of fit
EVALS = "sample_weight_eval_set", "base_margin_eval_set"


def persist(client: Any, X: Any, y: Any, given: dict[str, Any]) -> Any:
    """The same data, which the workers begin to load, all at once, and hold."""
    for name, each in _name_data(X, y, given):
        if not is_dask_collection(each):
            raise TypeError(
                f"{name} must be a dask array, dataframe or series, got "
                f"{type(each).__name__}; dask.array.from_array makes one, and "
                "SPLXGBClassifier takes the data of one machine."
            )
    data = {name: given[name] for name in given if name not in NO_DATA}
    lazy, put_back = unpack_collections(X, y, data)
    X, y, data = put_back(client.persist(lazy))
    return X, y, {**given, **data}


async def drop_empty(client: Any, X: Any, y: Any, given: dict[str, Any]) -> Any:
    """The same data without empty pieces, when they are loaded.

    XGBoost fails on a piece without rows that has come over the network.
    """
    data = dict(given)
    n_rows = await _count_rows(client, y)
    for name in (WEIGHT, MARGIN):
        data[name] = _without_empty(data[name], n_rows)
    if data["eval_set"]:
        counts = [await _count_rows(client, of_set) for _, of_set in data["eval_set"]]
        data["eval_set"] = [
            tuple(_without_empty(each, n) for each in pair)
            for pair, n in zip(data["eval_set"], counts, strict=True)
        ]
        for name in EVALS:
            if data[name]:
                pairs = zip(data[name], counts, strict=True)
                data[name] = [_without_empty(each, n) for each, n in pairs]
    return _without_empty(X, n_rows), _without_empty(y, n_rows), data


def _name_data(X: Any, y: Any, given: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """All that must be dask collections, by the names of arguments."""
    yield from (("X", X), ("y", y))
    for k, pair in enumerate(given["eval_set"] or ()):
        for j, each in enumerate(pair):
            yield f"eval_set[{k}][{j}]", each
    optional = {name: given[name] for name in (WEIGHT, MARGIN)}
    for name in EVALS:
        for k, each in enumerate(given[name] or ()):
            optional[f"{name}[{k}]"] = each
    yield from ((name, each) for name, each in optional.items() if each is not None)


async def gather(client: Any, tasks: list[Any]) -> Any:
    """What tasks give, when they are done."""
    futures = client.compute(tasks)
    await wait(futures)  # which can be cancelled, and leaves no errors behind
    return await client.gather(futures, asynchronous=True)


def align(*collections: Any) -> list[tuple[Any, ...]]:
    """The pieces of arrays or series with the same partitions; None stays None."""
    cut = [
        None if each is None else np.ravel(each.to_delayed()).tolist()
        for each in collections
    ]
    lengths = {len(pieces) for pieces in cut if pieces is not None}
    if len(lengths) > 1:
        raise ValueError(
            f"y and sample_weight have {sorted(lengths)} partitions; they must be cut "
            "like X, as repartition and rechunk do."
        )
    n = lengths.pop()
    return list(zip(*([None] * n if p is None else p for p in cut), strict=True))


async def _count_rows(client: Any, y: Any) -> list[int]:
    return await gather(client, [delayed(len)(piece) for (piece,) in align(y)])


def _without_empty(collection: Any, n_rows: list[int]) -> Any:
    if collection is None or all(n_rows) or not any(n_rows):
        return collection
    return collection.partitions[[k for k, n in enumerate(n_rows) if n]]
