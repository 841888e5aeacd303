"""Elementary functions for formulas that are written once.

A formula made of these, of ``+ - * / **`` and of ``abs`` takes numbers and arrays:
estimators and pictures call it with arrays, and kernels compile it into their loops
(``jitable`` in :mod:`splboost._tools.compiling`), where several numbers are done at a
time. They give the same numbers on every machine, unlike the C library's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

MOST = 700.0  # exponent whose power is still a finite number
LOG_2 = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # head and tail
INVERSE_LOG_2 = 1.4426950408889634
ROOT_HALF = 0x3FE6A09E667F3BCD  # the bits of sqrt(1/2)


def choose(condition: Any, yes: Any, no: Any) -> Any:
    """``yes`` where the condition holds, else ``no``."""
    return np.where(condition, yes, no)[()]


def clip(x: Any, low: Any, high: Any) -> Any:
    """The number nearest to x from ``low`` to ``high``."""
    return np.minimum(np.maximum(x, low), high)


def exp(x: Any) -> Any:
    """The exponential of x from -700 to 700, right to the last digit or two."""
    k = np.rint(x * INVERSE_LOG_2)
    r = (x - k * LOG_2[0]) - k * LOG_2[1]
    # The series of exp(r) for |r| <= log(2) / 2, from 1/13! down to 1/2!
    p = 1.6059043836821613e-10
    p = p * r + 2.08767569878681e-09
    p = p * r + 2.505210838544172e-08
    p = p * r + 2.755731922398589e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.48015873015873e-05
    p = p * r + 1.984126984126984e-04
    p = p * r + 1.3888888888888889e-03
    p = p * r + 8.333333333333333e-03
    p = p * r + 4.1666666666666664e-02
    p = p * r + 1.6666666666666666e-01
    p = p * r + 0.5
    power = np.int64((np.int64(k) + 1023) << 52).view(np.float64)  # 2**k
    return (1 + (r + p * (r * r))) * power


def log(x: Any) -> Any:
    """The logarithm of a positive number, right to the last digit or two."""
    bits = np.float64(x).view(np.int64)
    power = (bits - ROOT_HALF) >> 52
    m = np.int64(bits - (power << 52)).view(np.float64)  # from sqrt(1/2) to sqrt(2)
    s = (m - 1) / (m + 1)
    t = s * s
    # The series of atanh(s) / s, from 1/19 down to 1/3
    p = 0.05263157894736842
    p = p * t + 0.058823529411764705
    p = p * t + 0.06666666666666667
    p = p * t + 0.07692307692307693
    p = p * t + 0.09090909090909091
    p = p * t + 0.1111111111111111
    p = p * t + 0.14285714285714285
    p = p * t + 0.2
    p = p * t + 0.3333333333333333
    return power * LOG_2[0] + (power * LOG_2[1] + 2 * (s + s * (t * p)))


def log1p(x: Any) -> Any:
    """The logarithm of 1 + x for x above -1, right to the last digits."""
    u = 1 + x
    return log(u) + (x - (u - 1)) / u  # and what rounding has taken from 1 + x


def expm1(x: Any) -> Any:
    """exp(x) - 1 for x from -700 to 0, right to the last digits."""
    u = exp(x)
    log_u = log(u)  # in which is what rounding has taken from exp(x)
    tiny = choose(u == 1, 1.0, 0.0)
    return (u - 1) * x / (log_u + tiny) + tiny * x
