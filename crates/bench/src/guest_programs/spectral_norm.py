"""Calls of a small function with floats: the largest singular value of an endless matrix, cut off."""

SIZE = 130


def element(row, column):
    place = row + column
    return 1.0 / (place * (place + 1) // 2 + row + 1)


def times(vector):
    return [sum(element(row, column) * value for column, value in enumerate(vector)) for row in range(SIZE)]


def times_turned(vector):
    return [sum(element(column, row) * value for column, value in enumerate(vector)) for row in range(SIZE)]


def work():
    one = [1.0] * SIZE
    for _ in range(8):
        other = times_turned(times(one))
        one = times_turned(times(other))
    products = sum(a * b for a, b in zip(one, other))
    squares = sum(b * b for b in other)
    return round((products / squares) ** 0.5, 9)
