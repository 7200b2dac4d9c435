"""What lies in /servers: a folder for each server, in it a file for each tool and language.

Nothing there is executed. The tools are the stems of `*.py`; `.ts`, `index.*` in other languages
and `.server.json` lie beside them.
"""

import io
import os

from gristmill_guest import encoding, names

SERVERS = "/servers"
STATE_CHARS_MAX = 500
SERVER_FILE_CHARS_MAX = 1024 * 1024

_listdir = os.listdir
_exists = os.path.exists
_isdir = os.path.isdir
_open = io.open


def exists():
    return _isdir(SERVERS)


def is_partial():
    """Whether names are missing that the gateway knows: it says itself why they can't be called."""
    return _exists(f"{SERVERS}/.partial")


def servers():
    """The folders of all servers, sorted."""
    return [name for name in listed(SERVERS) if not name.startswith(".") and _isdir(f"{SERVERS}/{name}")]


def tools(server):
    """The stems of a server's tools, sorted."""
    return stems(f"{SERVERS}/{server}")


def server_called(name):
    """The folder of the server that is meant, in any spelling; the exact one wins. None if there is none."""
    known = servers()
    if name in known:
        return name
    folder = _read_json(f"{SERVERS}/.names.json").get(name)
    return folder if folder in known else names.matching(name, known)


def tool_called(server, name):
    """The stem of the tool that is meant, in any spelling; the exact one wins. None if there is none."""
    known = tools(server)
    if name in known:
        return name
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


def why_down(server):
    """What is said of a server that is known but has no tools now, or None."""
    return None if tools(server) else state(server)


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


def stems(path):
    return [name[:-3] for name in listed(path) if name.endswith(".py") and not name.startswith((".", "__"))]


def listed(path):
    try:
        return sorted(_listdir(path))
    except OSError:
        return []
