"""The file helpers of a program: list_directory, read_file, write_file. None needs `await`, all allow it.

The working directory is the workspace. Relative paths into the trees beside it
(`servers/`, `skills/`, `results/`) resolve there when the workspace has no such name.
"""

import difflib
import errno
import importlib
import io
import os

from gristmill_guest import at_once

TREES = ("servers", "skills", "results")
# Where the trees lie.
ROOT = "/"
RESULTS = "/results"
SUGGESTIONS_MAX = 5
LISTED_MAX = 12
# More would take longer than the program.
LOOKED_AT_MAX = 2000

_listdir = os.listdir
_mkdir = os.mkdir
_open = io.open
_stat = os.stat


def list_directory(path="."):
    """Sorted names in a directory; directories end with "/"."""
    target = resolve(path)
    try:
        names = _listdir(target)
    except PermissionError:
        if not is_in_results(target):
            raise
        raise PermissionError(errno.EPERM, BY_HANDLE, _given(path)) from None
    except FileNotFoundError:
        raise _not_found(path, target) from None
    except NotADirectoryError:
        raise NotADirectoryError(errno.ENOTDIR, "this is a file; use read_file", _given(path)) from None
    return at_once.Items(sorted(name + "/" if os.path.isdir(os.path.join(target, name)) else name for name in names))


def read_file(path, encoding="utf-8"):
    """The text of a file. For bytes use open(path, "rb")."""
    target = resolve(path)
    try:
        with _open(target, encoding=encoding) as file:
            return at_once.Text(file.read())
    except FileNotFoundError:
        raise _not_found(path, target) from None
    except IsADirectoryError:
        raise IsADirectoryError(errno.EISDIR, "this is a directory; use list_directory", _given(path)) from None
    except OSError:
        if os.path.isdir(target):
            raise IsADirectoryError(errno.EISDIR, "this is a directory; use list_directory", _given(path)) from None
        raise
    except UnicodeDecodeError as error:
        raise ValueError(
            f'{_given(path)} is not {encoding} text (byte {error.start}); read it with open(path, "rb")'
        ) from None


def write_file(path, content):
    """Writes text or bytes, making parent directories. Returns the number of bytes written."""
    if isinstance(content, str):
        data = content.encode("utf-8", "backslashreplace")
    elif isinstance(content, (bytes, bytearray, memoryview)):
        data = bytes(content)
    else:
        raise TypeError(f"write_file takes text or bytes, not {type(content).__name__}; for data use json.dumps(...)")
    target = _given(path)
    _make_folders(os.path.dirname(target))
    with _open(target, "wb") as file:
        file.write(data)
    if target.endswith(".py"):
        # The next statement may well import it.
        importlib.invalidate_caches()
    return at_once.Number(len(data))


def _make_folders(path):
    if path and not _exists(path):
        _make_folders(os.path.dirname(path.rstrip("/")))
        try:
            _mkdir(path)
        except FileExistsError:
            pass


def resolve(path):
    """The path to open: as given, or in the tree of that name beside the workspace."""
    given = _given(path)
    if given.startswith("/") or _exists(given):
        return given
    return beside(given) or given


def beside(path):
    """The place of a relative path in a tree beside the workspace; None for any other."""
    if not isinstance(path, (str, os.PathLike)):
        return None
    plain = _given(path).removeprefix("./")
    return ROOT + plain if plain.split("/", 1)[0] in TREES else None


def _exists(path):
    try:
        _stat(path)
    except (OSError, ValueError):
        return False
    return True


BY_HANDLE = (
    "results can't be listed: open one by the handle from an answer, "
    'such as json.load(open("/results/<handle>.json"))'
)
_NO_RESULT = (
    "no such result: check the handle and the extension; unused results are removed after a while, "
    "and `gristmill results list` lists those that are left"
)


def is_in_results(target):
    return target.rstrip("/") == RESULTS or target.startswith(RESULTS + "/")


def _given(path):
    text = os.fspath(path)
    if isinstance(text, bytes):
        text = text.decode("utf-8", "surrogateescape")
    if "\0" in text:
        raise ValueError("a path cannot contain a NUL character")
    return text


def is_told(error):
    """Whether the error says itself what is there instead."""
    return type(error.strerror) is str and error.strerror.startswith(("no such file", "no such result"))


def nearest_to(name):
    """The file in the working directory that is called so, or nearly; None if there is none."""
    near = _close_names(name, _names_in("."))
    return near[0] if near else None


def what_is_there(path):
    """What there is instead of a file that was not found, as a hint."""
    if is_in_results(path) and _exists(RESULTS):
        return _NO_RESULT
    directory = os.path.dirname(path.rstrip("/")) or "."
    names = _names_in(directory)
    if names is None:
        there = _listed(_names_in("."))
        return f'there is no folder "{directory}"; {_shown(".")} {there}'
    close = _close_names(os.path.basename(path.rstrip("/")), names)
    if close:
        inside = directory if directory != "." else ""
        return f'did you mean {", ".join(_quoted(os.path.join(inside, name)) for name in close[:2])}?'
    return f"{_shown(directory)} {_listed(names)}"


def _shown(directory):
    return "the working directory" if directory == "." else f'"{directory}"'


def _names_in(directory):
    try:
        return sorted(_listdir(directory))
    except OSError:
        return None


def _listed(names):
    if not names:
        return "is empty"
    more = f" and {len(names) - LISTED_MAX} more" if len(names) > LISTED_MAX else ""
    return f"has {', '.join(names[:LISTED_MAX])}{more}"


def _quoted(name):
    return f'"{name}"'


def _close_names(wanted, names):
    """The names that are nearly the wanted one, nearest first."""
    names = (names or [])[:LOOKED_AT_MAX]
    close = difflib.get_close_matches(wanted, names, SUGGESTIONS_MAX, 0.5)
    folded = wanted.casefold().replace("_", "").replace("-", "")
    alike = (name for name in names if name.casefold().replace("_", "").replace("-", "") == folded)
    return close + [name for name in alike if name not in close]


def _not_found(path, target):
    """FileNotFoundError that names what is there instead."""
    if is_in_results(target):
        return FileNotFoundError(errno.ENOENT, _NO_RESULT, _given(path))
    directory = os.path.dirname(target.rstrip("/")) or "."
    wanted = os.path.basename(target.rstrip("/"))
    names = _names_in(directory)
    if names is None:
        return FileNotFoundError(errno.ENOENT, f'no such file, and no directory "{directory}"', _given(path))
    close = _close_names(wanted, names)
    if close:
        listed = ", ".join(f'"{name}"' for name in close[:SUGGESTIONS_MAX])
        return FileNotFoundError(errno.ENOENT, f"no such file (did you mean {listed}?)", _given(path))
    shown = ", ".join(names[:SUGGESTIONS_MAX]) + (", ..." if len(names) > SUGGESTIONS_MAX else "")
    return FileNotFoundError(errno.ENOENT, f'no such file ("{directory}" holds: {shown or "nothing"})', _given(path))
