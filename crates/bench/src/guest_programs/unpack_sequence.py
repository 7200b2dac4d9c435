"""Tuples and lists unpacked into names, and swapped."""


def work():
    pair, four, names = (3, 5), [1, 2, 3, 4], "abc"
    total = 0
    for _ in range(250_000):
        a, b = pair
        c, d, e, f = four
        g, h, i = names
        a, b = b, a
        c, d, e = e, c, d
        first, *rest = four
        (k, l), m = pair, f
        total += a - b + c * d - e + k + l + m + first + len(rest)
    return [total, g, h, i]
