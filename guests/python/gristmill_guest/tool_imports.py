"""The import that a program forgot: what to write for a name that is a tool's or a server's.

Looked up in the tree, and only once a program has failed.
"""

import re
import sys

from gristmill_guest import catalogue, describe, failed_expression, names

NO_SERVERS = (
    "no servers are connected to this gateway; the user connects them with `gristmill import` or `gristmill add`"
)

NAME_CHARS_MAX = 100
SERVERS_MAX = 500
NAMED_MAX = 3
LINE_CHARS_MAX = 200

# What other sandboxes and SDKs call the package of all tools.
ELSEWHERE = frozenset("tools mcp mcp_tools mcp_servers server functions mcp_client fastmcp".split())

_FROM_ELSEWHERE = re.compile(r"from\s+\w+(?:\.([\w.]+))?\s+import\s+(\w+)")
_OF_SERVERS = re.compile(r"(from|import)\s+servers((?:\.[\w-]+)+)(.*)", re.S)
_WITH_HYPHENS = re.compile(r"[^\W\d]\w*(?:-\w+)+")


def for_name(name):
    """What to write so that the name is a tool or a server; None if the tree has neither."""
    if len(name) > NAME_CHARS_MAX or not catalogue.exists():
        return None
    if name == "servers":
        return "write: import servers"
    known = catalogue.servers()[:SERVERS_MAX]
    server = names.matching(name, known)
    if server is not None:
        # A server is found in any spelling: the program goes on with its own.
        module = names.identifier(name)
        return f"for the server, write: from servers import {module} (or: from servers.{module} import tool)"
    having = [server for server in known if names.matching(name, catalogue.tools(server)) is not None]
    if not having:
        return None
    modules = [f"servers.{names.identifier(server)}" for server in having]
    hint = f"for the tool, write: from {modules[0]} import {names.identifier(name)}"
    if len(modules) == 1:
        return hint
    others = ", ".join(modules[1:NAMED_MAX])
    left = len(modules) - NAMED_MAX
    return f"{hint} (or from {others}{f' and {left} more' if left > 0 else ''})"


def forgotten(name):
    """The same for a name that no module of the library has: of that one the library's is meant."""
    return None if name in sys.stdlib_module_names else for_name(name)


def place_of(written):
    """Folder and stem of the one tool that is meant by `mcp__weather__forecast` or `weather.forecast`. Or None."""
    if not catalogue.exists():
        return None
    found = describe.meant(written)
    return found[0] if len(found) == 1 else None


def import_of(server, tool):
    """What to write to call a tool by its name."""
    function = names.identifier(tool)
    return f"write: from servers.{names.identifier(server)} import {function}, then await {function}(...)"


def for_spelling(name):
    """What to write for a tool in the spelling of another client: `mcp__weather__forecast`, `weather_forecast`."""
    place = place_of(name)
    return import_of(*place) if place is not None else None


def nearest(name):
    """The tools with the closest names, best first."""
    return describe.nearest(name) if catalogue.exists() else []


def from_elsewhere(error):
    """What to write for `from tools.weather import forecast`, as other sandboxes have it. Or None."""
    top = error.name.split(".", 1)[0]
    if top not in ELSEWHERE or not catalogue.exists():
        return None
    failed = failed_expression.of(error)
    found = _FROM_ELSEWHERE.match(failed.line) if failed is not None else None
    place = place_of(".".join(part for part in found.groups() if part)) if found is not None else None
    return import_of(*place) if place is not None else None


def as_written(line):
    """An import from the servers with names as Python takes them; None if that changes nothing."""
    found = _OF_SERVERS.fullmatch(line[:LINE_CHARS_MAX])
    if found is None:
        return None
    keyword, path, rest = found.groups()
    path = ".".join(names.identifier(part) if part else "" for part in path.split("."))
    rest = _WITH_HYPHENS.sub(lambda name: names.identifier(name.group()), rest)
    made = f"{keyword} servers{path}{rest}"
    return None if made == line else made
