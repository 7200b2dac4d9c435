"""Packs the standard library and the bundled packages into memory, at build time.

Runs inside the guest during pre-initialisation. Every module is compiled under a
made-up file name ("<stdlib>/json/decoder.py"), marshalled, and kept in a dictionary
behind the importer of `imports`, so that a live guest needs no file to import from
and shows no path of the build machine. Bytes stay raw: the component is compressed
as a whole.
"""

import _imp
import gc
import marshal
import os
import sys
import types

PACKED_ROOTS = (("/python", "<stdlib>"), ("/world", "<guest>"), ("/bundled", "<guest>"))

# No display, no installer, no tests, no terminal, or nothing behind them in this build.
DROPPED = frozenset(
    """
    idlelib tkinter turtle turtledemo test ensurepip lib2to3 venv pydoc_data distutils
    curses __phello__ __hello__ antigravity site-packages __pycache__ ctypes
    _aix_support _android_support _apple_support _ios_support _osx_support
    config-3.14-wasm32-wasi pty tty this zipapp webbrowser pip setuptools
    _sysconfigdata__wasi_wasm32-wasi
    """.split()
)
OWN_PACKAGE = "gristmill_guest"
ENTRY_MODULE = "app"
# help() and doctest use these parts of the interactive prompt.
PROMPT_PARTS_KEPT = ("__init__", "pager", "utils", "types", "trace")


class Packed:
    """What one module needs to be imported: its code, and whether it is a package."""

    __slots__ = ("code", "filename", "is_package")

    def __init__(self, code, filename, is_package):
        self.code = code
        self.filename = filename
        self.is_package = is_package


class Archive:
    """All packed modules, their data files and the metadata of the bundled packages."""

    def __init__(self):
        self.modules = {}
        self.data = {}
        self.distributions = {}


def pack_and_install():
    """Packs every root on `sys.path`, then makes the archive the only importer."""
    # Frozen modules take their __file__ from here.
    sys._stdlib_dir = None
    archive = Archive()
    for root, label in _roots():
        _pack_directory(archive, root, label, prefix="")
    renames = {root: label for root, label in _roots()}
    for name in [n for n in sys.modules if n == OWN_PACKAGE or n.startswith(OWN_PACKAGE + ".")]:
        del sys.modules[name]

    from gristmill_guest import imports as bootstrap

    # The importer loads its own package a second time, now from the archive and with
    # private builtins; the copy used to get here is forgotten.
    bootstrap.install(archive)
    for name in [n for n in sys.modules if n == OWN_PACKAGE or n.startswith(OWN_PACKAGE + ".")]:
        del sys.modules[name]
    from gristmill_guest import imports

    imports.install(archive)
    _relabel_loaded_modules(archive, renames, imports)


def _roots():
    roots = list(PACKED_ROOTS)
    for entry in sys.path:
        if entry.startswith("/") and entry[1:].isdigit():
            roots.append((entry, "<bundled>"))
    return roots


def _pack_directory(archive, root, label, prefix):
    try:
        names = sorted(os.listdir(root))
    except OSError:
        return
    for name in names:
        path = root + "/" + name
        stem = name[:-3] if name.endswith(".py") else name
        if not prefix and (stem in DROPPED or stem == ENTRY_MODULE):
            continue
        if prefix == "_pyrepl." and stem not in PROMPT_PARTS_KEPT:
            continue
        if name in ("__pycache__", "tests", "test", "build.py") or name.endswith((".so", ".pyc")):
            continue
        if os.path.isdir(path):
            if name.endswith(".dist-info"):
                _pack_metadata(archive, path, name)
            elif _holds_modules(path):
                _pack_directory(archive, path, label + "/" + name, prefix + name + ".")
            elif prefix:
                _pack_data(archive, path, label + "/" + name)
        elif name.endswith(".py"):
            _pack_module(archive, path, label, prefix, stem)
        elif prefix:
            with open(path, "rb") as file:
                archive.data[label + "/" + name] = file.read()


def _holds_modules(path):
    return os.path.exists(path + "/__init__.py")


def _pack_module(archive, path, label, prefix, stem):
    filename = _label_for(path, label, prefix)
    with open(path, "rb") as file:
        source = file.read()
    if prefix.startswith(OWN_PACKAGE) or path.startswith(("/world", "/bundled")):
        filename = filename.replace("<bundled>", "<guest>")
    try:
        # Docstrings stay: programs ask for help(), and argparse and docopt-like code reads them.
        code = compile(source, filename, "exec", dont_inherit=True)
    except SyntaxError:
        return
    is_package = stem == "__init__"
    fullname = prefix[:-1] if is_package else prefix + stem
    if fullname not in archive.modules:
        archive.modules[fullname] = Packed(marshal.dumps(code), filename, is_package)


def _label_for(path, label, prefix):
    return label + "/" + path.rsplit("/", 1)[1]


def _pack_data(archive, path, label):
    for name in sorted(os.listdir(path)):
        inner = path + "/" + name
        if os.path.isdir(inner):
            _pack_data(archive, inner, label + "/" + name)
        elif not name.endswith((".py", ".so", ".pyc")):
            with open(inner, "rb") as file:
                archive.data[label + "/" + name] = file.read()


def _pack_metadata(archive, path, directory):
    files = {}
    for name in ("METADATA", "RECORD", "entry_points.txt", "top_level.txt"):
        try:
            with open(path + "/" + name, encoding="utf-8") as file:
                files[name] = file.read()
        except OSError:
            pass
    if "METADATA" in files:
        archive.distributions[directory] = files


def _relabel_loaded_modules(archive, renames, imports):
    """Gives modules that were loaded from disk the names and the loader of the archive."""
    for name, module in list(sys.modules.items()):
        packed = archive.modules.get(name)
        if packed is None or isinstance(getattr(module, "__loader__", None), imports.ArchiveLoader):
            continue
        if getattr(getattr(module, "__spec__", None), "origin", None) in ("frozen", "built-in"):
            module.__dict__.pop("__file__", None)
            continue
        spec = imports.spec_for(archive, name)
        module.__spec__ = spec
        module.__loader__ = spec.loader
        module.__file__ = packed.filename
        module.__dict__.pop("__cached__", None)
        if packed.is_package:
            module.__path__ = list(spec.submodule_search_locations)
    for found in gc.get_objects():
        if isinstance(found, types.FunctionType):
            _relabel_code(found.__code__, renames)


def _relabel_code(code, renames):
    for root, label in renames.items():
        if code.co_filename.startswith(root + "/"):
            _imp._fix_co_filename(code, label + code.co_filename[len(root) :])
            return
