"""After the program: cancels what still runs, and notes what was forgotten or failed unseen."""

import inspect
import itertools
import types

from gristmill_guest import tools, tracebacks

UNFINISHED_ROUNDS_MAX = 3
UNAWAITED_MAX = 20
# Of each list or dict that is searched for coroutines.
MEMBERS_MAX = 100


def settle(places, state, notes, filename):
    """Cancels what still runs, and notes what the program forgot. `places` are where it may have left coroutines."""
    tools.finish_run()
    try:
        unfinished = _cancel_unfinished(state)
        for task in unfinished:
            _note_unfinished(notes, task)
        for task in list(state.tasks):
            if task.done() and not task.cancelled() and getattr(task, "_log_traceback", False):
                note_background_error(notes, task.exception(), filename)
        for place in places:
            for value in _members(place, None):
                # Most are functions: nothing of theirs is looked at.
                kind = type(value)
                if kind is types.CoroutineType:
                    _close(state, value)
                elif kind in _CONTAINERS:
                    for member in _members(value):
                        if type(member) is types.CoroutineType:
                            _close(state, member)
    except BaseException as error:
        notes.add(f"cleanup after the program failed: {type(error).__name__}")


_CONTAINERS = frozenset((dict, list, tuple, set))


def _members(value, count_max=MEMBERS_MAX):
    """The first members of a plain container; of anything else none."""
    kind = type(value)
    if kind is dict:
        value = value.values()
    return list(itertools.islice(value, count_max)) if kind in _CONTAINERS else ()


def _close(state, coroutine):
    """Remembers a coroutine that never began."""
    if inspect.getcoroutinestate(coroutine) == inspect.CORO_CREATED:
        remember_coroutine(state, coroutine)
        coroutine.close()


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
    notes.add(f"the background task {name}{where} was still running when the program ended, so it was canceled; await it")


def note_background_error(notes, error, filename, what="a background task"):
    line = tracebacks.line_of(error, filename)
    where = f" on line {line}" if line else ""
    notes.add(f"{what} failed{where}: {type(error).__name__}: {tracebacks.message_of(error)}")


def remember_coroutine(state, coroutine):
    """Keeps name and line of a coroutine that never ran, unless the library made it."""
    origin = getattr(coroutine, "cr_origin", None)
    if origin and origin[0][0].startswith("<"):
        return
    is_own = origin and origin[0][0] in tools.PROGRAM_FILENAMES
    found = (getattr(coroutine, "__qualname__", "coroutine"), origin[0][1] if is_own else None)
    if found not in state.unawaited and len(state.unawaited) < UNAWAITED_MAX:
        state.unawaited.append(found)
