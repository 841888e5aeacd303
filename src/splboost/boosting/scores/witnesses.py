"""Whether the samples that a pace has left are of more than one class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Witnesses:
    """One selected sample of each class, which shows that its class is there.

    Parameters
    ----------
    codes : class number of each sample
    n_classes : int
    """

    def __init__(self, codes: NDArray[np.integer], n_classes: int) -> None:
        self._codes = codes
        self._rows = [0] * n_classes
        self._smallest_class = int(np.bincount(codes, minlength=n_classes).min())

    def see_one_class(self, weight: NDArray[np.float64], n_selected: int) -> bool:
        """Whether all samples of positive weight, so many, are of one class."""
        if self._codes.size - n_selected < self._smallest_class:
            return False
        n_found = 0
        for k, row in enumerate(self._rows):
            if self._codes[row] != k or not weight[row]:  # then look for another
                selected = (self._codes == k) & (weight > 0)
                row = self._rows[k] = int(selected.argmax())
            n_found += self._codes[row] == k and weight[row] > 0
            if n_found == 2:
                return False
        return True
