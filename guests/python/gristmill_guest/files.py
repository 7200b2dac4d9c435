"""The file helpers of a program: list_directory, read_file, write_file.

The working directory is the workspace. Relative paths into the trees beside it
(`servers/`, `skills/`, `results/`) resolve there when the workspace has no such name.
"""

import difflib
import errno
import importlib
import io
import os

TREES = ("servers", "skills", "results")
RESULTS = "/results"
SUGGESTIONS_MAX = 5

_listdir = os.listdir
_open = io.open


def list_directory(path="."):
    """Sorted names in a directory; directories end with "/"."""
    target = resolve(path)
    try:
        names = _listdir(target)
    except PermissionError:
        if not _is_in_results(target):
            raise
        raise PermissionError(errno.EPERM, _BY_HANDLE, _given(path)) from None
    except FileNotFoundError:
        raise _not_found(path, target) from None
    except NotADirectoryError:
        raise NotADirectoryError(errno.ENOTDIR, "this is a file; use read_file", _given(path)) from None
    return sorted(name + "/" if os.path.isdir(os.path.join(target, name)) else name for name in names)


def read_file(path, encoding="utf-8"):
    """The text of a file. For bytes use open(path, "rb")."""
    target = resolve(path)
    try:
        with _open(target, encoding=encoding) as file:
            return file.read()
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
    parent = os.path.dirname(target)
    if parent:
        os.makedirs(parent, exist_ok=True)
    with _open(target, "wb") as file:
        file.write(data)
    if target.endswith(".py"):
        # The next statement may well import it.
        importlib.invalidate_caches()
    return len(data)


def resolve(path):
    """The path to open: as given, or in the tree of that name beside the workspace."""
    given = _given(path)
    if given.startswith("/") or os.path.exists(given):
        return given
    plain = given[2:] if given.startswith("./") else given
    if plain.split("/", 1)[0] in TREES:
        return "/" + plain
    return given


_BY_HANDLE = (
    "results are not listed: open one by the handle that an answer named, "
    'such as json.load(open("/results/<handle>.json"))'
)


def _is_in_results(target):
    return target.rstrip("/") == RESULTS or target.startswith(RESULTS + "/")


def _given(path):
    text = os.fspath(path)
    if isinstance(text, bytes):
        text = text.decode("utf-8", "surrogateescape")
    if "\0" in text:
        raise ValueError("a path cannot contain a NUL character")
    return text


def _not_found(path, target):
    """FileNotFoundError that names what is there instead."""
    if _is_in_results(target):
        return FileNotFoundError(
            errno.ENOENT,
            "no such result: check the handle and the ending; results that nobody uses are removed in time",
            _given(path),
        )
    directory = os.path.dirname(target.rstrip("/")) or "."
    wanted = os.path.basename(target.rstrip("/"))
    try:
        names = sorted(_listdir(directory))
    except OSError:
        return FileNotFoundError(errno.ENOENT, f'no such file, and no directory "{directory}"', _given(path))
    close = difflib.get_close_matches(wanted, names, SUGGESTIONS_MAX, 0.5)
    folded = wanted.casefold().replace("_", "").replace("-", "")
    close += [n for n in names if n not in close and n.casefold().replace("_", "").replace("-", "") == folded]
    if close:
        listed = ", ".join(f'"{name}"' for name in close[:SUGGESTIONS_MAX])
        return FileNotFoundError(errno.ENOENT, f"no such file (did you mean {listed}?)", _given(path))
    shown = ", ".join(names[:SUGGESTIONS_MAX]) + (", ..." if len(names) > SUGGESTIONS_MAX else "")
    return FileNotFoundError(errno.ENOENT, f'no such file ("{directory}" holds: {shown or "nothing"})', _given(path))
