"""The three host calls. The only module that names the component's imports.

Outside a component (in tests) the functions are replaced through `use`.
"""

try:
    from wit_world.imports import host as _host
except ImportError:
    _host = None


def start_call(kind, payload):
    return _host.start_call(kind, payload)


def wait_any(timeout_us):
    return _host.wait_any(timeout_us)


def cancel_call(call_id):
    _host.cancel_call(call_id)


def use(replacement):
    """Puts another host in place; returns the one it replaces."""
    global _host
    previous, _host = _host, replacement
    return previous
