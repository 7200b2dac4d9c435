"""From an exception to the `error` part of an outcome."""

import sys

from gristmill_guest import loop, namespace, result, tools, tracebacks

# Names that programs use without importing them.
COMMON_IMPORTS = {
    **dict.fromkeys("dataclass field asdict".split(), "dataclasses"),
    **dict.fromkeys("defaultdict Counter OrderedDict namedtuple deque ChainMap".split(), "collections"),
    **dict.fromkeys("timedelta timezone date".split(), "datetime"),
    **dict.fromkeys("reduce partial lru_cache cache wraps".split(), "functools"),
    **dict.fromkeys("Any Optional Union List Dict Tuple Callable NamedTuple TypedDict".split(), "typing"),
    **dict.fromkeys("mean median stdev".split(), "statistics"),
    **dict.fromkeys("chain groupby islice combinations product".split(), "itertools"),
    "Path": "pathlib",
    "Decimal": "decimal",
    "Enum": "enum",
    "ZoneInfo": "zoneinfo",
    "StringIO": "io",
    "dedent": "textwrap",
    "sleep": "asyncio",
    "gather": "asyncio",
    "pprint": "pprint",
    "deepcopy": "copy",
    "uuid4": "uuid",
}


def describe(error, filename):
    """kind, type, message, line, traceback, hint and limit of whatever ended the program."""
    described = {
        "kind": kind_of(error, filename),
        "type": _type_name(error),
        "message": tracebacks.message_of(error),
        "line": tracebacks.line_of(error, filename),
        "traceback": tracebacks.render(error),
        "hint": None,
        "limit": None,
    }
    if described["kind"] == "syntax":
        described["line"] = error.lineno if type(error.lineno) is int else None
        described["message"] = error.msg if type(error.msg) is str else described["message"]
    elif described["kind"] == "result_limit":
        described["limit"] = {"name": error.name, "value": error.value}
        described["traceback"] = ""
    elif described["kind"] == "context":
        described["traceback"] = ""
    elif described["kind"] == "exit":
        described["message"] = _exit_message(error)
        described["traceback"] = ""
    elif isinstance(error, tools.ToolError):
        described["code"] = error.code if type(error.code) is str else None
    elif isinstance(error, BaseExceptionGroup):
        described["message"] += _first_member(error)
    elif described["kind"] == "memory" and not described["message"]:
        described["message"] = "the program needs more memory than the sandbox has"
    described["hint"] = hint_for(error, described["kind"])
    return described


def kind_of(error, filename):
    if isinstance(error, SyntaxError) and (error.filename == filename or error.__traceback__ is None):
        return "syntax"
    if isinstance(error, MemoryError):
        # The parser calls its own stack memory.
        return "recursion" if "Parser stack" in tracebacks.message_of(error) else "memory"
    if isinstance(error, RecursionError):
        return "recursion"
    if isinstance(error, ModuleNotFoundError):
        return "missing_module"
    if isinstance(error, tools.ToolError):
        return "tool"
    if isinstance(error, SystemExit):
        return "exit"
    if isinstance(error, result.ResultLimit):
        return "result_limit"
    if isinstance(error, namespace.ContextError):
        return "context"
    if isinstance(error, BaseExceptionGroup) and _only_tool_errors(error):
        return "tool"
    return "exception"


def hint_for(error, kind):
    message = tracebacks.message_of(error)
    if kind == "memory":
        return "work on smaller pieces: generators, slices, or files in the workspace"
    if kind == "recursion" and isinstance(error, MemoryError):
        return "the expression is nested too deeply: build the value step by step"
    if kind == "recursion":
        return "the recursion has no end, or is too deep: use a loop"
    if kind == "result_limit":
        if error.name == "result_bytes":
            return "return less (fewer items, fewer fields, a summary), or write it to a file with write_file"
        return "return a flatter value"
    if isinstance(error, BaseExceptionGroup):
        return "catch it with: except* ToolError as group" if kind == "tool" else None
    if kind == "tool":
        return "catch it with: except ToolError as error"
    if isinstance(error, loop.Deadlock):
        return "look for a Queue.get, Event.wait or Future that no other task ever completes"
    if kind == "syntax" and "'await' outside" in message:
        return "use await at the top level or inside an async def"
    if isinstance(error, ImportError) and kind == "exception":
        suggestion = _names_in(error.name)
        if suggestion:
            return suggestion
    if isinstance(error, NameError) and error.name in COMMON_IMPORTS:
        return f"write: from {COMMON_IMPORTS[error.name]} import {error.name}"
    if isinstance(error, (NameError, AttributeError, ImportError)):
        suggestion = tracebacks.suggestion_of(error)
        if suggestion:
            return suggestion
    if kind == "exception" and "not awaited" not in message and "coroutine" in message:
        return "a coroutine was used as a value: write await in front of the call"
    return None


def unawaited_call(call):
    """The error of a program that forgot to await a tool call."""
    where = f" on line {call.line}" if call.line else ""
    return {
        "kind": "unawaited_call",
        "type": "UnawaitedCall",
        "message": f'callMCPTool("{call.tool}"){where} was never awaited, so it was not sent',
        "line": call.line,
        "traceback": "",
        "hint": "write: await callMCPTool(...)",
        "limit": None,
    }


def guest_failure(error):
    """When our own code failed: still a clean outcome."""
    return {
        "kind": "exception",
        "type": type(error).__name__,
        "message": f"the sandbox could not report on the program: {tracebacks.message_of(error)}",
        "line": None,
        "traceback": "",
        "hint": "the program may have replaced parts of the standard library that reporting needs",
        "limit": None,
    }


def _names_in(module_name):
    """What `from servers.x import ...` could have named."""
    if type(module_name) is not str or not module_name.startswith(("servers", "skills")):
        return None
    names = getattr(sys.modules.get(module_name), "__all__", None)
    return f"{module_name} has: {', '.join(names[:40])}" if names else None


def _only_tool_errors(group):
    return all(
        _only_tool_errors(member) if isinstance(member, BaseExceptionGroup) else isinstance(member, tools.ToolError)
        for member in group.exceptions
    )


def _first_member(group):
    member = group
    while isinstance(member, BaseExceptionGroup):
        member = member.exceptions[0]
    return f"; the first: {type(member).__name__}: {tracebacks.message_of(member)}"


def _exit_message(error):
    code = error.code
    if type(code) is int:
        return f"the program ended itself with exit code {code}"
    return f"the program ended itself: {tracebacks.message_of(error)}"


def _type_name(error):
    name = type(error).__name__
    return name if type(name) is str else "Exception"
