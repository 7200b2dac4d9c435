"""importlib.resources and importlib.metadata for packages that live in memory."""

import importlib.metadata
import importlib.resources.abc
import io
import pathlib
import re


def reader(archive, directory):
    return _Reader(archive, directory)


def distributions(archive, name):
    """The bundled distributions, or the one whose normalised name is asked for."""
    wanted = None if name is None else _normalised(name)
    for directory, files in archive.distributions.items():
        if wanted is None or _normalised(directory.split("-", 1)[0]) == wanted:
            yield _MemoryDistribution(files)


def _normalised(name):
    return re.sub(r"[-_.]+", "_", name).lower()


class _MemoryDistribution(importlib.metadata.Distribution):
    def __init__(self, files):
        self._files = files

    def read_text(self, filename):
        return self._files.get(filename)

    def locate_file(self, path):
        # Bundled packages have no files on disk: a path that never exists.
        return pathlib.Path("/bundled", path)


class _Reader(importlib.resources.abc.TraversableResources):
    def __init__(self, archive, directory):
        self._root = _Node(archive, directory)

    def files(self):
        return self._root


class _Node(importlib.resources.abc.Traversable):
    def __init__(self, archive, path):
        self._archive = archive
        self._path = path

    @property
    def name(self):
        return self._path.rsplit("/", 1)[-1]

    def is_file(self):
        return self._path in self._archive.data

    def is_dir(self):
        return any(True for _ in self.iterdir())

    def iterdir(self):
        prefix = self._path + "/"
        seen = set()
        for path in self._archive.data:
            if path.startswith(prefix):
                seen.add(path[len(prefix) :].split("/", 1)[0])
        for name in sorted(seen):
            yield _Node(self._archive, prefix + name)

    def joinpath(self, *descendants):
        path = self._path
        for part in descendants:
            path += "/" + str(part).strip("/")
        return _Node(self._archive, path)

    def __truediv__(self, child):
        return self.joinpath(child)

    def open(self, mode="r", *args, **kwargs):
        try:
            raw = io.BytesIO(self._archive.data[self._path])
        except KeyError:
            raise FileNotFoundError(2, "no such packed file", self._path) from None
        return raw if "b" in mode else io.TextIOWrapper(raw, *args, **kwargs)

    def read_bytes(self):
        return self.open("rb").read()

    def read_text(self, encoding=None, errors=None):
        return self.read_bytes().decode(encoding or "utf-8", errors or "strict")

    def __str__(self):
        return self._path
