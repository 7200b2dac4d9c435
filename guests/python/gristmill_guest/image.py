"""Shapes the interpreter once, when the image is built, and settles its heap."""

import gc
import importlib
import sys
import sysconfig
import types
import zoneinfo

import yaml

from gristmill_guest import (
    environment,
    everyday,
    exit_handlers,
    http_requests,
    imports,
    key_derivation,
    loop,
    missing,
    namespace,
    refusals,
    stdio,
    tracebacks,
    tree_paths,
    trees,
    word_size,
)

PREIMPORTED = """
    abc argparse array ast asyncio atexit base64 binascii bisect calendar cmath collections colorsys
    concurrent.futures concurrent.futures.thread contextlib contextvars copy csv
    dataclasses datetime dateutil dateutil.parser dateutil.relativedelta decimal difflib
    email email.message email.parser email.policy enum fnmatch fractions functools getpass glob gzip hashlib heapq
    hmac html html.parser http importlib.metadata importlib.resources inspect io ipaddress
    itertools json keyword linecache locale logging math mimetypes numbers operator os
    os.path pathlib pickle platform pprint queue random re reprlib secrets shlex shutil
    signal socket sqlite3 stat statistics string struct subprocess sys tabulate tempfile
    textwrap threading time tokenize tomllib traceback types typing unicodedata
    urllib.parse urllib.request uuid warnings weakref xml.etree.ElementTree yaml zipfile zlib
    zoneinfo _strptime encodings.idna encodings.latin_1 encodings.ascii encodings.utf_16
    encodings.utf_8_sig encodings.cp1252 encodings.unicode_escape
""".split()

# Never suggested to a program.
GUEST_ONLY = ("gristmill_guest", "wit_world", "componentize_py", "poll_loop")


def settle():
    """The last step of the build: nothing of the build machine stays, the heap is compact."""
    archive = imports.archive_in_use()
    for name in PREIMPORTED:
        importlib.import_module(name)
    shape()
    _forget_the_build(archive)
    zoneinfo.reset_tzpath(to=())
    stdio.live().put_in_place()
    environment.set_variables()
    environment.remember()
    gc.collect()
    gc.freeze()


def shape():
    """Puts our own parts in the place of the library's, where the sandbox needs it."""
    loop.install()
    refusals.install()
    exit_handlers.install()
    word_size.install()
    key_derivation.install()
    everyday.install()
    http_requests.install()
    tree_paths.install()
    namespace.make_importable()
    _teach_yaml()


def _teach_yaml():
    """YAML knows exact types only: what helpers return is written as the plain value that it is."""
    for representer in (yaml.representer.SafeRepresenter, yaml.representer.Representer):
        for kind in namespace.TYPES.values():
            for plain in (str, int, list, dict):
                if issubclass(kind, plain):
                    representer.add_representer(kind, representer.yaml_representers[plain])


def _forget_the_build(archive):
    # Packages that the user added are a folder; without any there is none, and nothing looks for it but an import.
    sys.path[:] = ["/workspace", tracebacks.PACKAGES.rstrip("/")]
    sys.path_importer_cache.clear()
    sys.prefix = sys.exec_prefix = sys.base_prefix = sys.base_exec_prefix = "/usr"
    sys._stdlib_dir = None
    sys.orig_argv = ["python3", "program.py"]
    sys.executable = ""
    sys.dont_write_bytecode = True
    sysconfig._PREFIX = sysconfig._EXEC_PREFIX = sysconfig._BASE_PREFIX = sysconfig._BASE_EXEC_PREFIX = "/usr"
    _hide_build_variables()
    known = {name for name in archive.modules if not name.startswith(GUEST_ONLY)} | set(sys.builtin_module_names)
    # Tool and skill trees come before files of the same name; the explanation comes last.
    sys.meta_path.insert(len(sys.meta_path) - 1, trees.TreeFinder())
    sys.meta_path.append(missing.ExplainingFinder(known))


def _hide_build_variables():
    """sysconfig keeps working, without the paths of the machine that compiled CPython."""
    name = sysconfig._get_sysconfigdata_name()
    stand_in = types.ModuleType(name)
    stand_in.build_time_vars = {"SOABI": sys.implementation.cache_tag, "EXT_SUFFIX": ".so", "SIZEOF_VOID_P": 4}
    sys.modules[name] = stand_in
    sysconfig._CONFIG_VARS = None
    sysconfig._CONFIG_VARS_INITIALIZED = False
