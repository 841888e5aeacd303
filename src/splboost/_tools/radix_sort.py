"""Sorting columns of floats, several times faster than by comparisons.

Floats are turned into unsigned integers of the same order and sorted digit by digit
(radix sort, eleven bits at a time). The 33 highest bits in which the column's cells
differ are nearly always enough; what is left out of order is put right by insertion,
and if that proves too much, all digits are sorted.
"""

from __future__ import annotations

import numpy as np

from splboost._tools.compiling import inner_kernel, kernel

DIGIT = 11  # bits
FIRST_BITS = 3 * DIGIT
MOVES_PER_CELL = 4  # of the insertion, before it is given up


@kernel
def sort_rows(values, masses):
    """Sort each row of values in place, NaN last; its masses, unless empty, along."""
    n = values.shape[1]
    keys, spare = np.empty(n, dtype=np.uint64), np.empty(n, dtype=np.uint64)
    spare_mass = np.empty(masses.shape[1])
    for row in range(values.shape[0]):
        mass = masses[row]
        differing = make_keys(values[row], keys)
        start = np.uint64(0)
        while differing >> start >= np.uint64(1) << np.uint64(FIRST_BITS):
            start += np.uint64(1)
        sort_digits(keys, spare, mass, spare_mass, start, differing)
        if start > 0 and not insert(keys, mass):
            sort_digits(keys, spare, mass, spare_mass, np.uint64(0), differing)
        read_keys(keys, values[row])


@inner_kernel
def make_keys(values, keys):
    """Write integers of the same order as the floats; the bits in which they differ."""
    top = np.uint64(1) << np.uint64(63)
    bits = values.view(np.uint64)
    common, any_of = ~np.uint64(0), np.uint64(0)
    for i in range(values.size):
        key = ~bits[i] if bits[i] >= top else bits[i] | top
        keys[i] = ~np.uint64(0) if np.isnan(values[i]) else key
        common &= keys[i]
        any_of |= keys[i]
    return common ^ any_of


@inner_kernel
def read_keys(keys, values):
    top = np.uint64(1) << np.uint64(63)
    bits = values.view(np.uint64)
    for i in range(keys.size):
        bits[i] = keys[i] ^ top if keys[i] >= top else ~keys[i]


@inner_kernel
def sort_digits(keys, spare, mass, spare_mass, start, differing):
    """Sort keys by their bits from ``start`` on."""
    mask = np.uint64((1 << DIGIT) - 1)
    place = np.empty(1 << DIGIT, dtype=np.uint64)
    source, target = keys, spare
    source_mass, target_mass = mass, spare_mass
    shift, swapped = start, False
    while shift < 64:
        if (differing >> shift) & mask:
            place[:] = 0
            for i in range(source.size):
                place[(source[i] >> shift) & mask] += np.uint64(1)
            total = np.uint64(0)
            for digit in range(place.size):
                count = place[digit]
                place[digit] = total
                total += count
            for i in range(source.size):
                digit = (source[i] >> shift) & mask
                target[place[digit]] = source[i]
                if mass.size > 0:
                    target_mass[place[digit]] = source_mass[i]
                place[digit] += np.uint64(1)
            source, target = target, source
            source_mass, target_mass = target_mass, source_mass
            swapped = not swapped
        shift += np.uint64(DIGIT)
    if swapped:
        for i in range(keys.size):
            keys[i] = source[i]
        for i in range(mass.size):
            mass[i] = source_mass[i]


@inner_kernel
def insert(keys, mass):
    """Finish the order by insertion; False if there is too much to do."""
    moves = 0
    for i in range(1, keys.size):
        if keys[i] >= keys[i - 1]:
            continue
        key, m = keys[i], mass[i] if mass.size > 0 else 0.0
        j = i
        while j > 0 and keys[j - 1] > key and moves <= MOVES_PER_CELL * keys.size:
            keys[j] = keys[j - 1]
            if mass.size > 0:
                mass[j] = mass[j - 1]
            j -= 1
            moves += 1
        keys[j] = key
        if mass.size > 0:
            mass[j] = m
        if moves > MOVES_PER_CELL * keys.size:
            return False
    return True
