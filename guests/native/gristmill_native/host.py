"""The worker's functions, in the shape of the guest's host calls."""

import collections

Completion = collections.namedtuple("Completion", "id ok payload")

# Put in place by `bootstrap`: start_call, wait_any, cancel_call, output and leave.
functions = None


def start_call(kind, payload):
    return functions["start_call"](kind, payload)


def wait_any(timeout_us):
    return [Completion(*told) for told in functions["wait_any"](timeout_us)]


def cancel_call(call_id):
    functions["cancel_call"](call_id)


def output(stream, data):
    functions["output"](stream, data)


def leave(code=0):
    """Ends the process at once; the gateway is told that the program did so itself."""
    functions["leave"]()
