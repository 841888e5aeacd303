"""The data of a fit on a cluster: loaded once, and cut into pieces."""

from __future__ import annotations

from typing import Any

import numpy as np
from dask import delayed
from dask.base import is_dask_collection, unpack_collections

WEIGHT = "sample_weight"
NO_DATA = "verbose", "xgb_model"  # among the arguments of fit
EVALS = "sample_weight_eval_set", "base_margin_eval_set"


async def load(client: Any, X: Any, y: Any, given: dict[str, Any]) -> Any:
    """The same data, all loaded at once and held by the workers, without empty pieces.

    XGBoost fails on a piece without rows that has come over the network.
    """
    for name, data in (("X", X), ("y", y), (WEIGHT, given[WEIGHT])):
        if data is not None and not is_dask_collection(data):
            raise TypeError(
                f"{name} must be a dask array, dataframe or series, got "
                f"{type(data).__name__}; dask.array.from_array makes one, and "
                "SPLXGBClassifier takes the data of one machine."
            )
    data = {name: given[name] for name in given if name not in NO_DATA}
    lazy, put_back = unpack_collections(X, y, data)
    X, y, data = put_back(client.persist(lazy))
    n_rows = await _count_rows(client, y)
    for name in (WEIGHT, "base_margin"):
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
    return _without_empty(X, n_rows), _without_empty(y, n_rows), {**given, **data}


async def gather(client: Any, tasks: list[Any]) -> Any:
    """What tasks give, when they are done."""
    return await client.gather(client.compute(tasks), asynchronous=True)


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
