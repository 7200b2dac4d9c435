def running_average():
    total = n = 0
    average = None
    try:
        while True:
            value = yield average
            total += value
            n += 1
            average = total / n
    finally:
        print("closed after", n)


avg = running_average()
next(avg)
for value in (10, 20, 60):
    print(avg.send(value))
avg.close()


def outer():
    got = yield from inner()
    yield f"inner returned {got}"


def inner():
    yield 1
    return "done"


print(list(outer()))
