"""From an exception to the `error` part of an outcome."""

import re
import sys

from gristmill_guest import analyze, catalogue, loop, missing, namespace, result, tool_imports, tools, tracebacks

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
# What programs call modules that they did not import, and that are not there.
MODULE_ALIASES = {
    "np": "numpy",
    "pd": "pandas",
    "pl": "polars",
    "plt": "matplotlib",
    "sns": "seaborn",
    "tf": "tensorflow",
}
ROOTS = ("/workspace", "/tmp", "/servers", "/skills", "/results")

_TOOL_NAME = re.compile(
    r"(?:get|list|search|find|create|update|delete|send|read|write|fetch|add|remove|query|post|set|open|close|"
    r"count|upload|download|call|lookup|cancel|start|stop)(?:_[a-z0-9]|[A-Z])\w*"
)
_NOT_AWAITABLE = re.compile(r"^'?(?:object )?([\w.]+)'? (?:object )?can't be (?:awaited|used in 'await' expression)")


def describe(error, filename):
    """kind, type, message, line, traceback, hint and limit of whatever ended the program."""
    described = {
        "kind": kind_of(error, filename),
        "type": _type_name(error),
        "message": tracebacks.told_message_of(error),
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
    elif described["kind"] == "memory" and not tracebacks.message_of(error):
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
        return _tool_hint(error, message)
    if isinstance(error, loop.Deadlock):
        return "look for a Queue.get, Event.wait or Future that no other task ever completes"
    if kind == "syntax":
        return _syntax_hint(error, message)
    if kind == "missing_module" and type(error.name) is str:
        forgotten = _forgotten_import(error.name.split(".", 1)[0])
        if forgotten and not error.name.startswith("servers."):
            return forgotten
    if isinstance(error, ImportError) and kind == "exception":
        suggestion = _names_in(error.name)
        if suggestion:
            return suggestion
    if isinstance(error, NameError):
        return _name_hint(error)
    if isinstance(error, (AttributeError, ImportError)):
        suggestion = tracebacks.suggestion_of(error)
        if suggestion:
            return suggestion
    if isinstance(error, OSError) and _is_outside(error.filename):
        return "programs see only /workspace and /tmp (and /servers, /skills and /results, read-only)"
    if isinstance(error, KeyError) and _raised_by_environ(error):
        return "there is no environment; pass values as context"
    if isinstance(error, RuntimeError) and "no running event loop" in message:
        return "write await in front of something at top level, or use asyncio.run(main())"
    if isinstance(error, TypeError):
        if message.startswith("callMCPTool() takes"):
            return 'pass the arguments of the tool by name: await callMCPTool("server.tool", name=value)'
        awaited = _NOT_AWAITABLE.match(message)
        if awaited is not None:
            return _await_hint(awaited.group(1))
    if kind == "exception" and "not awaited" not in message and "coroutine" in message:
        return "a coroutine was used as a value: write await in front of the call"
    return None


_TOOL_HINT = "catch it with: except ToolError as error"
# Mistakes of the program itself: there is nothing to catch.
_TOOL_HINTS = {"GM-1401": "use one of the names above", "GM-1402": "correct the argument"}


def _tool_hint(error, message):
    if isinstance(error, analyze.AnalysisError):
        # A wrong step is corrected, not caught.
        return error.hint if type(error.hint) is str else None
    code = error.code if type(error.code) is str else None
    if code == "GM-1401" and not ("did you mean" in message or " may be " in message or "its tools:" in message):
        # No names are above.
        return None if catalogue.servers() else tool_imports.NO_SERVERS
    return _TOOL_HINTS.get(code, _TOOL_HINT)


def _syntax_hint(error, message):
    if "'await' outside" in message:
        return "use await at the top level or inside an async def"
    if "'return' outside function" in message:
        return "set result = ..., or end with the expression"
    line = error.text.strip() if type(error.text) is str else ""
    if line.startswith(("```", "~~~")):
        return "remove the Markdown fences"
    if line.startswith((">>> ", ">>>", "... ")):
        return "remove the prompts (>>> and ...)"
    if line.startswith(("!pip", "%pip", "pip install", "pip3 install", "python -m pip", "!conda", "conda install")):
        return "remove the line: nothing can be installed in the sandbox"
    if line.startswith("!"):
        return "remove the line: there is no shell in the sandbox"
    if line.startswith("%"):
        return "remove the notebook magic (the line that starts with %)"
    importable = tool_imports.as_written(line)
    return f"write: {importable}" if importable else None


def _name_hint(error):
    name = error.name
    if type(name) is not str:
        return tracebacks.suggestion_of(error)
    if name in COMMON_IMPORTS:
        return f"write: from {COMMON_IMPORTS[name]} import {name}"
    if name == "datetime":
        return "write: from datetime import datetime (or: import datetime, for datetime.datetime)"
    forgotten = _forgotten_import(name)
    if forgotten:
        return forgotten
    module = MODULE_ALIASES.get(name, name)
    if module in missing.ADVICE and (name in MODULE_ALIASES or module not in sys.stdlib_module_names):
        return f"{module} is not in the sandbox: {missing.ADVICE[module]}"
    suggestion = tracebacks.suggestion_of(error)
    if suggestion is None and _TOOL_NAME.fullmatch(name):
        return f'if it is a tool, write: await callMCPTool("{name}", {{...}})'
    return suggestion


def _forgotten_import(name):
    # Of a module of the library that one is meant, whatever servers are called.
    return None if name in sys.stdlib_module_names else tool_imports.for_name(name)


def _await_hint(type_name):
    if type_name in ("list", "tuple", "generator", "set"):
        return "this is not async: remove await, or write await asyncio.gather(*calls) to await every member"
    return "this is not async: remove await"


def _is_outside(path):
    """Whether an absolute path lies in none of the folders that a program can see."""
    return (
        type(path) is str
        and path.startswith("/")
        and not any(path == root or path.startswith(root + "/") for root in ROOTS)
    )


def _raised_by_environ(error):
    entry = error.__traceback__
    while entry is not None and entry.tb_next is not None:
        entry = entry.tb_next
    code = entry.tb_frame.f_code if entry is not None else None
    return code is not None and code.co_name == "__getitem__" and code.co_filename.endswith(("/os.py", "<frozen os>"))


def unawaited_call(call):
    """The error of a program that forgot to await a tool call."""
    where = f" on line {call.line}" if call.line else ""
    return {
        "kind": "unawaited_call",
        "type": "UnawaitedCall",
        "message": f"{call.written()}{where} was never awaited, so it was not sent",
        "line": call.line,
        "traceback": "",
        "hint": f"write: await {call.__name__}(...)",
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
    if module_name == "servers" and not catalogue.servers():
        return tool_imports.NO_SERVERS
    module = sys.modules.get(module_name)
    names = getattr(module, "__all__", None)
    # Not through getattr, which a tree's module answers with an error of its own.
    said = module.__dict__.get("__beside__") if module is not None else None
    beside = said() if said is not None else ""
    return f"{module_name} has: {', '.join(names[:40])}{beside}" if names else None


def _only_tool_errors(group):
    return all(
        _only_tool_errors(member) if isinstance(member, BaseExceptionGroup) else isinstance(member, tools.ToolError)
        for member in group.exceptions
    )


def _first_member(group):
    member = group
    while isinstance(member, BaseExceptionGroup):
        member = member.exceptions[0]
    message = tracebacks.message_of(member)
    return f"; the first: {type(member).__name__}{': ' if message else ''}{message}"


def _exit_message(error):
    code = error.code
    if type(code) is int:
        return f"the program ended itself with exit code {code}"
    return f"the program ended itself: {tracebacks.message_of(error)}"


def _type_name(error):
    name = type(error).__name__
    return name if type(name) is str else "Exception"
