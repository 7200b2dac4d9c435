"""What to do about an error, in one line. Worked out only once a program has failed, and never at its expense."""

import errno
import inspect
import os
import re
import sys
import traceback

from gristmill_guest import (
    analyze,
    catalogue,
    files,
    gateway_names,
    library_hints,
    loop,
    name_hints,
    namespace,
    syntax_hints,
    tool_imports,
    tracebacks,
    value_hints,
)

ROOTS = ("/workspace", "/tmp", "/servers", "/skills", "/results")
READ_ONLY = ("/servers", "/skills", "/results")

_NOT_AWAITABLE = re.compile(r"^'?(?:object )?([\w.]+)'? (?:object )?can't be (?:awaited|used in 'await' expression)")
_GATHER = "write await asyncio.gather(*calls), with the star"
# What asyncio says to a list where calls belong.
_FUNCTIONS = ("function", "method", "builtin_function_or_method")
_NO_CALL = ("An asyncio.Future, a coroutine or an awaitable is required", "a coroutine was expected, got")


def hint_for(error, kind):
    """The hint, or None. An error of the program's own making may do anything while it is looked at."""
    try:
        hint = _of_kind(error, kind, tracebacks.message_of(error))
        return hint if type(hint) is str else None
    except BaseException:
        return None


def _of_kind(error, kind, message):
    if kind == "memory":
        return "work in smaller pieces: generators, slices, or files in the workspace"
    if kind == "recursion":
        if isinstance(error, MemoryError):
            return "the expression is nested too deeply: build the value step by step"
        return "the recursion never ends or is too deep: use a loop"
    if kind == "result_limit":
        if error.name == "result_bytes":
            return "return less (fewer items, fewer fields, a summary), or write it to a file with write_file"
        return "return a flatter value"
    if isinstance(error, BaseExceptionGroup):
        return "catch it with: except* ToolError as group" if kind == "tool" else None
    if kind == "tool":
        return _of_tool(error, message)
    if isinstance(error, loop.Deadlock):
        return "look for a Queue.get, Event.wait or Future that no other task ever completes"
    if kind == "syntax":
        return syntax_hints.for_syntax(error, message)
    if isinstance(error, ImportError):
        return _of_import(error, kind, message)
    return _of_exception(error, message)


def _of_exception(error, message):
    for known, hint in _BY_TYPE:
        if isinstance(error, known):
            found = hint(error, message)
            if found:
                return found
    if "not awaited" not in message and "coroutine" in message:
        return "a coroutine was used as a value: write await in front of the call"
    return None


_TOOL_HINT = "catch it with: except ToolError as error"
# How a message about an unknown tool lists those there are.
_SAYS_NAMES = ("did you mean", " may be ", " is ambiguous: ", "its tools:", "there are:")
# What a policy refuses says itself what can be done.
_REFUSED = "GM-33"
# Mistakes of the program itself: there is nothing to catch.
_TOOL_HINTS = {"GM-1401": "use one of the names above", "GM-1402": "fix the argument"}


def _of_tool(error, message):
    if isinstance(error, analyze.AnalysisError):
        # A wrong step is corrected, not caught.
        return error.hint if type(error.hint) is str else None
    code = error.code if type(error.code) is str else None
    if code == "GM-1401" and not any(said in message for said in _SAYS_NAMES):
        return None if catalogue.servers() else tool_imports.NO_SERVERS
    if code is not None and code.startswith(_REFUSED):
        return None
    return _TOOL_HINTS.get(code, _TOOL_HINT)


def _of_import(error, kind, message):
    if type(error.name) is not str:
        return tracebacks.suggestion_of(error)
    if kind == "missing_module":
        if error.name.startswith("servers."):
            return None
        return tool_imports.from_elsewhere(error) or tool_imports.forgotten(error.name.split(".", 1)[0])
    return _names_in(error.name, message) or library_hints.for_import(error) or tracebacks.suggestion_of(error)


_NOT_IN_SERVERS = re.compile(r"cannot import name '(\w{1,100})' from 'servers'")


def _names_in(module_name, message):
    """What `from servers.x import ...` could have named."""
    if not module_name.startswith(("servers", "skills")):
        return None
    wanted = _NOT_IN_SERVERS.match(message) if module_name == "servers" else None
    disabled = catalogue.why_out_of_use(wanted.group(1)) if wanted is not None else None
    if disabled is not None:
        return disabled
    if module_name == "servers" and not catalogue.servers():
        return tool_imports.NO_SERVERS
    module = sys.modules.get(module_name)
    names = getattr(module, "__all__", None)
    # Not through getattr, which a tree's module answers with an error of its own.
    said = module.__dict__.get("__beside__") if module is not None else None
    beside = said() if said is not None else ""
    return f"{module_name} has: {', '.join(names[:40])}{beside}" if names else None


def _of_name(error, message):
    return name_hints.for_name(error)


def _of_attribute(error, message):
    return value_hints.for_attribute(error) or library_hints.for_attribute(error) or tracebacks.suggestion_of(error)


def _of_key(error, message):
    if _raised_by_environ(error):
        return "the sandbox has no environment variables; pass values as context"
    return value_hints.for_key(error)


def _raised_by_environ(error):
    entry = error.__traceback__
    while entry is not None and entry.tb_next is not None:
        entry = entry.tb_next
    code = entry.tb_frame.f_code if entry is not None else None
    return code is not None and code.co_name == "__getitem__" and code.co_filename.endswith(("/os.py", "<frozen os>"))


def _of_index(error, message):
    return value_hints.for_index(error)


def _of_os(error, message):
    path = error.filename
    if type(path) is not str:
        return None
    if path.startswith("/") and not any(path == root or path.startswith(root + "/") for root in ROOTS):
        there = files.nearest_to(os.path.basename(path))
        seen = "programs see only /workspace and /tmp (and /servers, /skills and /results, read-only)"
        return f'did you mean "{there}"? {seen[0].upper()}{seen[1:]}' if there else seen
    if isinstance(error, FileNotFoundError) and not files.is_told(error):
        return files.what_is_there(path)
    if error.errno == errno.EPERM and files.is_in_results(path):
        return files.BY_HANDLE
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM) and path.startswith(READ_ONLY):
        return "this folder is read-only: write to /workspace"
    return None


def _of_runtime(error, message):
    if message.startswith("Task got bad yield"):
        return _GATHER
    if "no running event loop" in message:
        return "write await in front of something at top level, or use asyncio.run(main())"
    return None


def _of_type(error, message):
    if message.startswith("callMCPTool() takes"):
        return 'pass the arguments of the tool by name: await callMCPTool("server.tool", name=value)'
    awaited = _NOT_AWAITABLE.match(message)
    if awaited is not None:
        return _await_hint(awaited.group(1))
    if message.startswith("Passing coroutines is forbidden"):
        return _GATHER
    return _of_no_call(error, message) or _of_arguments(message) or value_hints.for_type(error, message)


_ARGUMENTS = re.compile(r"(\w+)\(\) (?:got an unexpected keyword|got some positional|missing \d+ required|takes )")


def _of_arguments(message):
    """A helper that was called with other arguments than it has."""
    called = _ARGUMENTS.match(message)
    helper = called and (namespace.HELPERS.get(called.group(1)) or gateway_names.NAMES.get(called.group(1)))
    if not helper:
        return None
    takes = [str(parameter) for parameter in inspect.signature(helper).parameters.values()]
    return f"{called.group(1)} takes: {', '.join(takes)}"


def _await_hint(type_name):
    if type_name in _FUNCTIONS:
        return "this is the function itself: call it, as in await main()"
    if type_name in ("list", "tuple", "generator", "set"):
        return "this isn't async: remove await, or write await asyncio.gather(*calls) to await every item"
    return "this isn't async: remove await"


def _of_no_call(error, message):
    """asyncio was given a list of calls where it takes each call by itself, or a function that was not called."""
    frames = [entry for entry, _ in traceback.walk_tb(error.__traceback__) if "asyncio" in entry.f_code.co_filename]
    if not frames or not (message.startswith(_NO_CALL) or "unhashable" in message):
        return None
    given = [frames[-1].f_locals.get(name) for name in ("coro_or_future", "coro")]
    if any(type(value).__name__ in _FUNCTIONS for value in given) or "got <function" in message:
        return "this is the function itself: call it, as in main()"
    return _GATHER


def _of_value(error, message):
    if type(error).__name__ == "JSONDecodeError":
        return value_hints.for_json(error)
    return _of_no_call(error, message) or library_hints.for_number(error, message)


def _of_number(error, message):
    return library_hints.for_number(error, message)


def _of_struct(error, message):
    return library_hints.for_number(error, message) if type(error).__name__ in ("error", "Error") else None


_BY_TYPE = (
    (NameError, _of_name),
    (AttributeError, _of_attribute),
    (KeyError, _of_key),
    (IndexError, _of_index),
    (OSError, _of_os),
    (RuntimeError, _of_runtime),
    (TypeError, _of_type),
    (OverflowError, _of_number),
    (ValueError, _of_value),
    (Exception, _of_struct),
)
