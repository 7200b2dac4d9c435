"""Small lists turned around: the most flips that a permutation takes until a 0 comes first."""

ITEMS = 8


def work():
    order, counts = list(range(ITEMS)), list(range(ITEMS))
    flips_max = checksum = index = 0
    size = ITEMS
    while True:
        while size > 1:
            counts[size - 1] = size
            size -= 1
        turned, flips = order[:], 0
        first = turned[0]
        while first:
            turned[: first + 1] = turned[first::-1]
            flips += 1
            first = turned[0]
        flips_max = max(flips_max, flips)
        checksum += flips if index % 2 == 0 else -flips
        index += 1
        while True:
            if size == ITEMS:
                return [flips_max, checksum, index]
            order.insert(size, order.pop(0))
            counts[size] -= 1
            if counts[size] > 0:
                break
            size += 1
