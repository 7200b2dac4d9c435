# attack: an object that pretends to be of another class
# expect: ok | error
# forbid: PWNED
class Pretender:
    @property
    def __class__(self):
        return dict

    def __getattr__(self, name):
        raise RuntimeError(name)

    def __dir__(self):
        raise SystemExit


class Slippery:
    __dataclass_fields__ = 5
    _fields = ("a", "b")
    value = property(lambda self: self)

    def _asdict(self):
        return self

    def isoformat(self):
        return self

    def __iter__(self):
        return iter([self])


result = [Pretender(), Slippery(), Pretender, type, len, Ellipsis, NotImplemented, (n for n in range(3)), memoryview(b"x"), 1j, range(3)]
