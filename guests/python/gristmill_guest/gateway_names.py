"""The gateway's own tools under the names that they have over MCP, as functions of a program. None needs `await`.

What each of them does another helper does as well; a program that knows only the names over MCP finds these.
"""

import base64
import glob
import io
import itertools
import os
import re

from gristmill_guest import analyze, at_once, catalogue, describe, encoding, files, loop, search, tools

WORKSPACE = "/workspace"
PATH_CHARS_MAX = 1000
ENCODINGS = ("text", "base64")

_open = io.open
_glob = glob.glob
_STEP = re.compile(r"""\.?([^.\[\]"']+)|\[(-?\d+)\]|\["([^"]*)"\]|\['([^']*)'\]""")


def get_tool_definition(name=None, server=None, category=None, format="python"):
    """The stub of a tool, or of all tools of a server or category, as text."""
    if name is not None:
        is_whole = server is None or not isinstance(name, str) or "." in name or "/" in name
        return describe.describe_tool(name if is_whole else f"{server}.{name}", language=format)
    if server is None and category is None:
        raise TypeError('get_tool_definition needs a name, such as "server.tool", or a server')
    if category is None:
        found = list_tools(server)
    else:
        hits = search.search_tools(server=server, category=category, limit=search.COUNT_MAX, detail="names")
        found = [hit["tool"] for hit in hits]
    return at_once.Text("\n".join(describe.describe_tool(name, language=format) for name in found))


def get_tool_code(name, language="python"):
    """The stub of a tool; the same as describe_tool."""
    return describe.describe_tool(name, language=language)


def list_servers():
    """The names of all servers."""
    return at_once.Items(catalogue.servers())


def list_tools(server=None):
    """The names of all tools, or of one server's, as `server.tool`."""
    known = catalogue.servers()
    if server is not None:
        found = catalogue.server_called(str(server))
        if found is None:
            said = f'there is no server "{str(server)[:100]}"; there are: {", ".join(known) or "none"}'
            raise tools.ToolError(said, tool="list_tools", code="GM-1401")
        known = [found]
    return at_once.Items(f"{server}.{tool}" for server in known for tool in catalogue.tools(server))


def execute_analysis(
    data=None,
    steps=None,
    *,
    file=None,
    handle=None,
    format=None,
    data_field=None,
    inputs=None,
    analysis_type=None,
    parameters=None,
    max_output_tokens=None,
):
    """The same as analyze, and awaited like it. Nothing is shortened inside of a program."""
    return analyze.analyze(
        data,
        steps,
        file=file,
        handle=handle,
        format=format,
        data_field=data_field,
        inputs=inputs,
        analysis_type=analysis_type,
        parameters=parameters,
    )


def read_workspace_file(path, offset=0, limit=None, encoding="text"):
    """A file's text, or base64 of its bytes; offset and limit count bytes."""
    _choose("read_workspace_file", encoding)
    if encoding == "text" and not offset and limit is None:
        return files.read_file(path)
    with _open(files.resolve(path), "rb") as file:
        file.seek(offset)
        part = file.read(-1 if limit is None else limit)
    return at_once.Text(base64.b64encode(part).decode() if encoding == "base64" else part.decode("utf-8", "replace"))


def write_workspace_file(path, content, encoding="text"):
    """Writes text, or the bytes that base64 text stands for. Returns the number of bytes."""
    _choose("write_workspace_file", encoding)
    return files.write_file(path, base64.b64decode(content, validate=True) if encoding == "base64" else content)


def list_workspace_files(pattern="**"):
    """The paths of files in /workspace that fit a glob, sorted."""
    below = pattern + "**" if pattern.endswith("/") else pattern
    found = _glob(below, root_dir=WORKSPACE, recursive=True, include_hidden=True)
    return at_once.Items(sorted(path for path in found if os.path.isfile(f"{WORKSPACE}/{path}")))


def read_result(handle, path="", offset=0, limit=None):
    """A stored result, or the part at a path such as `rows[3].name`; offset and limit count its items."""
    name = os.path.basename(str(handle)).removesuffix(".json")
    value = encoding.from_json(files.read_file(f"{files.RESULTS}/{name}.json"))
    value = _part(value, path)
    end = None if limit is None else offset + limit
    if isinstance(value, dict):
        value = dict(itertools.islice(value.items(), offset, end))
    elif isinstance(value, (list, str)):
        value = value[offset:end]
    return at_once.awaitable(value)


def get_execution_stats(session=None, all=False):
    """What your programs took and saved so far, or those of one session, as a dict."""
    asked = {"all": bool(all), "line": tools.program_line()}
    if session is not None:
        asked["session"] = str(session)
    ok, answer = loop.current().calls.ask("stats", encoding.to_json(asked))
    if not ok:
        raise tools.error_from(answer, "get_execution_stats")
    return at_once.awaitable(encoding.from_json(answer))


def _part(value, path):
    """What lies at a path, each step of which must be there."""
    at = 1 if path.startswith("$") else 0
    path = path[:PATH_CHARS_MAX]
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None:
            raise ValueError(f'"{path}" isn\'t a path; write one such as rows[3].name')
        key = next(group for group in step.groups() if group is not None)
        try:
            value = value[int(key)] if step.group(2) else value[key]
        except (KeyError, IndexError, TypeError):
            raise KeyError(f'{path[: step.end()]}: {_there(value)}') from None
        at = step.end()
    return value


def _there(value):
    if isinstance(value, dict):
        return f"its keys are {', '.join(list(value)[:40])}"
    return f"there is a {type(value).__name__}{f' of {len(value)}' if isinstance(value, (list, str)) else ''}"


def _choose(helper, given):
    if given not in ENCODINGS:
        raise TypeError(f"encoding of {helper} must be one of {', '.join(ENCODINGS)}, not {str(given)[:40]!r}")


NAMES = {
    function.__name__: function
    for function in (
        get_tool_definition,
        get_tool_code,
        list_servers,
        list_tools,
        execute_analysis,
        read_workspace_file,
        write_workspace_file,
        list_workspace_files,
        read_result,
        get_execution_stats,
    )
}
for _function in NAMES.values():
    _function.__module__ = "gristmill"
