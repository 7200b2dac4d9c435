"""What lies in /servers: a folder for each server, in it a file for each tool and language.

Nothing there is executed. The tools are the stems of `*.py`; `.ts`, `index.*` in other languages
and `.server.json` lie beside them. It stands still while a program runs, so what is listed is listed once, and an
import looks at what it names: with dozens of servers a look at every folder takes longer than the rest of the program.
"""

import functools
import io
import os

from gristmill_guest import encoding, names

SERVERS = "/servers"
STATE_CHARS_MAX = 500
SERVER_FILE_CHARS_MAX = 1024 * 1024

_listdir = os.listdir
_scandir = os.scandir
_exists = os.path.exists
_isdir = os.path.isdir
_open = io.open

# What was found in this run.
_found = {}


def begin_run():
    """Forgets what an earlier run found."""
    _found.clear()


def _once(find):
    @functools.wraps(find)
    def found(*arguments):
        key = (find.__name__, *arguments)
        if key not in _found:
            _found[key] = find(*arguments)
        return _found[key]

    return found


@_once
def exists():
    return _isdir(SERVERS)


@_once
def is_partial():
    """Whether names are missing that the gateway knows: it says itself why they can't be called."""
    return _exists(f"{SERVERS}/.partial")


@_once
def servers():
    """The folders of all servers, sorted."""
    try:
        with _scandir(SERVERS) as entries:
            # A folder's entries have their kinds with them: none is looked at by itself.
            return sorted(entry.name for entry in entries if not entry.name.startswith(".") and entry.is_dir())
    except OSError:
        return []


@_once
def tools(server):
    """The stems of a server's tools, sorted."""
    return stems(f"{SERVERS}/{server}")


def server_called(name):
    """The folder of the server that is meant, in any spelling; the exact one wins. None if there is none."""
    if _is_plain(name) and _isdir(f"{SERVERS}/{name}"):
        return name
    known = servers()
    folder = _read_json(f"{SERVERS}/.names.json").get(name)
    return folder if folder in known else names.matching(name, known)


def tool_called(server, name):
    """The stem of the tool that is meant, in any spelling; the exact one wins. None if there is none."""
    if _is_plain(name) and _exists(f"{SERVERS}/{server}/{name}.py"):
        return name
    known = tools(server)
    # A tool's own name, where its file had to be called otherwise.
    stem = renamed(server).get(name)
    return stem if stem in known else names.matching(name, known)


def renamed(server):
    """The files of tools that are not called as the tools are, by the tools' own names."""
    said = _described(server).get("names")
    return said if isinstance(said, dict) else {}


def why_out_of_use(name):
    """What is said of a server that is configured and not connected, or None."""
    listed = _read_json(f"{SERVERS}/.out_of_use.json").get("servers")
    known = [server for server in listed if isinstance(server, str)] if isinstance(listed, list) else []
    meant = name if name in known else names.matching(name, known)
    if meant is None:
        return None
    return f"the server `{meant}` is disabled or not approved; the user can check with `gristmill list`"


@_once
def why_down(server):
    """What is said of a server that is known but has no tools now, or None."""
    return None if _has_tools(server) else state(server)


def _has_tools(server):
    try:
        with _scandir(f"{SERVERS}/{server}") as entries:
            return any(_is_stub(entry.name) for entry in entries)
    except OSError:
        return False


def state(server):
    """What is to be known of a server beside its tools: that it is down, or holds some back. Or None."""
    said = _described(server).get("state")
    if not isinstance(said, str) or not said.strip():
        return None
    return " ".join(said[:STATE_CHARS_MAX].split())


def _described(server):
    return _read_json(f"{SERVERS}/{server}/.server.json")


def _read_json(path):
    try:
        with _open(path, encoding="utf-8", errors="replace") as file:
            found = encoding.from_json(file.read(SERVER_FILE_CHARS_MAX))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def stub(server, tool, extension):
    """The text of a tool's file; OSError where there is none."""
    with _open(f"{SERVERS}/{server}/{tool}.{extension}", encoding="utf-8", errors="replace") as file:
        return file.read()


def _is_plain(name):
    """Whether it can be the name of one folder or stub."""
    return bool(name) and "/" not in name and not name.startswith((".", "__"))


def _is_stub(name):
    return name.endswith(".py") and not name.startswith((".", "__"))


def stems(path):
    return [name[:-3] for name in listed(path) if _is_stub(name)]


def listed(path):
    try:
        return sorted(_listdir(path))
    except OSError:
        return []
