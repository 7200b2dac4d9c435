"""Values that are there at once, and that a program may await all the same."""


class AtOnce:
    """Mixed into a value's type. `await` gives the value itself."""

    __slots__ = ()

    def __await__(self):
        return self
        yield


class Text(AtOnce, str):
    __slots__ = ()


class Number(AtOnce, int):
    __slots__ = ()


class Items(AtOnce, list):
    # asyncio.gather keeps what it is given in a dict.
    __hash__ = object.__hash__


class Members(AtOnce, dict):
    __hash__ = object.__hash__


class Nothing:
    """What a helper returns that has nothing to say: `None` once it is awaited, and nearly that before."""

    __slots__ = ()

    def __await__(self):
        return None
        yield

    def __bool__(self):
        return False

    def __repr__(self):
        return "None"


TYPES = {kind.__name__: kind for kind in (Text, Number, Items, Members, Nothing)}
for _kind in TYPES.values():
    _kind.__module__ = "gristmill"

_OF_PLAIN = {str: Text, int: Number, list: Items, dict: Members}


def awaitable(value):
    """The value as one that may be awaited, where its type allows that."""
    kind = _OF_PLAIN.get(type(value))
    return value if kind is None else kind(value)
