# attack: an exception whose text, name and class all fail
# expect: error
# forbid: PWNED
class Meta(type):
    @property
    def __name__(cls):
        raise RuntimeError("no name")

    @property
    def __module__(cls):
        raise RuntimeError("no module")


class Unshowable(Exception, metaclass=Meta):
    def __str__(self):
        raise ValueError("no text")

    def __repr__(self):
        raise ValueError("no representation")

    def __getattribute__(self, name):
        raise AttributeError(self)


raise Unshowable
