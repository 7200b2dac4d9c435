"""Tool calls as awaitables.

A `ToolCall` is lazy: it is sent when awaited or wrapped in a task. It behaves like a
coroutine (create_task, gather and wait_for take it) but may be awaited again for the
same answer. A call that is never sent is remembered with its line, since a program
that forgets `await` must hear of it.
"""

import asyncio
import collections.abc
import sys

from gristmill_guest import answers, encoding, loop, tool_files

PROGRAM_FILENAMES = {"program.py"}


class ToolError(Exception):
    """A tool call that failed. `tool` and `code` say which and how; `kind` names the cause.

    `retry_safe` says whether the same call may be sent again without doing its work twice; None if
    nobody knows.
    """

    def __init__(self, message="", tool=None, code=None, kind=None, retry_safe=None):
        super().__init__(message)
        self.message = message
        self.tool = tool
        self.code = code
        self.kind = kind
        self.retry_safe = retry_safe

    # Where the program made the call: a call that runs as its own task leaves no frame.
    line = None

    def __reduce__(self):
        return (type(self), (self.message, self.tool, self.code, self.kind, self.retry_safe))


ToolError.__module__ = "gristmill"


# The host takes no more in one call.
PAYLOAD_CHARS_MAX = 16 * 1024 * 1024


class ToolCall(collections.abc.Coroutine):
    """One call of a tool, sent when first awaited."""

    # Of which kind the call is, and how a program writes it.
    _kind = "tool"
    _helper = "callMCPTool"
    _gap = ", ..."
    # What is said of one that is too large.
    _size = "the arguments are {:,} characters of JSON; at most {:,} can be sent"

    # The function that the program called instead of the helper.
    _function = None

    def __init__(self, name, arguments, line, function=None):
        self._function = function
        self._prepare(name, line, {"name": name, "arguments": arguments, "line": line})

    def _prepare(self, name, line, request):
        self.tool = name
        self.line = line
        # asyncio shows these in the repr of a task.
        self.__name__ = self._function or self._helper
        self.__qualname__ = self.written()
        self._payload = encoding.to_json(request)
        self._future = None
        # The run in which it was sent.
        self._run = None
        self._steps = None
        # Files of the answer that lie in the workspace already: it may be awaited again.
        self._placed = {}
        _unsent[id(self)] = self

    def __await__(self):
        if self._future is None:
            self._begin()
        elif self._run is not loop.current() and (not self._future.done() or self._future.cancelled()):
            raise RuntimeError(
                f"{self.written()} was sent by an earlier program, which ended before the answer arrived; "
                "call the tool again if calling it twice is safe"
            )
        ok, payload = yield from self._future
        if not ok:
            raise self._located(self._failed(payload))
        return self._value(payload)

    def _failed(self, payload):
        return error_from(payload, self.tool)

    def _value(self, payload):
        if not payload.startswith(tool_files.MARK):
            value = encoding.from_json(payload)
            answers.remember(self.tool, value, len(payload))
            return value
        try:
            return tool_files.value_of(payload, self.tool, self._placed)
        except tool_files.Unusable as failure:
            error = ToolError(str(failure), tool=self.tool, code=failure.code, kind=failure.kind)
            raise self._located(error) from None

    def _located(self, error):
        error.line = self.line
        return error

    def _begin(self):
        if self._payload is None:
            raise RuntimeError("cannot await a tool call that was closed or cancelled before it was sent")
        running = asyncio.get_running_loop()
        self._future = running.create_future()
        self._run = loop.current()
        _unsent.pop(id(self), None)
        payload, self._payload = self._payload, None
        if len(payload) > PAYLOAD_CHARS_MAX:
            raise ToolError(
                self._size.format(len(payload), PAYLOAD_CHARS_MAX),
                tool=self.tool,
                code="GM-1208",
                kind="limit",
            )
        try:
            loop.current().calls.start(self._kind, payload, self._future)
        except BaseException:
            self._future.cancel()
            raise

    # The coroutine protocol, so that create_task and TaskGroup accept a call as it is.

    def send(self, value):
        if self._steps is None:
            self._steps = self.__await__()
        return self._steps.send(value)

    def throw(self, *error):
        if self._steps is None:
            self.close()
            raise error[1] if len(error) > 1 and error[1] is not None else error[0]
        return self._steps.throw(*error)

    def close(self):
        if self._steps is not None:
            self._steps.close()
        elif self._future is None and not _finishing:
            self._payload = None
            _unsent.pop(id(self), None)

    @property
    def sent(self):
        return self._future is not None

    def __repr__(self):
        state = "sent" if self.sent else "not awaited"
        return f"<{self.written()} on line {self.line}, {state}>"

    def written(self, gap=""):
        """As a program writes it."""
        if self._function is not None:
            return f"{self._function}(...)"
        return f'{self._helper}("{self.tool}"{gap})'

    def _misused(self, *_args):
        raise TypeError(f"this is a tool call that was not awaited: write (await {self.written(self._gap)})")

    __getitem__ = __iter__ = __len__ = __contains__ = _misused

    def __bool__(self):
        return True

    def __getattr__(self, name):
        if name.startswith("_") or name in ("cr_code", "gi_code", "cr_frame", "gi_frame", "ag_frame", "cr_await"):
            raise AttributeError(name)
        raise AttributeError(
            f'a tool call has no attribute "{name}" before it is awaited: write (await {self.written(self._gap)})'
        )


_unsent = {}
_finishing = False


def callMCPTool(name, arguments=None, /, **kwargs):
    """Calls a tool: `await callMCPTool("server.tool", {"key": value})` or with keywords.

    Returns the tool's value; raises ToolError when the tool reports an error.
    """
    if not isinstance(name, str):
        raise TypeError(f"callMCPTool takes the tool's name as a string, not {type(name).__name__}")
    if not name.strip():
        raise TypeError("callMCPTool needs the tool's name")
    if arguments is not None and not isinstance(arguments, collections.abc.Mapping):
        raise TypeError(
            f"the arguments of a tool are a dict, not {type(arguments).__name__}: "
            f'pass them by name, such as callMCPTool("{name[:100]}", name=value)'
        )
    return call(str(name), arguments, kwargs)


def call(name, arguments, kwargs, function=None):
    """The call of a tool by `function` of the program, else by callMCPTool."""
    if arguments is None:
        arguments = kwargs
    elif kwargs:
        arguments = {**arguments, **kwargs}
    return ToolCall(name, encoding.plain_arguments(arguments), program_line(), function)


def are_arguments(positional):
    """Whether what was passed without a name can be the arguments of a tool: nothing, None or one mapping."""
    if not positional:
        return True
    return len(positional) == 1 and (positional[0] is None or isinstance(positional[0], collections.abc.Mapping))


def program_line():
    """The line of the program that is being executed, or None."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename in PROGRAM_FILENAMES:
            return frame.f_lineno
        frame = frame.f_back
    return None


def error_from(payload, tool):
    """The ToolError that a failed call's payload describes."""
    try:
        details = encoding.from_json(payload)
    except (ValueError, RecursionError):
        details = {"message": payload}
    if not isinstance(details, dict):
        details = {"message": payload}
    message = details.get("message")
    retry_safe = details.get("retry_safe")
    return ToolError(
        message if isinstance(message, str) and message else "the tool failed without a message",
        tool=details.get("tool") or tool,
        code=details.get("code"),
        kind=details.get("kind"),
        retry_safe=retry_safe if type(retry_safe) is bool else None,
    )


def begin_run(filename):
    """Forgets the calls of an earlier run."""
    global _finishing
    _finishing = False
    _unsent.clear()
    PROGRAM_FILENAMES.clear()
    PROGRAM_FILENAMES.add(filename)


def finish_run():
    """From here on a call that is thrown away unsent counts as forgotten."""
    global _finishing
    _finishing = True


def unsent_calls():
    return sorted(_unsent.values(), key=lambda call: call.line or 0)
