"""The audit's noise model and likeness once more, naively: plain loops, no arrays.

The noise model is written from its description, not from its code. Nothing here
imports the package under test.
"""

import math
from fractions import Fraction

import numpy as np  # for eigenvalues alone

SUREST = 0.5
STEP = 0.02
LEAST_DEVIATION = 0.1
ALIKE = 4
DEVIATIONS = (-2, -1, 0, 1, 2)
MOST_WRONG = 0.9
MOST_CERTAIN = 0.99


def noise_model(probability, codes):
    """T for each deviation of the share of wrong labels, and the error of the share."""
    n_classes, n_rows = len(probability[0]), len(codes)
    likeliest = [row.index(max(row)) for row in probability]
    counts = [
        [[0.51 if j == k else 0.01 for j in range(n_classes)] for k in range(n_classes)]
        for _ in DEVIATIONS
    ]
    variance = 0.0
    for k in range(n_classes):
        own = [i for i in range(n_rows) if likeliest[i] == k]
        if not own:
            continue
        doubts = [1 - max(probability[i]) for i in own]
        place = places(doubts)
        first = min(place)
        half = [at for at, where in enumerate(place) if where <= max(SUREST, first)]
        x = [place[at] for at in half]
        labels = [codes[own[at]] for at in half]
        start, error, weight = line_start(x, [int(label != k) for label in labels])
        # Of the other rows, how many are as sure as the surest: they cannot be ordered.
        equal = sum(doubt - min(doubts) <= 1e-9 for doubt in doubts) - 1
        tied = equal / max(len(own) - 1, 1)
        lowest, highest = start * (1 - tied), start
        error = math.sqrt(error**2 + ((highest - lowest) / 4) ** 2)
        start = (lowest + highest) / 2
        others = [labels.count(j) if j != k else 0 for j in range(n_classes)]
        if not sum(others):
            others = [int(j != k) for j in range(n_classes)]
        others = [Fraction(each, sum(others)) for each in others]
        for j in range(n_classes):
            anywhere = Fraction(max(codes.count(j), 1), n_rows)
            rarer = 1 - start * others[j] / anywhere
            others[j] *= min(max(rarer / 0.2, 0), 1) * (j in likeliest)
        for count, deviation in zip(counts, DEVIATIONS, strict=True):
            rate = min(max(start + deviation * error, 0), 1)
            for j in range(n_classes):
                count[k][j] += weight * rate * others[j]
            count[k][k] += weight * (1 - rate * sum(others))
        variance += (len(own) / n_rows * error) ** 2
    return [transitions(count) for count in counts], math.sqrt(variance)


def places(doubts):
    """Share of rows before each, from the surest on; equals share their middle."""
    steps, n = [round(doubt / STEP) for doubt in doubts], len(doubts)
    return [
        Fraction(sum(2 * (other < own) + (other == own) for other in steps), 2 * n)
        for own in steps
    ]


def line_start(x, y):
    """Where the straight line starts, its standard error, and rows that tell as much.

    A line that would fall is level; it starts no lower than 0. That it does not fall is
    known, so its slope is uncertain as what is left of a normal distribution above 0.
    In exact fractions otherwise.
    """
    n = len(x)
    mean_x, mean_y = sum(x) / n, Fraction(sum(y), n)
    spread = sum((a - mean_x) ** 2 for a in x)
    along = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    start, variance = mean_y, Fraction(1, n)
    if spread > 0:
        start = max(mean_y - max(along, 0) / spread * mean_x, 0)
        noise = max(math.sqrt(mean_y * (1 - mean_y)), LEAST_DEVIATION)
        z = float(along / spread) / (noise / math.sqrt(spread))
        variance += mean_x**2 / spread * Fraction(variance_above_zero(z))
    start, variance = float(start), float(variance)
    deviation = max(math.sqrt(start * (1 - start)), LEAST_DEVIATION)
    return start, deviation * math.sqrt(variance), 1 / variance


def variance_above_zero(z):
    """Of a normal distribution around z, of variance 1, cut off below 0."""
    density = math.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    mean_above = density / (math.erfc(-z / math.sqrt(2)) / 2)
    return 1 - z * mean_above - mean_above**2


def transitions(count):
    """T from counts; alike for all classes as far as chance may make them differ."""
    n = len(count)
    total = sum(map(sum, count))
    wrong = 1 - sum(count[k][k] for k in range(n)) / total
    own = [[cell / sum(row) for cell in row] for row in count]
    alike = [
        [1 - wrong if j == k else wrong / (n - 1) for j in range(n)] for k in range(n)
    ]
    gain = 0.0  # twice that of the log-likelihood
    for k in range(n):
        for j in range(n):
            gain += 2 * count[k][j] * math.log(own[k][j] / alike[k][j])
    parameters = n * (n - 1) - 1
    trust = 0.0
    if gain > ALIKE * parameters:
        trust = 1 - ALIKE * parameters / gain
    found = []
    for k in range(n):
        row = [trust * own[k][j] + (1 - trust) * alike[k][j] for j in range(n)]
        most = MOST_WRONG * (n - 1) / n
        share = min(1, most / (1 - row[k]))
        found.append(
            [share * cell + (1 - share) * (j == k) for j, cell in enumerate(row)]
        )
    low, high = 0.0, 1.0  # of what may stay, with no eigenvalue below a tenth
    while high - low > 1e-12:
        middle = (low + high) / 2
        if least_eigenvalue(mixed(found, middle)) < 0.1:
            high = middle
        else:
            low = middle
    return mixed(found, high)


def mixed(matrix, share):
    """With the identity."""
    return [
        [share * cell + (1 - share) * (j == k) for j, cell in enumerate(row)]
        for k, row in enumerate(matrix)
    ]


def least_eigenvalue(matrix):
    return min(np.linalg.eigvals(np.array(matrix, dtype=float)).real)


def chance_wrong(probability, codes, all_transitions):
    """Mean over what T may be."""
    found = []
    for row, code in zip(probability, codes, strict=True):
        chances = []
        for matrix in all_transitions:
            of_class = [max(share, 0) for share in solve(matrix, row)]
            of_label = [
                sum(of_class[j] * matrix[j][k] for j in range(len(row)))
                for k in range(len(row))
            ]
            right = of_class[code] * matrix[code][code]
            chances.append(1 - right / of_label[code] if right else 1.0)
        found.append(min(sum(chances) / len(chances), MOST_CERTAIN))
    return found


def solve(matrix, row):
    """q with q T = p, by elimination."""
    n = len(row)
    lines = [[matrix[j][k] for j in range(n)] + [row[k]] for k in range(n)]
    for at in range(n):
        best = max(range(at, n), key=lambda k: abs(lines[k][at]))
        lines[at], lines[best] = lines[best], lines[at]
        for k in range(n):
            if k != at:
                factor = lines[k][at] / lines[at][at]
                lines[k] = [
                    a - factor * b for a, b in zip(lines[k], lines[at], strict=True)
                ]
    return [lines[k][n] / lines[k][k] for k in range(n)]


def distance(cells, others, columns, is_categorical, importance):
    """How unlike two rows are; columns hold all values, None where one is missing.

    Numbers are apart by how many of the column's values lie between them.
    """
    total = 0.0
    for own, other, column, category, weight in zip(
        cells, others, columns, is_categorical, importance, strict=True
    ):
        if own is None or other is None or category:
            total += weight * (own != other)
        else:
            values = sorted({value for value in column if value is not None})
            apart = abs(values.index(own) - values.index(other))
            total += weight * apart / max(len(values) - 1, 1)
    return total
