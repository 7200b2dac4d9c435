"""Run by the worker as text, with `packed` and `host_functions` among its globals: makes the guest importable.

`packed` is every source of the guest and of the bundled packages: for each file the length of its name, the name,
the length of its bytes, the bytes; lengths are four bytes, the lowest first.
"""

import sys
import types

OWN_PACKAGES = ("gristmill_guest", "gristmill_native")


def unpack(packed):
    files, at = {}, 0

    def take():
        nonlocal at
        length = int.from_bytes(packed[at : at + 4], "little")
        at += 4 + length
        return packed[at - length : at]

    while at < len(packed):
        name = take().decode("utf-8")
        files[name] = take()
    return files


def run_alone(name, files):
    """A module of the guest that needs no other one."""
    module = types.ModuleType(name)
    text = files[name.replace(".", "/") + ".py"]
    exec(compile(text, f"<guest>/{name}.py", "exec", dont_inherit=True), module.__dict__)
    return module


def archives(files):
    """One of the guest itself and one of the bundled packages, as the importer takes them."""
    packing = run_alone("gristmill_guest.stdlib", files)
    own, bundled = packing.Archive(), packing.Archive()
    for path, data in files.items():
        folder, _, name = path.rpartition("/")
        is_own = path.startswith(tuple(f"{package}/" for package in OWN_PACKAGES))
        archive, label = (own, "<guest>/") if is_own else (bundled, "<bundled>/")
        if folder.endswith(".dist-info"):
            archive.distributions.setdefault(folder, {})[name] = data.decode("utf-8", "replace")
        elif not name.endswith(".py"):
            archive.data[label + path] = data
        else:
            is_package = name == "__init__.py"
            fullname = (folder if is_package else path[:-3]).replace("/", ".")
            # Compiled when it is imported: most of the bundled packages are not, in most interpreters.
            archive.modules[fullname] = packing.Packed(LateCode(data, label + path), label + path, is_package)
    return own, bundled


class LateCode(bytes):
    """The source of a module; `marshal.loads` of it is its code."""

    def __new__(cls, source, filename):
        made = super().__new__(cls, source)
        made.filename = filename
        return made


class LateMarshal:
    """Stands for `marshal` in the importer."""

    @staticmethod
    def loads(source):
        return compile(bytes(source), source.filename, "exec", dont_inherit=True)


def install(packed):
    files = unpack(packed)
    own, bundled = archives(files)
    first = run_alone("gristmill_guest.imports", files)
    first.marshal = LateMarshal
    first.install(own)
    from gristmill_guest import imports

    imports.marshal = LateMarshal
    imports.install(own)
    # Behind the environment, whose packages of the same names come first.
    sys.meta_path.append(imports.ArchiveFinder(bundled))
    return bundled


bundled = install(packed)

from gristmill_native import entry, host  # noqa: E402  the importer must be in place first

host.functions = host_functions
prepare = entry.prepare
settle = entry.settle
preload = entry.preload
warm = entry.warm
ready = entry.ready
run = entry.run
