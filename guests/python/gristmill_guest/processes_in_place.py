"""multiprocessing and ProcessPoolExecutor without processes: the work runs in place, in this interpreter.

What a real process would change only in its own copy of a variable is changed for everybody here; a note says that
there were no processes. Queues, pipes and shared values are plain objects.
"""

import collections
import itertools
import queue
import threading
import types

from gristmill_guest import threads_in_place
from gristmill_guest.threads_in_place import PROCESSES_NOTE, note

_pids = itertools.count(1001)


class Process:
    """What multiprocessing.Process is, run by `start`."""

    def __init__(self, group=None, target=None, name=None, args=(), kwargs=None, *, daemon=None):
        self._target, self._args, self._kwargs = target, tuple(args), dict(kwargs or {})
        self.pid = self.exitcode = None
        self._number = next(_pids)
        self.name = name or f"Process-{self._number - 1000}"
        self.daemon = bool(daemon)
        self.authkey = b""

    @property
    def ident(self):
        return self.pid

    def run(self):
        if self._target is not None:
            self._target(*self._args, **self._kwargs)

    def start(self):
        if self.pid is not None:
            raise AssertionError("cannot start a process twice")
        self.pid = self._number
        note(PROCESSES_NOTE)
        try:
            self.run()
            self.exitcode = 0
        except SystemExit as error:
            self.exitcode = error.code if type(error.code) is int else 0 if error.code is None else 1
        except BaseException as error:
            self.exitcode = 1
            threads_in_place.note_failure(f"process {self.name}", error)

    def join(self, timeout=None):
        if self.pid is None:
            raise AssertionError("can only join a started process")

    def is_alive(self):
        return False

    def terminate(self):
        pass

    kill = close = terminate


class Result:
    """What apply_async and map_async return: it is there already."""

    def __init__(self, work, callback=None, error_callback=None):
        self._value = self._error = None
        try:
            self._value = work()
        except Exception as error:
            self._error = error
        if self._error is None and callback is not None:
            callback(self._value)
        if self._error is not None and error_callback is not None:
            error_callback(self._error)

    def get(self, timeout=None):
        if self._error is not None:
            raise self._error
        return self._value

    def wait(self, timeout=None):
        pass

    def ready(self):
        return True

    def successful(self):
        return self._error is None


class Results:
    """What imap returns: each result is made when it is asked for."""

    def __init__(self, results):
        self._results = results

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._results)

    def next(self, timeout=None):
        return next(self._results)


class Pool:
    """What multiprocessing.Pool is, with the work done in the order in which it is given."""

    def __init__(self, processes=None, initializer=None, initargs=(), maxtasksperchild=None, context=None):
        if processes is not None and processes < 1:
            raise ValueError("Number of processes must be at least 1")
        self._is_open = True
        note(PROCESSES_NOTE)
        if initializer is not None:
            initializer(*initargs)

    def apply(self, func, args=(), kwds=None):
        self._check_open()
        return func(*args, **(kwds or {}))

    def apply_async(self, func, args=(), kwds=None, callback=None, error_callback=None):
        self._check_open()
        return Result(lambda: func(*args, **(kwds or {})), callback, error_callback)

    def map(self, func, iterable, chunksize=None):
        self._check_open()
        return [func(item) for item in iterable]

    def map_async(self, func, iterable, chunksize=None, callback=None, error_callback=None):
        self._check_open()
        return Result(lambda: [func(item) for item in iterable], callback, error_callback)

    def starmap(self, func, iterable, chunksize=None):
        self._check_open()
        return [func(*items) for items in iterable]

    def starmap_async(self, func, iterable, chunksize=None, callback=None, error_callback=None):
        self._check_open()
        return Result(lambda: [func(*items) for items in iterable], callback, error_callback)

    def imap(self, func, iterable, chunksize=1):
        self._check_open()
        return Results(map(func, iterable))

    imap_unordered = imap

    def close(self):
        self._is_open = False

    terminate = close

    def join(self):
        if self._is_open:
            raise ValueError("Pool is still running")

    def __enter__(self):
        self._check_open()
        return self

    def __exit__(self, *error):
        self.close()

    def _check_open(self):
        if not self._is_open:
            raise ValueError("Pool not running")


class Queue(queue.Queue):
    """A queue of multiprocessing: one of this interpreter."""

    def close(self):
        pass

    join_thread = cancel_join_thread = close


class Connection:
    """One end of a pipe."""

    def __init__(self, incoming, outgoing):
        self._incoming, self._outgoing = incoming, outgoing
        self.closed = False

    def send(self, value):
        self._outgoing.append(value)

    def recv(self):
        if not self._incoming:
            raise EOFError("nothing was sent through this pipe, and no other process is running that could send")
        return self._incoming.popleft()

    send_bytes, recv_bytes = send, recv

    def poll(self, timeout=0.0):
        return bool(self._incoming)

    def close(self):
        self.closed = True

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def pipe(duplex=True):
    here, there = collections.deque(), collections.deque()
    return Connection(here, there), Connection(there, here)


class _Guarded:
    """What shared values have besides the value."""

    def get_lock(self):
        return self._lock

    def get_obj(self):
        return self

    def acquire(self, *args, **kwargs):
        return self._lock.acquire(*args, **kwargs)

    def release(self):
        self._lock.release()

    def __enter__(self):
        return self._lock.__enter__()

    def __exit__(self, *error):
        return self._lock.__exit__(*error)


class Value(_Guarded):
    def __init__(self, kind, value=0, *, lock=True):
        self._lock = threading.RLock()
        self.value = float(value) if kind in ("d", "f") else value


class Array(_Guarded, list):
    def __init__(self, kind, size_or_items, *, lock=True):
        self._lock = threading.RLock()
        zero = 0.0 if kind in ("d", "f") else 0
        super().__init__([zero] * size_or_items if isinstance(size_or_items, int) else size_or_items)


class Manager:
    """What hands out shared objects: ordinary ones."""

    dict, list, Namespace = dict, list, types.SimpleNamespace
    Queue = JoinableQueue = Queue
    Value, Array, Pool = Value, Array, Pool

    def __getattr__(self, name):
        if name in _OF_THREADING:
            return getattr(threading, name)
        raise AttributeError(f"'SyncManager' object has no attribute '{name}'")

    def start(self, *arguments):
        pass

    shutdown = join = start

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


# What a context of multiprocessing makes, by the name of its method.
_MADE_HERE = {
    "Pool": Pool,
    "Manager": Manager,
    "Queue": Queue,
    "JoinableQueue": Queue,
    "SimpleQueue": Queue,
    "Pipe": pipe,
    "Value": Value,
    "RawValue": Value,
    "Array": Array,
    "RawArray": Array,
}
_OF_THREADING = ("Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore", "Event", "Barrier")


def install(context):
    """In `multiprocessing.context`: every context makes these, whatever its start method."""

    def method(made):
        return lambda self, *args, **kwargs: made(*args, **kwargs)

    for name, made in _MADE_HERE.items():
        setattr(context.BaseContext, name, method(made))
    for name in _OF_THREADING:
        setattr(context.BaseContext, name, method(getattr(threading, name)))
    for kind in [context.BaseContext, *context.BaseContext.__subclasses__()]:
        kind.Process = Process


def install_pool(module):
    """In `multiprocessing.pool`."""
    module.Pool = module.ThreadPool = Pool


def install_executor(module):
    """In `concurrent.futures.process`."""
    module.ProcessPoolExecutor = ProcessPoolExecutor


class ProcessPoolExecutor(threads_in_place.InPlaceExecutor):
    def __init__(self, max_workers=None, mp_context=None, initializer=None, initargs=(), *, max_tasks_per_child=None):
        super().__init__(max_workers, initializer=initializer, initargs=initargs)
        note(PROCESSES_NOTE)


ProcessPoolExecutor.__module__ = "concurrent.futures.process"
for _kind in (Process, Pool, Queue, Connection, Value, Array, Manager):
    _kind.__module__ = "multiprocessing"
