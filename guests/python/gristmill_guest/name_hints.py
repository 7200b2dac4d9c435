"""What to write instead of a name that is not there: a helper in another spelling, a tool, a word of JavaScript, a
forgotten import, a variable of an earlier program."""

import difflib
import re
import sys

from gristmill_guest import (
    catalogue,
    failed_expression,
    gateway_names,
    loop,
    missing,
    names,
    namespace,
    tool_imports,
    tracebacks,
)

# Names that programs use without importing them, beside those that need no import.
COMMON_IMPORTS = {
    **dict.fromkeys("field asdict".split(), "dataclasses"),
    **dict.fromkeys("ChainMap UserDict".split(), "collections"),
    **dict.fromkeys("date".split(), "datetime"),
    **dict.fromkeys("cache wraps cached_property total_ordering singledispatch".split(), "functools"),
    **dict.fromkeys("NamedTuple TypedDict Literal Iterable Protocol Generic TypeVar".split(), "typing"),
    **dict.fromkeys("mean median stdev quantiles mode".split(), "statistics"),
    **dict.fromkeys("chain groupby islice combinations permutations product zip_longest".split(), "itertools"),
    **dict.fromkeys("sqrt ceil floor log10 pi".split(), "math"),
    **dict.fromkeys("randint choice shuffle uniform sample".split(), "random"),
    **dict.fromkeys("itemgetter attrgetter".split(), "operator"),
    **dict.fromkeys("urlencode quote unquote urlparse parse_qs urljoin".split(), "urllib.parse"),
    **dict.fromkeys("b64encode b64decode".split(), "base64"),
    **dict.fromkeys("contextmanager suppress".split(), "contextlib"),
    "IntEnum": "enum",
    "dedent": "textwrap",
    "sleep": "asyncio",
    "gather": "asyncio",
    "pprint": "pprint",
    "uuid4": "uuid",
    "relativedelta": "dateutil.relativedelta",
    "tabulate": "tabulate",
}
# What programs call modules that they did not import, and that are not there.
MODULE_ALIASES = {
    "np": "numpy",
    "pd": "pandas",
    "pl": "polars",
    "plt": "matplotlib",
    "sns": "seaborn",
    "tf": "tensorflow",
}
JAVASCRIPT = {
    "null": "None",
    "undefined": "None",
    "NaN": 'float("nan")',
    "Infinity": "math.inf",
    "true": "True",
    "false": "False",
    "console": "print(...)",
    "JSON": "json.dumps(...) or json.loads(...)",
    "Promise": "await asyncio.gather(*calls)",
    "Math": "math, max, min or round",
    "Object": "d.keys(), d.values() or d.items()",
    "Array": "a list",
    "Date": "datetime.now()",
    "parseInt": "int(...)",
    "parseFloat": "float(...)",
    "Number": "int(...) or float(...)",
    "String": "str(...)",
    "Set": "set(...)",
    "Map": "a dict",
    "require": "import module",
    "setTimeout": "await asyncio.sleep(seconds)",
    "typeof": "type(x)",
    "this": "self",
    "fs": "read_file(...) and write_file(...)",
    "unicode": "str",
    "raw_input": "context variables",
    "xrange": "range",
    "basestring": "str",
}
# What models call the helpers.
OTHER_NAMES = {
    **dict.fromkeys(
        "call_tool callTool call_mcp callMCP mcp_call use_mcp_tool use_tool invoke_tool run_tool execute_tool "
        "call_mcp_server mcp_tool invoke tool_call".split(),
        'await callMCPTool("server.tool", {...})',
    ),
    **dict.fromkeys("find_tools search_tool tool_search discover_tools".split(), 'search_tools("what it does")'),
    **dict.fromkeys("get_tool tool_info get_tool_schema tool_schema".split(), 'describe_tool("server.tool")'),
    **dict.fromkeys("readfile load_file file_read get_file".split(), 'read_file("name")'),
    **dict.fromkeys("writefile save_file file_write create_file".split(), 'write_file("name", text)'),
    **dict.fromkeys("list_dir listdir list_files ls readdir".split(), "list_directory()"),
    **dict.fromkeys("get_state set_state session_state memory".split(), 'state["name"]'),
    "display": "print(...)",
    "exit_program": "sys.exit()",
}
# Tools of the gateway that a program cannot call.
OUTSIDE = {
    "get_execution": "call it over MCP, outside a program",
    **dict.fromkeys("execute_code execute_python".split(), "you're already in a program: write the code directly"),
}
# What other sandboxes and SDKs call the way to a tool.
TOOL_ROOTS = frozenset("tools mcp client session mcp_client mcp_tools server api tool functions".split())

# Python takes `iter` for `other`.
CLOSE = 0.75

_TOOL_NAME = re.compile(
    r"(?:get|list|search|find|create|update|delete|send|read|write|fetch|add|remove|query|post|set|open|close|"
    r"count|upload|download|call|lookup|cancel|start|stop)(?:_[a-z0-9]|[A-Z])\w*"
)
_CALLED_BY_NAME = re.compile(
    r"""\.\s*call_?tool\w*\(\s*(?:name\s*=\s*)?["']([^"']+)["'](?:\s*,\s*["']([^"']+)["'])?""", re.I
)


def for_name(error):
    if isinstance(error, UnboundLocalError):
        return "the function sets it further down: set it first, or declare it global or nonlocal"
    name = error.name
    if type(name) is not str or len(name) > tool_imports.NAME_CHARS_MAX:
        return None
    return (
        _of_tables(name)
        or _of_helper(name)
        or _of_tool_root(name, error)
        or tool_imports.forgotten(name)
        or tool_imports.for_spelling(name)
        or _of_missing_module(name)
        or _of_close_tool(name)
        or _of_own_name(error)
        or _of_tool(name)
        or _of_session(name)
    )


def _of_tables(name):
    if name in JAVASCRIPT:
        return f"this is Python 3: write {JAVASCRIPT[name]}"
    if name in OUTSIDE:
        return OUTSIDE[name]
    if name in COMMON_IMPORTS:
        return f"write: from {COMMON_IMPORTS[name]} import {name}"
    return f"write: {OTHER_NAMES[name]}" if name in OTHER_NAMES else None


def _of_helper(name):
    """A helper in another spelling: readFile, ReadFile, search-tools."""
    found = names.matching(name, [*namespace.HELPERS, *gateway_names.NAMES])
    return f"write: {found}(...)" if found is not None else None


def _of_tool_root(name, error):
    """`tools.weather.forecast(...)`, `client.call_tool("forecast")`: the line to write instead."""
    if name not in TOOL_ROOTS:
        return None
    failed = failed_expression.of(error)
    line = failed.line if failed is not None else ""
    called = _CALLED_BY_NAME.search(line)
    if called is not None:
        return _by_name(".".join(part for part in called.groups() if part))
    path = re.search(rf"\b{name}\s*\.\s*(\w+)(?:\s*\.\s*(\w+))?", line)
    if path is None:
        return None
    server, tool = path.groups()
    known = catalogue.server_called(server) if catalogue.exists() else None
    if known is not None and tool is not None and catalogue.tool_called(known, tool) is not None:
        return tool_imports.import_of(known, tool)
    if known is not None:
        return f"write: from servers import {names.identifier(server)}"
    return tool_imports.for_spelling(server) or tool_imports.forgotten(server)


def _by_name(written):
    place = tool_imports.place_of(written)
    near = [".".join(place)] if place is not None else tool_imports.nearest(written)
    if not near and catalogue.exists() and catalogue.servers():
        return f'write: await callMCPTool("server.tool", {{...}}); search_tools("{written}") finds the name'
    return f'write: await callMCPTool("{near[0] if near else written}", {{...}})'


def _of_missing_module(name):
    module = MODULE_ALIASES.get(name, name)
    if module in missing.ADVICE and (name in MODULE_ALIASES or module not in sys.stdlib_module_names):
        return f"{module} isn't in the sandbox: {missing.ADVICE[module]}"
    if name in sys.stdlib_module_names and not name.startswith("_"):
        return f"write: import {name}"
    return None


def _of_close_tool(name):
    near = tool_imports.nearest(name) if _TOOL_NAME.fullmatch(name) else None
    return f"no tool is named {name}: did you mean {', '.join(near)}?" if near else None


def _of_own_name(error):
    """Python's own suggestion, unless it is far, or a tool's name only looks like one of our names."""
    suggestion = tracebacks.suggestion_of(error)
    suggested = re.search(r"'(\w+)'", suggestion or "")
    if suggested is None:
        return suggestion
    is_close = difflib.SequenceMatcher(None, error.name, suggested.group(1)).ratio() >= CLOSE
    is_ours = suggested.group(1) in gateway_names.NAMES
    return suggestion if is_close and not (is_ours and _TOOL_NAME.fullmatch(error.name)) else None


def _of_tool(name):
    """A name that reads like a tool's, where no tool is called so."""
    if not _TOOL_NAME.fullmatch(name):
        return None
    if not catalogue.exists():
        return f'if it is a tool, write: await callMCPTool("{name}", {{...}})'
    if not catalogue.servers():
        return tool_imports.NO_SERVERS
    words = re.sub(r"([a-z])([A-Z])", r"\1 \2", name).replace("_", " ").lower()
    return f'no tool is named {name}: find tools with search_tools("{words}")'


def _of_session(name):
    state = loop.current()
    if state is not None and state.is_continued:
        return f"no program in this session has set {name}"
    return (
        f"this program doesn't set {name}; variables carry over only when both programs run with "
        f'keep_variables, and state["{name}"] always keeps a value'
    )
