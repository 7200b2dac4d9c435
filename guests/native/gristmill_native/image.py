"""Shapes the interpreter once, before children are forked: what `gristmill_guest.image` does in a build."""

import concurrent.futures
import gc
import importlib
import importlib.metadata
import os
import sys
import zoneinfo

from gristmill_guest import (
    environment,
    everyday,
    exit_handlers,
    host,
    http_requests,
    loop,
    namespace,
    refusals,
    tracebacks,
    tree_paths,
    trees,
)
from gristmill_guest import image as built
from gristmill_native import host as worker
from gristmill_native import missing, streams, values

# One thread for each program; what is drawn is drawn to memory; what is cached is cached in the program's own folder.
VARIABLES = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "ARROW_NUM_THREADS": "1",
    # pandas imports pyarrow if it is there; a thread of its allocator would not outlive a fork.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "POLARS_MAX_THREADS": "1",
    "MPLBACKEND": "Agg",
    "MPLCONFIGDIR": "/tmp/matplotlib",
    "NUMBA_CACHE_DIR": "/tmp/numba",
    # There are no processes; without a word, joblib looks for them and warns every program.
    "JOBLIB_MULTIPROCESSING": "0",
}

# Imported so that what the jail forbids is refused with words, whoever imports it later.
REFUSED = """
    subprocess socket http.client urllib.request multiprocessing.context multiprocessing.pool
    concurrent.futures.thread concurrent.futures.process
""".split()

# Classes that are replaced by such as work in place.
REPLACED = {
    "concurrent.futures.thread": ["ThreadPoolExecutor"],
    "concurrent.futures.process": ["ProcessPoolExecutor"],
    "multiprocessing.pool": ["Pool", "ThreadPool"],
}


def prepare(path):
    """Before anything of the environment is imported: its variables, and where modules are found."""
    environment.ENVIRONMENT.update(VARIABLES)
    os.environ.update(VARIABLES)
    sys.path[:] = path
    sys.path_importer_cache.clear()
    sys.dont_write_bytecode = True
    sys.executable = ""
    sys.orig_argv = ["python3", "program.py"]


def settle():
    """After that: our own parts in the place of the library's, and a heap that children share."""
    host.use(worker)
    streams.install()
    os._exit = worker.leave
    for name in [*built.PREIMPORTED, *REFUSED]:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
    loop.install()
    before = _replaced_classes()
    refusals.install()
    _lead_on(before)
    exit_handlers.install()
    everyday.install()
    http_requests.install()
    tree_paths.install()
    namespace.make_importable()
    built._teach_yaml()
    values.install()
    zoneinfo.reset_tzpath(to=())
    # Frames in there are the library's, under the names that the WebAssembly engine shows.
    places = sorted((entry + "/" for entry in sys.path), key=len, reverse=True)
    tracebacks._LIBRARY = (*tracebacks._LIBRARY, *places)
    _complete_imports()
    sys.path.append(environment.ENVIRONMENT["HOME"])
    streams.live().put_in_place()
    environment.set_variables()
    environment.remember()
    values.remember_generators()
    gc.collect()
    gc.freeze()


def _replaced_classes():
    modules = {name: sys.modules[name] for name in REPLACED if name in sys.modules}
    return {(name, kind): getattr(module, kind) for name, module in modules.items() for kind in REPLACED[name]}


def _lead_on(before):
    """What was preloaded may have the classes from before by name: whoever makes one gets one that works in place."""
    for (name, kind), old in before.items():
        new = getattr(sys.modules[name], kind)
        if new is not old:
            old.__new__ = _maker(new)
            # The package hands these on, and keeps what it has handed on once.
            vars(concurrent.futures).pop(kind, None)


def _maker(new):
    return staticmethod(lambda _old, *arguments, **named: new(*arguments, **named))


def _complete_imports():
    """Tool and skill trees come before files of the same name; the explanation comes last."""
    at = next(i for i, finder in enumerate(sys.meta_path) if getattr(finder, "__name__", "") == "PathFinder")
    sys.meta_path.insert(at, trees.TreeFinder())
    sys.meta_path.append(missing.ExplainingFinder(_known_modules()))


def _known_modules():
    known = set(sys.stdlib_module_names) | set(sys.builtin_module_names)
    for finder in sys.meta_path:
        archive = getattr(finder, "_archive", None)
        if archive is not None:
            known.update(name for name in archive.modules if not name.startswith(("gristmill_guest", "gristmill_native")))
    known.update(importlib.metadata.packages_distributions())
    return known
