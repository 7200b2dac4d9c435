"""Values that are there at once, and that a program may await all the same."""


class AtOnce:
    """Mixed into a value's type. `await` gives the value itself."""

    __slots__ = ()

    def __await__(self):
        return self
        yield
