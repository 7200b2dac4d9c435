"""Clear refusals for what a sandbox without processes and sockets cannot do.

The modules stay importable, since half the standard library imports them; only the
act itself fails, and says what to do instead. Threads, pools and multiprocessing run
their work in place.
"""

import os
import sys

from gristmill_guest import imports, locks, processes_in_place, threads_in_place

NO_PROCESSES = "the sandbox has no processes; call a tool with callMCPTool, or do the work in Python"
NO_NETWORK = (
    "the sandbox has no network; call a tool with callMCPTool, or await http.get(url) for hosts that the user allows"
)


def install():
    """Patches what is loaded, and leaves hooks for what is loaded later."""
    locks.install()
    threads_in_place.install_threading()
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


_HOOKS = {
    "subprocess": _subprocess,
    "socket": _socket,
    "http.client": _http_client,
    "urllib.request": _urllib_request,
    "multiprocessing.context": processes_in_place.install,
    "multiprocessing.pool": processes_in_place.install_pool,
    "concurrent.futures.thread": threads_in_place.install_pool,
    "concurrent.futures.process": processes_in_place.install_executor,
}
