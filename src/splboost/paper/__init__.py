"""The experiments of the SPLBoost paper (pip install 'splboost[paper]').

`protocol` says what is compared and how parameters are chosen, `draw` makes the data of
a case. `runner` measures what is missing and keeps it in a `store`, which `results`
reads; the command line is ``splboost paper``.

Results of the protocol are a pandas frame with a row for each finished cell: ``data``,
``noise`` (percent), ``repeat``, ``method``, ``error``, ``cv_error`` and what else was
recorded. `statistics` compares what all methods have finished, `figures` draws the
paper's pictures, `claims` judges what the paper says, and `report` puts all of it on
one page.
"""

from importlib.util import find_spec

if find_spec("pandas") is None:
    raise ImportError(
        "The paper's experiments need pandas, which is not installed; run: "
        "pip install 'splboost[paper]'"
    )
