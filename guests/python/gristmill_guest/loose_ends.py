"""After the program: cancels what still runs, and notes what was forgotten or failed unseen."""

import inspect
import types

from gristmill_guest import tools, tracebacks

UNFINISHED_ROUNDS_MAX = 3


def settle(module, state, notes, filename):
    """Cancels what still runs, and notes what the program forgot."""
    tools.finish_run()
    try:
        unfinished = _cancel_unfinished(state)
        for task in unfinished:
            _note_unfinished(notes, task)
        for task in list(state.tasks):
            if task.done() and not task.cancelled() and getattr(task, "_log_traceback", False):
                note_background_error(notes, task.exception(), filename)
        for value in list(module.__dict__.values()):
            if type(value) is types.CoroutineType and inspect.getcoroutinestate(value) == inspect.CORO_CREATED:
                note_coroutine(notes, value)
                value.close()
    except BaseException as error:
        notes.add(f"tidying up after the program failed: {type(error).__name__}")


def _cancel_unfinished(state):
    unfinished = [task for task in list(state.tasks) if not task.done() and task.get_name() != "main"]
    for main_loop in list(state.loops):
        if main_loop.is_closed() or main_loop.is_running():
            continue
        pending = [task for task in list(state.tasks) if not task.done() and task.get_loop() is main_loop]
        for _ in range(UNFINISHED_ROUNDS_MAX):
            if not pending:
                break
            for task in pending:
                task.cancel()
            main_loop.call_soon(main_loop.stop)
            main_loop.run_forever()
            pending = [task for task in pending if not task.done()]
        main_loop.close()
    return unfinished


def _note_unfinished(notes, task):
    name = getattr(task.get_coro(), "__qualname__", None) or "a task"
    call = task.get_coro()
    where = f" (line {call.line})" if type(call) is tools.ToolCall and call.line else ""
    if type(call) is tools.ToolCall and not call.sent:
        return
    notes.add(f"the background task {name}{where} was still running at the end and was cancelled; await it")


def note_background_error(notes, error, filename):
    line = tracebacks.line_of(error, filename)
    where = f" on line {line}" if line else ""
    notes.add(f"a background task failed{where}: {type(error).__name__}: {tracebacks.message_of(error)}")


def note_coroutine(notes, coroutine):
    origin = getattr(coroutine, "cr_origin", None)
    if origin and origin[0][0].startswith("<"):
        return
    where = f" on line {origin[0][1]}" if origin else ""
    name = getattr(coroutine, "__qualname__", "coroutine")
    notes.add(f"{name}(){where} was never awaited, so it did not run; write: await {name}(...)")
