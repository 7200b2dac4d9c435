"""Relative paths into the trees beside the workspace, for `open`, `os` and `pathlib` as for the helpers.

A path that the workspace has is that one. Nothing is tried again but what was not found, so nothing else is slower.
"""

import builtins
import io
import os

from gristmill_guest import files

_open = io.open
_stat = os.stat
_listdir = os.listdir
_scandir = os.scandir

# Programs ask whether a folder of this name is there before they make one.
_MADE_BY_PROGRAMS = ("results", "skills")


def open(file, mode="r", *args, **kwargs):
    try:
        return _open(file, mode, *args, **kwargs)
    except FileNotFoundError:
        place = files.beside(file) if not set("wax+") & set(mode) else None
        if place is None:
            raise
    return _open(place, mode, *args, **kwargs)


def stat(path, *, dir_fd=None, follow_symlinks=True):
    try:
        return _stat(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)
    except FileNotFoundError:
        place = files.beside(path) if dir_fd is None else None
        if place is None or place.removeprefix(files.ROOT).strip("/") in _MADE_BY_PROGRAMS:
            raise
    return _stat(place, follow_symlinks=follow_symlinks)


def listdir(path=None):
    try:
        return _listdir(path)
    except FileNotFoundError:
        place = files.beside(path)
        if place is None:
            raise
    return _listdir(place)


def scandir(path=None):
    try:
        return _scandir(path)
    except FileNotFoundError:
        place = files.beside(path)
        if place is None:
            raise
    return _scandir(place)


def install():
    """Done once, when the image is built."""
    open.__module__ = "io"
    builtins.open = io.open = open
    for function in (stat, listdir, scandir):
        original = getattr(os, function.__name__)
        for supporting in (os.supports_fd, os.supports_dir_fd, os.supports_follow_symlinks):
            if original in supporting:
                supporting.add(function)
        function.__module__ = "os"
        setattr(os, function.__name__, function)
