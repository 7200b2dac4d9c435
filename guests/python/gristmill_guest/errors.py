"""From an exception to the `error` part of an outcome."""

from gristmill_guest import hints, namespace, result, tools, tracebacks


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
    described["hint"] = hints.hint_for(error, described["kind"])
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


def unawaited_call(call):
    """The error of a program that forgot to await a tool call."""
    where = f" on line {call.line}" if call.line else ""
    return {
        "kind": "unawaited_call",
        "type": "UnawaitedCall",
        "message": f"{call.written()}{where} was never awaited, so it wasn't sent",
        "line": call.line,
        "traceback": "",
        "hint": f"write: await {call.__name__}(...)",
        "limit": None,
    }


def unawaited_coroutine(name, line):
    """The error of a program that forgot to await a function of its own."""
    where = f" on line {line}" if line else ""
    return {
        "kind": "unawaited_call",
        "type": "UnawaitedCall",
        "message": f"{name}(){where} was never awaited, so it didn't run",
        "line": line,
        "traceback": "",
        "hint": f"write: await {name}(...)",
        "limit": None,
    }


def guest_failure(error):
    """When our own code failed: still a clean outcome."""
    return {
        "kind": "exception",
        "type": type(error).__name__,
        "message": f"the sandbox couldn't report on the program: {tracebacks.message_of(error)}",
        "line": None,
        "traceback": "",
        "hint": "the program may have replaced parts of the standard library that reporting needs",
        "limit": None,
    }


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
        return f"the program exited with code {code}"
    return f"the program exited: {tracebacks.message_of(error)}"


def _type_name(error):
    name = type(error).__name__
    return name if type(name) is str else "Exception"
