"""What the worker calls: once in the zygote, then once or more in each child."""

import faulthandler
import importlib
import signal

from gristmill_guest import program
from gristmill_guest import warm as warming
from gristmill_native import image, values

# A module that takes longer to import is taken for one that hangs.
PRELOAD_SECONDS_MAX = 60

# The zygote's own, which the gateway reads if the zygote ends.
STDERR = 2


def prepare(path):
    """Before anything is preloaded: `path` is where modules are found."""
    image.prepare(path)


def settle():
    """After it: shapes the interpreter."""
    image.settle()


def preload(name):
    """Imports one module of the environment; gives what went wrong, or nothing.

    If it crashes, the process ends, and its last words are where that was.
    """
    faulthandler.enable(file=STDERR)
    before = signal.signal(signal.SIGALRM, _took_too_long)
    signal.alarm(PRELOAD_SECONDS_MAX)
    try:
        importlib.import_module(name)
    except BaseException as error:
        return f"{type(error).__name__}: {error}"[:500]
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        faulthandler.disable()
    return ""


def _took_too_long(_number, _frame):
    raise TimeoutError(f"it takes longer than {PRELOAD_SECONDS_MAX} seconds to import")


def warm():
    warming.warm()


def ready():
    """In a fresh process: nothing random is what another one has."""
    values.reseed()
    program.ready()


def run(code, filename, context, result_bytes, large_result_bytes, result_depth, keep):
    return program.run(code, context, result_bytes, result_depth, keep, filename, large_result_bytes)
