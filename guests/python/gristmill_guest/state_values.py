"""`state`, the values that a session keeps beside its files, and `reset()`.

Each access is a host call that is waited for in place, as in search.py: what is assigned is kept before
the next statement runs.
"""

import collections.abc
import os

from gristmill_guest import at_once, encoding, environment, loop, tools

WORKSPACE = "/workspace"

_chdir = os.chdir
_scandir = os.scandir
_remove = os.remove
_rmdir = os.rmdir


class StateError(RuntimeError):
    """A value that could not be kept or read; the message says why. The others are untouched."""


class State(collections.abc.MutableMapping):
    """JSON values under names, the same for every program of the session.

    What is read is a copy: assign it again after changing it.
    """

    __slots__ = ()

    def __getitem__(self, key):
        found = _ask("get", key=_key(key))
        if not found:
            raise KeyError(key)
        return found[0]

    def __setitem__(self, key, value):
        key = _key(key)
        _ask("set", key=key, value=encoding.plain_value(value, f"state[{key!r}]"))

    def __delitem__(self, key):
        if not _ask("delete", key=_key(key)):
            raise KeyError(key)

    def __contains__(self, key):
        return isinstance(key, str) and bool(_ask("get", key=str.__str__(key)))

    def __iter__(self):
        return iter(_ask("keys"))

    def __len__(self):
        return len(_ask("keys"))

    def clear(self):
        """Removes every value."""
        _ask("clear")

    def copy(self):
        """All of it as a plain dict."""
        return dict(self.items())

    def __repr__(self):
        return f"state({self.copy()!r})"


StateError.__module__ = State.__module__ = "gristmill"

state = State()


def reset():
    """Empties the session: removes everything in /workspace and every value of `state`.

    Variables stay as they are. A file that cannot be removed raises, and what was removed before stays gone.
    """
    state.clear()
    environment.enter_workspace()
    _empty(WORKSPACE)
    return at_once.Nothing()


reset.__module__ = "gristmill"


def _empty(folder):
    with _scandir(folder) as listing:
        entries = list(listing)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            _empty(entry.path)
            _rmdir(entry.path)
        else:
            _remove(entry.path)


def _key(key):
    if not isinstance(key, str):
        raise TypeError(f"keys of state must be strings, not {type(key).__name__}: {_shown(key)}")
    return str.__str__(key)


def _shown(key):
    try:
        return repr(key)[:60]
    except Exception:
        return "<unprintable>"


def _ask(what, **details):
    ok, answer = loop.current().calls.ask("state", encoding.to_json({"do": what, **details}))
    if not ok:
        raise StateError(tools.error_from(answer, "state").message)
    try:
        return encoding.from_json(answer)
    except (ValueError, RecursionError):
        raise StateError("the stored value can't be read") from None
