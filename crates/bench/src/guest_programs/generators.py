"""Generators in generators, and coroutines: a tree walked, and a queue of tasks."""


class Node:
    def __init__(self, low, high):
        middle = (low + high) // 2
        self.value = middle
        self.left = Node(low, middle) if low < middle else None
        self.right = Node(middle + 1, high) if middle + 1 < high else None

    def __iter__(self):
        if self.left is not None:
            yield from self.left
        yield self.value
        if self.right is not None:
            yield from self.right


class Pause:
    def __await__(self):
        yield


async def task(number, done):
    for step in range(25):
        await Pause()
        done[0] = (done[0] * 31 + number + step) % 65_521


def work():
    tree = Node(0, 8_000)
    total = 0
    for _ in range(9):
        total += sum(value * (index % 3) for index, value in enumerate(tree))
    done = [0]
    waiting = [task(number, done) for number in range(4_000)]
    while waiting:
        again = []
        for coroutine in waiting:
            try:
                coroutine.send(None)
            except StopIteration:
                continue
            again.append(coroutine)
        waiting = again
    return [total, done[0]]
