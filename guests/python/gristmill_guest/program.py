"""One run: request in, outcome out, in visible stages.

prepare a fresh interpreter state (ahead, while the process waits) -> read the request ->
compile -> execute -> settle loose ends -> convert the result -> write the outcome. Each
stage returns what the next one needs; a failure anywhere becomes an `error` in the
outcome, never an exception.

A run that keeps its variables leaves its module to the next one that does. What belongs to one
run alone (calls, loops, notes, the name of the program) is new each time.
"""

import sys
import types
import warnings

from gristmill_guest import (
    at_once,
    catalogue,
    encoding,
    environment,
    errors,
    everyday,
    exit_handlers,
    large_result,
    loop,
    loose_ends,
    namespace,
    notes,
    result,
    skills,
    source,
    stdio,
    timers,
    tools,
    tracebacks,
    trees,
)

DEFAULT_FILENAME = "program.py"
RESULT_BYTES_DEFAULT = 1_000_000
RESULT_DEPTH_DEFAULT = 50
WAITING_STEPS_MAX = 200

# Stands for "there was no such variable".
_NOTHING = object()

_live = None
_ready = None
_kept = None


class Request:
    """A program as it arrives: its text, its variables as JSON, the limits of its result, its name."""

    __slots__ = ("code", "context_json", "bytes_max", "depth_max", "filename", "large_bytes_max")

    def __init__(
        self, code, context_json="", bytes_max=0, depth_max=0, filename=DEFAULT_FILENAME, large_bytes_max=0
    ):
        self.code = code
        self.context_json = context_json
        self.bytes_max = bytes_max or RESULT_BYTES_DEFAULT
        self.depth_max = depth_max or RESULT_DEPTH_DEFAULT
        self.filename = filename
        # A larger result is handed over in parts, up to this size.
        self.large_bytes_max = large_bytes_max

    def context(self):
        """The variables. Parsed only where there are any: most programs bring none."""
        return encoding.from_json(self.context_json) if self.context_json else {}


class Outcome:
    """What is told about a run: gathered stage by stage, written once."""

    def __init__(self):
        self.error = None
        self.result_json = None
        # Whether the result was handed over before.
        self.is_result_stored = False
        self.notes = notes.Notes()
        # Whether our own code failed: no later program would fare better.
        self.damaged = False

    def fail(self, error):
        self.error = errors.guest_failure(error)
        self.damaged = True

    def to_json(self):
        told = {
            "ok": self.error is None,
            "result": encoding.Raw(self.result_json if self.result_json is not None else "null"),
            "has_result": self.result_json is not None,
            "notes": self.notes.texts(),
        }
        if self.is_result_stored:
            told["stored_result"] = True
        if self.error is not None:
            told["error"] = self.error
        if self.damaged:
            told["damaged"] = True
        return encoding.to_json(told)


class Kept:
    """What the programs of one session share: their module, how many there were, and their names."""

    __slots__ = ("module", "count", "names")

    def __init__(self):
        self.module = None
        self.count = 0
        self.names = set()

    def next_filename(self, wanted=""):
        """A name of its own for each, so that tracebacks show the lines of the right one."""
        self.count += 1
        name = wanted or DEFAULT_FILENAME
        if name in self.names:
            stem, dot, ending = name.rpartition(".")
            name = f"{stem or ending}-{self.count}{dot}{ending if stem else ''}"
        self.names.add(name)
        return name


class Prepared:
    """A process state that waits for its program: fresh, or what an earlier program left."""

    __slots__ = ("outcome", "state", "streams", "filename", "kept")

    def __init__(self, filename, streams, in_workspace, kept=None):
        self.outcome = Outcome()
        self.filename = filename
        self.streams = streams
        self.kept = kept
        if kept is None:
            _refresh(filename, in_workspace)
        else:
            environment.continue_as(filename)
        self.state = _prepare(filename, self.outcome, streams)
        self.state.is_continued = kept is not None

    def rename(self, filename):
        """Another name for the program to come. Everything else is as fresh as it was."""
        self.filename = filename
        environment.continue_as(filename)
        self.state = _prepare(filename, self.outcome, self.streams)
        self.state.is_continued = False


def ready():
    """Does ahead of time what does not depend on the program. Called after the fork."""
    global _live, _ready
    if _live is None:
        _live = stdio.live()
    _ready = Prepared(DEFAULT_FILENAME, _live, in_workspace=True)


def run(code, context_json, bytes_max, depth_max, keep=False, filename="", large_bytes_max=0):
    """Runs one program. Always returns an outcome as strict JSON.

    With `keep` it goes on where the last such program ended, and leaves its variables to the next.
    """
    try:
        prepared = _continued(filename) if keep and _kept is not None else _begun(keep, filename)
        request = Request(code, context_json, bytes_max, depth_max, prepared.filename, large_bytes_max)
    except BaseException as error:
        return _last_resort(error)
    return run_with(request, prepared)


def _begun(keep, filename):
    global _ready, _kept
    if _ready is None:
        ready()
    prepared, _ready = _ready, None
    if filename and filename != prepared.filename:
        prepared.rename(filename)
    if keep:
        prepared.kept = _kept = Kept()
        _kept.next_filename(filename)
    return prepared


def _continued(filename):
    global _live
    if not _live.are_open():
        _live = stdio.live()
    skills.continue_run()
    return Prepared(_kept.next_filename(filename), _live, in_workspace=False, kept=_kept)


def run_with(request, prepared):
    """The same in a given state."""
    outcome, streams = prepared.outcome, prepared.streams
    try:
        if request.filename != prepared.filename:
            prepared = Prepared(request.filename, streams, in_workspace=True)
            outcome = prepared.outcome
        _carry_out(request, prepared)
    except BaseException as error:
        outcome.fail(error)
    finally:
        streams.flush()
    try:
        return outcome.to_json()
    except BaseException as error:
        return _last_resort(error)


def _last_resort(error):
    try:
        outcome = Outcome()
        outcome.fail(error)
        return outcome.to_json()
    except BaseException:
        return _NO_REPORT


# Made at build time: needs no memory when there is none.
_NO_REPORT = encoding.to_json(
    {
        "ok": False,
        "result": None,
        "has_result": False,
        "notes": [],
        "error": {
            "kind": "memory",
            "type": "MemoryError",
            "message": "the program left no memory for its report",
            "line": None,
            "traceback": "",
            "hint": "work in smaller pieces: generators, slices, or files in the workspace",
            "limit": None,
        },
        "damaged": True,
    }
)


# What a caller or a model can do wrong before anything runs. Anything else is a failure of ours.
_MISTAKES = (namespace.ContextError, *source.NO_PROGRAM)


def _carry_out(request, prepared):
    outcome, state = prepared.outcome, prepared.state
    try:
        context = request.context()
        environment.take_arguments(context)
        compiled, text = _compile(request, outcome)
        module = _module_for(request, context, prepared.kept)
    except _MISTAKES as error:
        outcome.error = errors.describe(error, request.filename)
        return
    namespace.show_source(text, request.filename)
    everyday.choose_datetime(text, module.__dict__)
    before = module.__dict__.get("result", _NOTHING)
    last, failure = _execute(compiled, module, before)
    if failure is None:
        failure = _run_timers()
    exit_handlers.run(outcome.notes, request.filename)
    loose_ends.settle((module.__dict__, last.value), state, outcome.notes, request.filename)
    if failure is not None:
        outcome.error = _error_of(failure, request.filename)
    value = last.value
    if _is_assigned(compiled, module, before):
        value = module.__dict__["result"]
    _convert_result(request, value, outcome)
    _report_unawaited(outcome, state)


def _module_for(request, context, kept):
    if kept is not None and kept.module is not None:
        return namespace.continue_module(kept.module, context, request.filename)
    module = namespace.make_module(context, request.filename)
    if kept is not None:
        kept.module = module
    return module


def _refresh(filename, in_workspace):
    """Nothing of an earlier run, nor of the image's build."""
    trees.begin_run()
    skills.begin_run()
    environment.refresh(filename)
    if in_workspace:
        environment.enter_workspace()


def _prepare(filename, outcome, streams):
    """What every run has of its own."""
    state = loop.RunState(outcome.notes)
    state.background_error = lambda error: loose_ends.note_background_error(outcome.notes, error, filename)
    loop.begin(state)
    # What was looked at before there were folders, or by the program before, says nothing.
    catalogue.begin_run()
    tools.begin_run(filename)
    exit_handlers.clear()
    streams.put_in_place()
    sys.set_coroutine_origin_tracking_depth(1)
    warnings._warn_unawaited_coroutine = lambda coroutine: loose_ends.remember_coroutine(state, coroutine)
    return state


def _compile(request, outcome):
    if type(request.code) is not str:
        raise TypeError("the code must be text")
    program = source.read(request.code, request.filename)
    for note in program.notes:
        outcome.notes.add(note)
    try:
        return source.compile_program(program.text, request.filename), program.text
    except SyntaxError as error:
        source.show_line(error, program.text)
        raise


# Execution.


class _Last:
    """The value of the program's last expression, once it has one."""

    __slots__ = ("value",)

    def __init__(self):
        self.value = None


def _execute(compiled, module, before):
    """Runs the code; returns the last expression's value and the failure, one of them None.

    An awaitable in the last expression or in `result` is awaited. `before` is what `result` was.
    """
    last = _Last()
    try:
        if compiled.is_async:
            _run_in_loop(_awaiting(compiled, module, last, before))
        else:
            for code in compiled.codes:
                exec(code, module.__dict__)
            last.value = _value_of_last(compiled, module)
            if _is_awaitable(last.value) or _is_awaitable(module.__dict__.get("result")):
                _run_in_loop(_await_values(compiled, module, last, before))
    except BaseException as error:
        return last, error
    return last, None


async def _awaiting(compiled, module, last, before):
    for code in compiled.codes:
        if source.is_coroutine(code):
            await eval(code, module.__dict__)
        else:
            exec(code, module.__dict__)
    value = _value_of_last(compiled, module)
    if compiled.last is not None and source.is_coroutine(compiled.last):
        value = await value
    last.value = value
    await _await_values(compiled, module, last, before)


def _value_of_last(compiled, module):
    if compiled.last is not None:
        return eval(compiled.last, module.__dict__)
    return module.__dict__.pop(source.LAST_EXPRESSION, None)


async def _await_values(compiled, module, last, before):
    """Puts values in place of what is awaited. Should that fail, there is no value: not the call itself."""
    names = module.__dict__
    pending = names.get("result")
    if not _is_awaitable(pending) or not _is_assigned(compiled, module, before):
        pending = None
    if pending is not None:
        del names["result"]
    value = last.value
    if _is_awaitable(value):
        last.value = None
        last.value = await value
    if pending is not None:
        names["result"] = last.value if pending is value else await pending


def _run_in_loop(coroutine):
    main_loop = loop.SandboxLoop()
    task = main_loop.create_task(coroutine, name="main")
    try:
        main_loop.run_until_complete(task)
    except loop.Deadlock as error:
        raise _with_waiting_line(error, task) from None


def _with_waiting_line(error, task):
    """Adds the innermost line of the program that the main task is waiting on."""
    step = task.get_coro()
    for _ in range(WAITING_STEPS_MAX):
        frame = getattr(step, "cr_frame", None) or getattr(step, "gi_frame", None)
        if frame is None:
            break
        if frame.f_code.co_filename in tools.PROGRAM_FILENAMES:
            error.line = frame.f_lineno
        step = getattr(step, "cr_await", None) or getattr(step, "gi_yieldfrom", None)
    return error


def _is_awaitable(value):
    kind = type(value)
    if kind is types.CoroutineType or kind is tools.ToolCall:
        return True
    if issubclass(kind, at_once.AtOnce):
        # It is the value that awaiting it would give.
        return False
    return hasattr(kind, "__await__") and not isinstance(value, type)


# The end.


def _run_timers():
    """Waits for timers that were started, as Python waits for threads; returns what stopped that, or None."""
    try:
        timers.run_all()
    except BaseException as error:
        return error
    return None


def _error_of(failure, filename):
    if isinstance(failure, SystemExit) and _is_success(failure.code):
        return None
    return errors.describe(failure, filename)


def _is_success(code):
    return code is None or (type(code) is int and code == 0) or code is False


def _is_assigned(compiled, module, before):
    """Whether this program gave `result` a value: one that it only found there is no result of it."""
    now = module.__dict__.get("result", _NOTHING)
    return now is not _NOTHING and (now is not before or source.assigns(compiled, "result"))


def _convert_result(request, value, outcome):
    if value is None or (type(value) is tools.ToolCall and not value.sent):
        return
    try:
        limits = (request.bytes_max, request.depth_max, request.large_bytes_max)
        written = result.written(value, outcome.notes, *limits)
        if written.bytes_used <= request.bytes_max:
            outcome.result_json = "".join(written.parts)
        else:
            large_result.hand_over(written.parts)
            outcome.is_result_stored = True
    except BaseException as error:
        if outcome.error is None:
            outcome.error = errors.describe(error, request.filename)
        else:
            outcome.notes.add(f"the result couldn't be included: {tracebacks.message_of(error)}")


def _report_unawaited(outcome, state):
    forgotten = [errors.unawaited_call(call) for call in tools.unsent_calls()]
    forgotten += [errors.unawaited_coroutine(*coroutine) for coroutine in state.unawaited]
    forgotten.sort(key=lambda error: error["line"] or 0)
    if forgotten and outcome.error is None:
        outcome.error = forgotten.pop(0)
    for error in forgotten:
        outcome.notes.add(error["message"])
