"""atexit: what a program registers runs at its end, the last first. What the library registers never does.

An interpreter that keeps variables goes on after a program, so the library must not close its files.
"""

import atexit
import sys

from gristmill_guest import loose_ends, tracebacks

HANDLERS_MAX = 10_000

_handlers = []
_register = atexit.register
_unregister = atexit.unregister


def register(func, /, *args, **kwargs):
    if not callable(func):
        raise TypeError("the first argument must be callable")
    if tracebacks.is_library(sys._getframe(1).f_code.co_filename):
        return _register(func, *args, **kwargs)
    if len(_handlers) >= HANDLERS_MAX:
        raise RuntimeError(f"at most {HANDLERS_MAX:,} functions can be registered")
    _handlers.append((func, args, kwargs))
    return func


def unregister(func, /):
    _handlers[:] = [handler for handler in _handlers if handler[0] != func]
    _unregister(func)


def clear():
    _handlers.clear()


def run(notes, filename):
    """Calls what was registered. A failure is noted and ends nothing."""
    while _handlers:
        func, args, kwargs = _handlers.pop()
        try:
            func(*args, **kwargs)
        except SystemExit:
            pass
        except BaseException as error:
            loose_ends.note_background_error(notes, error, filename, "an atexit function")


def install():
    """Done once, when the image is built."""
    for function in (register, unregister):
        function.__module__ = "atexit"
        setattr(atexit, function.__name__, function)
    atexit._clear = clear
