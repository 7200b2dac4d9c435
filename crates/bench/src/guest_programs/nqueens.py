"""Comprehensions, sets and recursion: queens on a board of nine by nine."""

import itertools


def placed(size, row, columns, falling, rising):
    if row == size:
        return 1
    free = [c for c in range(size) if c not in columns and row - c not in falling and row + c not in rising]
    return sum(placed(size, row + 1, columns | {c}, falling | {row - c}, rising | {row + c}) for c in free)


def work():
    by_search = placed(9, 0, frozenset(), frozenset(), frozenset())
    by_trial = sum(
        1
        for order in itertools.permutations(range(8))
        if len({row + c for row, c in enumerate(order)}) == 8 == len({row - c for row, c in enumerate(order)})
    )
    return [by_search, by_trial]
