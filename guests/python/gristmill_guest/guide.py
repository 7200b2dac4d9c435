"""help(): what a program can do beside calling tools, in a few lines for each topic.

What these texts name is there: a test calls every function of theirs, and counts their tokens.
"""

import builtins
import difflib
import sys

from gristmill_guest import describe, http_requests, tools

TOPIC_CHARS_MAX = 100

TOPICS = {
    "": """\
A program may call tools, loop, filter and keep data; what it prints and `result` come back. Also there:
search_tools(query), describe_tool(name)  find tools, read a definition: help("tools")
read_file(path), write_file(path, content)  files of the session: help("files")
read_result(handle)  what didn't fit in an answer: help("results")
save_skill(name, code), list_skills()  code for later programs: help("skills")
analyze(rows, steps)  tables: filter, group, join, test: help("analysis")
get_execution_stats()  what programs took and saved: help("statistics")
state  values that a session keeps: help("state")
sanitize_pii(value)  tokens in the place of personal data: help("privacy")
help("server.tool") shows one tool. Without import: json, re, math, asyncio, datetime, collections and more.""",
    "tools": """\
search_tools(query, server=None, limit=10, detail="summary")  finds tools by what they do; print() it
search_tools()  lists servers; list_servers(), list_tools(server)  names alone
describe_tool("server.tool")  typed definition; help("server.tool") prints it
from servers.crm import get_record
row = await get_record(id="1")  or: await callMCPTool("crm.get_record", {"id": "1"})
rows = await asyncio.gather(*(get_record(id=i) for i in ids))  in parallel
A tool that fails raises ToolError, with .code and .message.
await read_resource("gristmill://...")  reads a server's resource.""",
    "files": """\
/workspace is the working directory. Programs of the same session share it; pass `session` to execute_code.
write_file(path, content)  text or bytes, makes folders; read_file(path)  text
list_directory(path=".")  names; list_workspace_files("**/*.csv")  paths by glob
open(path), pathlib, csv, sqlite3 and zipfile work too, there and in /tmp.
/servers and /skills can be read. Other files and the network aren't there.
reset()  removes every file of the session and every value of `state`.""",
    "results": """\
A result or output that doesn't fit in an answer is kept whole; the answer has its handle.
read_result(handle)  the whole value
read_result(handle, "rows[3].name")  the part at a path
read_result(handle, "rows", offset=100, limit=50)  some items
analyze(handle=handle, steps=[...])  filters and groups it: help("analysis")
Handles can't be listed. Results that nobody uses are removed after a while.
Return less: set `result` to what you need, or pass `shape` ("schema", "table", "sample") to execute_code.""",
    "skills": """\
A skill is saved code that later programs import, in any session.
save_skill(name, code, description="", test=None, tags=())  checks, tests and saves it
  test: source with asserts, or {"call": "total([1, 2])", "expect": 3}; if it fails, nothing is saved
from skills.name import function  uses it
list_skills(query="", tags=None)  what there is; search_tools(query) finds skills, too
load_skill(name)  its source; delete_skill(name)
A name is letters, digits and _. Skills of other callers change only with the user's approval.""",
    "statistics": """\
get_execution_stats()  a dict: executions, ok, failed, times, tool calls, tokens used and saved, most called tools
get_execution_stats(session="name")  of one session; all=True: of all callers, if you may
For statistics of data use analyze(rows, [{"describe": {}}]): help("analysis"), or the module `statistics`.""",
    "analysis": """\
rows = await analyze(data, steps)  data: a list of dicts; or file="sales.csv", or handle=... of a stored result
Steps run in order, each over the table of the step before:
[{"filter": {"field": "price", "operator": ">", "value": 10}},
 {"aggregate": {"group_by": "kind", "aggregations": {"price": ["count", "mean", "p95"]}}},
 {"sort": "-price_mean"}, {"limit": 5}]
Also: {"transform": {"compute": {"total": "price * quantity"}}}, join (inputs={"cities": rows}), validate, describe, \
correlate, timeseries, test, outliers.
An AnalysisError says which step failed and what to change.""",
    "state": """\
state["cursor"] = page["next"]  kept at once, for every later program of the session
state.get("cursor"); del state["cursor"]; list(state)
Keys are text, values JSON. What you read is a copy: assign it again after changing it.
Without a session (the argument `session` of execute_code) it ends with the program.
reset()  empties `state` and /workspace.""",
    "privacy": """\
Depending on the user's rules, personal data in tools' answers are tokens such as [EMAIL_k3v9q2ab]. Pass them on as they are: \
where the user allows it, a tool gets the value.
sanitize_pii(value)  the same text or JSON with tokens; restore_pii(value)  values again, as far as allowed
privacy.same(one, other)  whether two tokens stand for the same; privacy.domain(token)  the domain of an email""",
}
# Only where hosts are allowed.
HTTP = """\
r = await http.get(url, params=None, headers=None, timeout=None)  also head, delete
r = await http.post(url, json={...})  also put, patch; data=text, bytes or a dict (form)
r.status, r.ok, r.headers["etag"], r.text, r.json(), r.content (bytes), r.raise_for_status()
Only the hosts that the user allows; search_tools("http") names them. A host that isn't allowed, or a request that \
the user's rules refuse, raises ToolError. Credentials that the user set up are added by themselves: leave them out.
rows = await asyncio.gather(*(http.get(u) for u in urls))  in parallel"""
# What else a topic may be called.
OTHER_NAMES = {
    "file": "files",
    "workspace": "files",
    "result": "results",
    "handles": "results",
    "skill": "skills",
    "stats": "statistics",
    "analyze": "analysis",
    "tables": "analysis",
    "tool": "tools",
    "servers": "tools",
    "search": "tools",
    "session": "state",
    "sessions": "state",
    "pii": "privacy",
}
HTTP_NAMES = frozenset(("http", "network", "fetch", "requests"))

_python_help = getattr(builtins, "help", None)


def help(topic="", *others):
    """Prints a guide: help() for an overview, help("files"), help("skills"), help("server.tool")."""
    if not isinstance(topic, str):
        return _python_help(topic) if _python_help is not None else _print(topic.__doc__ or repr(type(topic)))
    return _print(_about(str.__str__(topic).strip()))


help.__module__ = "gristmill"


def _about(topic):
    plain = topic.lower().removesuffix("()")
    text = TOPICS.get(OTHER_NAMES.get(plain, plain))
    if text is not None:
        return text
    if plain in HTTP_NAMES:
        return HTTP if http_requests.are_allowed() else http_requests.NO_HOSTS
    try:
        return describe.describe_tool(topic)
    except tools.ToolError:
        known = [name for name in TOPICS if name]
        near = difflib.get_close_matches(plain[:TOPIC_CHARS_MAX], known, 1)
        meant = f'; did you mean help("{near[0]}")?' if near else "."
        return f'there is no topic or tool "{topic[:TOPIC_CHARS_MAX]}"{meant} Topics: {", ".join(known)}'


def _print(text):
    sys.stdout.write(f"{text}\n")
