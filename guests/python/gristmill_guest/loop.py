"""asyncio on one host call.

`SandboxLoop` is asyncio's own `BaseEventLoop` with `wait_any` for a selector, so
sleep, gather, time-outs, task groups, semaphores and queues are the real ones. Two
things differ from a desktop Python. A loop may be run while another one is running
(`asyncio.run(main())` in a program that also awaits at top level): the outer loop
stands still meanwhile, and finished calls find their future by id whichever loop
waits. And there are no threads: executors run their function at once, in place.
"""

import asyncio
import asyncio.base_events
import asyncio.events
import asyncio.runners
import asyncio.tasks
import math
import weakref

from gristmill_guest import at_once, host

WAIT_US_MAX = 3_600_000_000

_swap_current_task = getattr(asyncio.tasks, "_swap_current_task", None)
_get_running_loop = asyncio._get_running_loop
_set_running_loop = asyncio._set_running_loop


class Deadlock(RuntimeError):
    """Every task waits and nothing is under way that could wake one."""

    line = None


Deadlock.__module__ = "asyncio"


class Calls:
    """Calls under way, by id. Shared by all loops of a run."""

    def __init__(self):
        self._waiting = {}

    def start(self, kind, payload, future):
        call_id = host.start_call(kind, payload)
        self._waiting[call_id] = future
        future.add_done_callback(lambda done: self._forget(call_id, done))
        return call_id

    def under_way(self):
        return len(self._waiting)

    def wait(self, timeout_us):
        self._hand_out(host.wait_any(timeout_us))

    def ask(self, kind, payload):
        """Starts a call and waits right here; returns whether it went well, and its answer.

        All loops stand still meanwhile. Other calls that finish reach their futures, and whoever
        awaits those goes on when his loop does.
        """
        call_id = host.start_call(kind, payload)
        try:
            while True:
                answer = self._hand_out(host.wait_any(None), call_id)
                if answer is not None:
                    return answer.ok, answer.payload
        except BaseException:
            host.cancel_call(call_id)
            raise

    def _hand_out(self, completions, asked=None):
        """Gives each answer to its future; returns the one to `asked`."""
        answer = None
        for completion in completions:
            if completion.id == asked:
                answer = completion
                continue
            future = self._waiting.pop(completion.id, None)
            # A closed loop wakes nobody, and says so with an error.
            if future is not None and not future.done() and not future.get_loop().is_closed():
                future.set_result((completion.ok, completion.payload))
        return answer

    def _forget(self, call_id, future):
        if self._waiting.pop(call_id, None) is not None and future.cancelled():
            host.cancel_call(call_id)


class RunState:
    """What one run has and the next one starts anew: calls, tasks, counts, and what to tell at the end."""

    def __init__(self, notes):
        self.notes = notes
        # Whether it goes on with the variables of an earlier program.
        self.is_continued = False
        self.calls = Calls()
        self.tasks = weakref.WeakSet()
        self.loops = []
        self.task_count = 0
        self.background_error = None
        # Name and line of each coroutine that the program made and nobody awaited.
        self.unawaited = []
        # `answers` fills and reads these.
        self.latest_answer = None
        self.answer_tools = {}
        # When each threading.Timer is due that has not run, soonest first.
        self.timers = []
        self.tool_file_count = 0
        # Where the images lie that tools answered with.
        self.tool_images = set()


_state = None


def begin(state):
    """Makes `state` the one that new loops belong to."""
    global _state
    _state = state


def current():
    return _state


class _HostSelector:
    """What BaseEventLoop expects of a selector, on `wait_any`."""

    def __init__(self, loop):
        self._loop = loop

    def select(self, timeout):
        calls = self._loop.state.calls
        if timeout is None:
            if not calls.under_way():
                raise Deadlock(
                    "the program is waiting for something that can't happen: no tool call or timer is pending"
                )
            calls.wait(None)
        elif timeout > 0 or calls.under_way():
            calls.wait(min(math.ceil(timeout * 1e6), WAIT_US_MAX))
        return ()

    def close(self):
        pass


class SandboxLoop(asyncio.base_events.BaseEventLoop):
    def __init__(self):
        super().__init__()
        self.state = _state
        self._selector = _HostSelector(self)
        self.state.loops.append(self)

    # What BaseEventLoop asks of its subclass.

    def _process_events(self, event_list):
        pass

    def _write_to_self(self):
        pass

    def _check_running(self):
        if self.is_running():
            raise RuntimeError("This event loop is already running")

    def call_soon_threadsafe(self, callback, *args, context=None):
        return self.call_soon(callback, *args, context=context)

    def run_forever(self):
        """Runs even when another loop is running: that one stands still until this one stops."""
        outer = _Suspended()
        try:
            super().run_forever()
        finally:
            outer.resume()

    def run_until_complete(self, future):
        if not self.is_running():
            return super().run_until_complete(future)
        return self._run_inside_itself(future)

    def _run_inside_itself(self, future):
        """`loop.run_until_complete(x)` called by a task of this very loop."""
        self._check_closed()
        future = asyncio.ensure_future(future, loop=self)
        task = _swap_current_task(self, None) if _swap_current_task else None
        left = None
        if _swap_current_task is None:
            left = asyncio.current_task(self)
            if left is not None:
                asyncio.tasks._leave_task(self, left)
        try:
            while not future.done():
                self._run_once()
        finally:
            if _swap_current_task:
                _swap_current_task(self, task)
            elif left is not None:
                asyncio.tasks._enter_task(self, left)
        return future.result()

    def create_task(self, coro, **options):
        if options.get("name") is None:
            # Names count from 1 in every run, whatever ran before in this image.
            self.state.task_count += 1
            options["name"] = f"Task-{self.state.task_count}"
        if options.get("context", self) is None:
            del options["context"]
        if isinstance(coro, at_once.AtOnce):
            # A task takes nothing but a coroutine.
            coro = _awaited(coro)
        task = super().create_task(coro, **options)
        self.state.tasks.add(task)
        return task

    def run_in_executor(self, executor, func, *args):
        """Runs the function now: there are no threads. The future is already done."""
        self._check_closed()
        future = self.create_future()
        if executor is not None and not _is_inline(executor):
            func, args = _submitted(executor, func, args), ()
        try:
            future.set_result(func(*args))
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            if isinstance(error, StopIteration):
                error = RuntimeError(f"function raised StopIteration: {error}")
            future.set_exception(error)
        return future

    async def shutdown_default_executor(self, timeout=None):
        self._executor_shutdown_called = True

    def call_exception_handler(self, context):
        if self._exception_handler is not None:
            super().call_exception_handler(context)
            return
        error = context.get("exception")
        if error is not None and self.state.background_error is not None:
            self.state.background_error(error)

    async def getaddrinfo(self, *args, **kwargs):
        raise OSError("the sandbox has no network; call a tool with callMCPTool")

    create_connection = create_server = create_datagram_endpoint = getnameinfo = getaddrinfo

    async def subprocess_exec(self, *args, **kwargs):
        raise OSError("the sandbox has no processes; call a tool with callMCPTool")

    subprocess_shell = subprocess_exec


class _Suspended:
    """Takes the running loop and its current task away, and puts them back."""

    def __init__(self):
        self._loop = _get_running_loop()
        self._task = None
        if self._loop is not None:
            if _swap_current_task:
                self._task = _swap_current_task(self._loop, None)
            _set_running_loop(None)

    def resume(self):
        if self._loop is not None:
            _set_running_loop(self._loop)
            if _swap_current_task:
                _swap_current_task(self._loop, self._task)


async def _awaited(value):
    return value


def _is_inline(executor):
    return type(executor).__module__.startswith("concurrent.futures.thread")


def _submitted(executor, func, args):
    return lambda: executor.submit(func, *args).result()


_policy_base = getattr(asyncio.events, "_BaseDefaultEventLoopPolicy", None) or getattr(
    asyncio.events, "BaseDefaultEventLoopPolicy"
)


class SandboxPolicy(_policy_base):
    """Hands out sandbox loops; `get_event_loop` makes one when there is none."""

    def __init__(self):
        self._set = None

    def get_event_loop(self):
        loop = self._set
        if loop is None or loop.is_closed() or loop.state is not _state:
            loop = self._set = SandboxLoop()
        return loop

    def set_event_loop(self, loop):
        self._set = loop

    def new_event_loop(self):
        return SandboxLoop()


def _run(main, *, debug=None, loop_factory=None):
    """asyncio.run, allowed inside a running program: the coroutine gets a loop of its own."""
    outer = _Suspended()
    try:
        return _asyncio_run(main, debug=debug, **({"loop_factory": loop_factory} if loop_factory else {}))
    finally:
        outer.resume()


def _runner_run(self, coro, *, context=None):
    outer = _Suspended()
    try:
        return _asyncio_runner_run(self, coro, context=context)
    finally:
        outer.resume()


_asyncio_run = asyncio.runners.run
_asyncio_runner_run = asyncio.runners.Runner.run


def install():
    """Makes asyncio use sandbox loops everywhere. Done once, when the image is built."""
    setter = getattr(asyncio.events, "_set_event_loop_policy", None) or asyncio.set_event_loop_policy
    setter(SandboxPolicy())
    _run.__name__ = _run.__qualname__ = "run"
    _runner_run.__name__ = "run"
    _runner_run.__qualname__ = "Runner.run"
    asyncio.run = asyncio.runners.run = _run
    asyncio.runners.Runner.run = _runner_run
    asyncio.SelectorEventLoop = SandboxLoop
    if hasattr(asyncio, "EventLoop"):
        asyncio.EventLoop = SandboxLoop
