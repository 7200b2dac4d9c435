"""What the worker calls: once in the zygote, then once or more in each child."""

import importlib

from gristmill_guest import program
from gristmill_guest import warm as warming
from gristmill_native import image, values


def prepare(path):
    """Before anything is preloaded: `path` is where modules are found."""
    image.prepare(path)


def settle():
    """After it: shapes the interpreter."""
    image.settle()


def preload(name):
    """Imports one module of the environment; gives what went wrong, or nothing."""
    try:
        importlib.import_module(name)
    except BaseException as error:
        return f"{type(error).__name__}: {error}"[:500]
    return ""


def warm():
    warming.warm()


def ready():
    """In a fresh process: nothing random is what another one has."""
    values.reseed()
    program.ready()


def run(code, filename, context, result_bytes, large_result_bytes, result_depth, keep):
    return program.run(code, context, result_bytes, result_depth, keep, filename, large_result_bytes)
