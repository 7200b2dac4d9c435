"""Personal data in a program: hidden behind tokens, restored where that is allowed, and compared without seeing it."""

from gristmill_guest import at_once, encoding, loop, tools


def sanitize_pii(value):
    """Text or JSON with tokens such as [EMAIL_k3v9q2ab] in the place of personal data. Needs no `await`."""
    return _ask("sanitize_pii", {"do": "sanitize", "value": encoding.plain_value(value, "value")})


def restore_pii(value):
    """Text or JSON with values in the place of tokens, as far as this program may have them. Needs no `await`."""
    return _ask("restore_pii", {"do": "restore", "value": encoding.plain_value(value, "value")})


class Privacy:
    """Looks at values behind tokens without showing them."""

    __slots__ = ()
    __module__ = "gristmill"

    sanitize = staticmethod(sanitize_pii)
    restore = staticmethod(restore_pii)

    def same(self, one, other):
        """Whether two tokens stand for the same value, however it is written."""
        return _ask("privacy.same", {"do": "same", "one": str(one), "other": str(other)})

    def domain(self, token):
        """The domain of the e-mail address behind a token."""
        return _ask("privacy.domain", {"do": "domain", "token": str(token)})

    def __repr__(self):
        return "<privacy: same(a, b), domain(token), sanitize(value), restore(value)>"


def _ask(name, asked):
    asked["line"] = tools.program_line()
    ok, answer = loop.current().calls.ask("privacy", encoding.to_json(asked))
    if not ok:
        raise tools.error_from(answer, name)
    return at_once.awaitable(encoding.from_json(answer))


privacy = Privacy()
for _function in (sanitize_pii, restore_pii):
    _function.__module__ = "gristmill"
