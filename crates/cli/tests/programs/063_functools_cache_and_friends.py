from functools import cache, cached_property, lru_cache, partial, reduce, singledispatch, total_ordering, wraps

calls = 0


@cache
def ways(n):
    global calls
    calls += 1
    return 1 if n < 2 else ways(n - 1) + ways(n - 2)


@singledispatch
def show(value):
    return f"? {value}"


@show.register
def _(value: int):
    return f"int {value}"


@show.register(list)
def _(value):
    return "list of " + ", ".join(map(show, value))


def loud(function):
    @wraps(function)
    def wrapper(*args, **kwargs):
        return str(function(*args, **kwargs)).upper() + "!"

    return wrapper


@loud
def greet(name, *, greeting="hello"):
    """Says something."""
    return f"{greeting} {name}"


print(ways(80), calls, ways.cache_info().hits)
print(show(3), "|", show([1, "x"]), "|", show(None))
print(greet("mill", greeting="good day"), greet.__name__, greet.__doc__)
print(partial(int, base=2)("101101"), reduce(lambda a, b: a * b, range(1, 11)))
