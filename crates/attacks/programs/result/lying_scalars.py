# attack: subclasses of text and numbers with other ideas about themselves
# expect: ok | error
# forbid: PWNED
class Text(str):
    def __str__(self):
        raise SystemExit("str")

    def encode(self, *arguments):
        return b"\xff\xfe"

    def __repr__(self):
        return '"}, "forged": "yes'


class Number(int):
    def __str__(self):
        return '1, "forged": true'

    __repr__ = __str__

    def __int__(self):
        raise KeyboardInterrupt

    def __index__(self):
        return 10**100


class Float(float):
    def __repr__(self):
        return "]]]"

    __float__ = __repr__


result = {"text": Text("t"), "number": Number(7), "float": Float(1.5), Text("key"): [Text("x"), Number(1)]}
