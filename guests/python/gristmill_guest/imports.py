"""Imports from memory, and the advice that a failed import gives.

`ArchiveFinder` serves what `stdlib` packed, with resources and package metadata.
The order on `sys.meta_path` is: built-in, frozen, archive, the tool and skill trees,
files of the workspace, and last the finder that explains what is missing.
"""

import builtins
import importlib.machinery
import marshal
import sys

OWN_PACKAGE = "gristmill_guest"

# Hooks by module name, called right after that module's code has run.
after_import = {}

_private_builtins = dict(builtins.__dict__)


class ArchiveLoader:
    """Executes one packed module. The guest's own modules get private builtins."""

    def __init__(self, archive, fullname):
        self._archive = archive
        self._fullname = fullname

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        name = module.__spec__.name
        if name.split(".", 1)[0] == OWN_PACKAGE:
            # A program that rebinds builtins.len must not reach the code that reports on it.
            module.__dict__["__builtins__"] = _private_builtins
        exec(self.get_code(name), module.__dict__)
        hook = after_import.get(name)
        if hook is not None:
            hook(module)

    def get_code(self, fullname):
        return marshal.loads(self._archive.modules[fullname].code)

    def get_source(self, fullname):
        return None

    def get_filename(self, fullname):
        return self._archive.modules[fullname].filename

    def is_package(self, fullname):
        return self._archive.modules[fullname].is_package

    def get_data(self, path):
        try:
            return self._archive.data[path]
        except KeyError:
            raise FileNotFoundError(2, "no such packed file", path) from None

    def get_resource_reader(self, fullname):
        if not self.is_package(fullname):
            return None
        from gristmill_guest import resources

        directory = self.get_filename(fullname).rsplit("/", 1)[0]
        return resources.reader(self._archive, directory)

    def __repr__(self):
        return "<loader of the sandbox's library>"


class ArchiveFinder:
    """Finds packed modules and the metadata of the bundled packages."""

    def __init__(self, archive):
        self._archive = archive

    def find_spec(self, fullname, path=None, target=None):
        if fullname in self._archive.modules:
            return spec_for(self._archive, fullname)
        return None

    def find_distributions(self, context=None):
        from gristmill_guest import resources

        return resources.distributions(self._archive, getattr(context, "name", None))

    def invalidate_caches(self):
        pass

    def iter_modules(self, prefix=""):
        """For pkgutil: the packed top-level modules."""
        for name, packed in self._archive.modules.items():
            if "." not in name and not name.startswith("_"):
                yield prefix + name, packed.is_package


def spec_for(archive, fullname):
    packed = archive.modules[fullname]
    spec = importlib.machinery.ModuleSpec(
        fullname, ArchiveLoader(archive, fullname), origin=packed.filename, is_package=packed.is_package
    )
    if packed.is_package:
        spec.submodule_search_locations.append(packed.filename.rsplit("/", 1)[0])
    spec.has_location = True
    return spec


def install(archive):
    """Puts the archive right after the built-in and frozen modules, in place of any earlier one."""
    kept = [f for f in sys.meta_path if type(f).__name__ != "ArchiveFinder"]
    kept.insert(2, ArchiveFinder(archive))
    sys.meta_path[:] = kept


def archive_in_use():
    for finder in sys.meta_path:
        if type(finder).__name__ == "ArchiveFinder":
            return finder._archive
    return None
