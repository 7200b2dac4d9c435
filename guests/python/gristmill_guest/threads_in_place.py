"""Threads where there are none: `start` runs the function before it returns, and so do pools.

Programs that use threads to wait for several things at once, or that wait for what another thread does, see a
difference; those that only collect results do not. A note says what happened.
"""

import concurrent.futures._base
import itertools
import threading
import time

from gristmill_guest import loop, loose_ends, timers, tools

THREADS_NOTE = (
    "the sandbox has no threads, so each one ran to completion when started; use asyncio.gather for parallel tool calls"
)
PROCESSES_NOTE = "the sandbox has no processes, so the work ran in place, one item at a time"

_idents = itertools.count(1001)


def note(text):
    state = loop.current()
    if state is not None:
        state.notes.add(text)


def note_failure(what, error):
    """Says that a thread or a process failed, which ends neither the program nor its other threads."""
    state = loop.current()
    if state is not None:
        filename = next(iter(tools.PROGRAM_FILENAMES), "")
        loose_ends.note_background_error(state.notes, error, filename, what)


def install(module):
    """Replaces what starts a thread and what waits for one, in `threading` or a copy of it."""
    run_hooked = _hooked(module)

    def start(self):
        _begin(self)
        note(THREADS_NOTE)
        run_hooked(self)

    def start_timer(self):
        _begin(self)
        self.run_in_place = lambda: run_hooked(self)
        timers.start(self)

    def join(self, timeout=None):
        if not self._initialized:
            raise RuntimeError("Thread.__init__() not called")
        if not self._started.is_set():
            raise RuntimeError("cannot join thread before it is started")
        if self is module.current_thread():
            raise RuntimeError("cannot join current thread")

    def join_timer(self, timeout=None):
        join(self)
        if timeout is None:
            timers.run_left(self)
        else:
            time.sleep(max(timeout, 0))

    def is_alive(self):
        return self is module.main_thread() or self is module.current_thread()

    def timer_is_alive(self):
        return self._started.is_set() and not self.finished.is_set()

    for function, name in ((start, "start"), (join, "join"), (is_alive, "is_alive")):
        _replace(module.Thread, name, function)
    for function, name in ((start_timer, "start"), (join_timer, "join"), (timer_is_alive, "is_alive")):
        _replace(module.Timer, name, function)


def _begin(thread):
    if not thread._initialized:
        raise RuntimeError("thread.__init__() not called")
    if thread._started.is_set():
        raise RuntimeError("threads can only be started once")
    thread._ident = next(_idents)
    thread._started.set()


def _hooked(module):
    """What runs a thread's function in place, as `threading.current_thread()`."""
    default_hook = module.excepthook

    def run(thread):
        ident = module.get_ident()
        outer = module._active.get(ident)
        module._active[ident] = thread
        try:
            thread.run()
        except SystemExit:
            pass
        except BaseException as error:
            if module.excepthook is default_hook:
                note_failure(f"thread {thread.name}", error)
            else:
                module.excepthook(module.ExceptHookArgs((type(error), error, error.__traceback__, thread)))
        finally:
            if outer is None:
                module._active.pop(ident, None)
            else:
                module._active[ident] = outer

    return run


def _replace(owner, name, function):
    function.__name__ = name
    function.__qualname__ = f"{owner.__name__}.{name}"
    function.__module__ = "threading"
    setattr(owner, name, function)


class InPlaceExecutor(concurrent.futures._base.Executor):
    """A pool without threads: submit runs the function before it returns."""

    def __init__(self, max_workers=None, thread_name_prefix="", initializer=None, initargs=()):
        if max_workers is not None and max_workers <= 0:
            raise ValueError("max_workers must be greater than 0")
        self._closed = False
        if initializer is not None:
            initializer(*initargs)

    def submit(self, fn, /, *args, **kwargs):
        if self._closed:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future = concurrent.futures._base.Future()
        future.set_running_or_notify_cancel()
        try:
            future.set_result(fn(*args, **kwargs))
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            future.set_exception(error)
        return future

    def shutdown(self, wait=True, *, cancel_futures=False):
        self._closed = True


InPlaceExecutor.__name__ = InPlaceExecutor.__qualname__ = "ThreadPoolExecutor"
InPlaceExecutor.__module__ = "concurrent.futures.thread"


def install_pool(module):
    """In `concurrent.futures.thread`."""
    module.ThreadPoolExecutor = InPlaceExecutor


def install_threading():
    install(threading)
    timers.install()
