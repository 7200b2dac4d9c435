"""Clear refusals for what a sandbox without threads, processes and sockets cannot do.

The modules stay importable, since half the standard library imports them; only the
act itself fails, and says what to do instead. Thread pools run their work in place.
"""

import concurrent.futures._base
import os
import sys
import threading

from gristmill_guest import imports, locks

NO_THREADS = "no threads in the sandbox; use asyncio.gather for parallel tool calls, or call the function directly"
NO_PROCESSES = "no processes in the sandbox; call a tool with callMCPTool, or do the work in Python"
NO_NETWORK = "no network in the sandbox; call a tool with callMCPTool"


def install():
    """Patches what is loaded, and leaves hooks for what is loaded later."""
    threading.Thread.start = _no_thread
    locks.install()
    for name in (
        "fork",
        "forkpty",
        "posix_spawn",
        "posix_spawnp",
        "system",
        "popen",
        "execv",
        "execve",
        "execvp",
        "spawnv",
    ):
        setattr(os, name, _no_process)
    for name, hook in _HOOKS.items():
        imports.after_import[name] = hook
        if name in sys.modules:
            hook(sys.modules[name])


def _no_thread(self, *args, **kwargs):
    raise RuntimeError(NO_THREADS)


def _no_process(*args, **kwargs):
    raise OSError(NO_PROCESSES)


def _no_network(*args, **kwargs):
    raise OSError(NO_NETWORK)


def _subprocess(module):
    module.Popen.__init__ = _no_process
    module.Popen.__del__ = lambda self: None


def _socket(module):
    class socket(module.socket):
        def __init__(self, *args, **kwargs):
            raise OSError(NO_NETWORK)

        def __del__(self):
            pass

    socket.__module__ = "socket"
    module.socket = module.SocketType = socket
    for name in ("create_connection", "create_server", "getaddrinfo", "gethostbyname", "gethostbyaddr", "socketpair"):
        setattr(module, name, _no_network)


def _http_client(module):
    """Without ssl there is no HTTPSConnection: one that refuses like the other."""
    if hasattr(module, "HTTPSConnection"):
        return

    class HTTPSConnection(module.HTTPConnection):
        default_port = module.HTTPS_PORT

        def __init__(self, host, port=None, *, context=None, **options):
            super().__init__(host, port, **options)

        connect = _no_network

    HTTPSConnection.__module__ = "http.client"
    HTTPSConnection.__qualname__ = "HTTPSConnection"
    module.HTTPSConnection = HTTPSConnection


def _urllib_request(module):
    if hasattr(module, "HTTPSHandler"):
        return

    class HTTPSHandler(module.AbstractHTTPHandler):
        def __init__(self, debuglevel=None, context=None, check_hostname=None):
            super().__init__(debuglevel)

        def https_open(self, request):
            return self.do_open(module.http.client.HTTPSConnection, request)

        https_request = module.AbstractHTTPHandler.do_request_

    HTTPSHandler.__module__ = "urllib.request"
    HTTPSHandler.__qualname__ = "HTTPSHandler"
    module.HTTPSHandler = HTTPSHandler


def _multiprocessing(module):
    module.BaseContext.Process = _no_process
    for name in ("Pool", "Manager", "Queue", "Pipe", "Lock", "Value", "Array"):
        setattr(module.BaseContext, name, _no_process)
    module.DefaultContext.Process = _no_process


def _thread_pool(module):
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
    module.ThreadPoolExecutor = InPlaceExecutor


def _process_pool(module):
    module.ProcessPoolExecutor.__init__ = _no_process


_HOOKS = {
    "subprocess": _subprocess,
    "socket": _socket,
    "http.client": _http_client,
    "urllib.request": _urllib_request,
    "multiprocessing.context": _multiprocessing,
    "concurrent.futures.thread": _thread_pool,
    "concurrent.futures.process": _process_pool,
}
