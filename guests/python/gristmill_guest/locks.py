"""Locks for a world without threads: waiting for ever on a held one is told, not done.

The interpreter's own lock would stop the whole instance, since nobody but a timer can ever
release it. Everything in `threading` and `queue` that waits does so on such a lock.
"""

import queue
import threading
import time

from gristmill_guest import timers

NEVER = (
    "this would wait forever: threads run in place when started, so no other thread is left to wait for; "
    "start the thread that provides it first, or use asyncio.Queue, asyncio.Event or the non-blocking form"
)

_allocate_lock = threading._allocate_lock
_sleep = time.sleep
_monotonic = time.monotonic


class Lock:
    """What threading.Lock is, except that it never blocks for ever."""

    __slots__ = ("__weakref__", "_lock", "locked", "release")

    def __init__(self):
        lock = self._lock = _allocate_lock()
        self.locked = lock.locked
        self.release = lock.release

    def acquire(self, blocking=True, timeout=-1):
        if self._lock.acquire(False):
            return True
        if not blocking:
            # Refuses a time-out here, as the original does.
            return self._lock.acquire(False, timeout)
        if timeout != -1 and timeout < 0:
            raise ValueError("timeout value must be a non-negative number")
        until = None if timeout == -1 else _monotonic() + timeout
        while timers.run_next(until):
            if self._lock.acquire(False):
                return True
        if until is None:
            raise RuntimeError(NEVER)
        _sleep(max(0, until - _monotonic()))
        return self._lock.acquire(False)

    def __enter__(self):
        return self._lock.acquire(False) or self.acquire()

    def __exit__(self, kind, error, trace):
        self._lock.release()

    def _at_fork_reinit(self):
        self.__init__()

    def __repr__(self):
        return f"<{'locked' if self.locked() else 'unlocked'} threading.Lock object at {id(self):#x}>"


Lock.__module__ = "threading"


def install():
    """Everything made from here on waits on the locks above."""
    threading.Lock = threading._allocate_lock = Lock
    # The one in C waits on a lock of its own.
    queue.SimpleQueue = queue._PySimpleQueue
