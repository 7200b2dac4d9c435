"""A host in the same process: answers calls from a script, on a clock that never sleeps."""

import heapq
import itertools
import json
import time

from gristmill_guest import environment, everyday, exit_handlers, host, http_requests, loop, program, stdio, warm


class Completion:
    def __init__(self, call_id, ok, payload):
        self.id = call_id
        self.ok = ok
        self.payload = payload


class Raw(str):
    """An answer that goes to the guest as it is."""


class Refusal(Exception):
    """A failure with the details that the host tells."""

    def __init__(self, **details):
        super().__init__(details)
        self.details = details


class FakeHost:
    """Tools are functions from arguments to a value; `delay_ms` in the arguments delays them.

    `search` answers searches after `search_delay_ms`, `resource` the reading of resources, `skill` what
    is asked of skills, `analysis` what is analysed, `stats` what is asked of the history. `large_result` is what
    was handed over of a large result, in parts; `large_result_refusal` refuses it. `values` are what programs find as `state`.
    """

    def __init__(
        self, search=None, search_delay_ms=0, resource=None, skill=None, analysis=None, stats=None, privacy=None, **tools
    ):
        self.values = {}
        self._tools = tools
        self._search = search
        self._resource = resource
        self._skill = skill
        self._analysis = analysis
        self._stats = stats
        self._privacy = privacy
        self.large_result = []
        self.large_result_refusal = None
        self._search_delay_ms = search_delay_ms
        self._ids = itertools.count(1)
        self._due = []
        self.now = time.monotonic()
        self.started = []
        self.cancelled = []

    def start_call(self, kind, payload):
        # A part of a large result is no JSON by itself.
        request = payload if kind == "result" else json.loads(payload)
        call_id = next(self._ids)
        self.started.append((kind, request))
        try:
            ok, answer = True, self._answer(kind, request)
        except Refusal as refusal:
            ok, answer = False, refusal.details
        except Exception as error:
            ok, answer = False, {"message": str(error), "code": -32000, "tool": request["name"], "kind": "tool"}
        payload = answer if type(answer) is Raw else json.dumps(answer)
        heapq.heappush(self._due, (self.now + self._delay_ms(kind, request) / 1000, call_id, ok, payload))
        return call_id

    def _answer(self, kind, request):
        if kind == "state":
            return self._state(**request)
        if kind == "resource":
            return self._resource(request)
        if kind == "skill":
            return self._skill(request)
        if kind == "analyze":
            return self._analysis(request)
        if kind == "stats":
            return self._stats(request)
        if kind == "privacy":
            return self._privacy(request)
        if kind == "result":
            if self.large_result_refusal is not None:
                raise Refusal(**self.large_result_refusal)
            self.large_result.append(request)
            return None
        return self._search(request) if kind == "search" else self._tools[request["name"]](request["arguments"])

    def _state(self, do, key=None, value=None):
        if do == "get":
            return [self.values[key]] if key in self.values else []
        if do == "set":
            self.values[key] = value
        elif do == "delete":
            return self.values.pop(key, self) is not self
        elif do == "keys":
            return sorted(self.values)
        else:
            self.values.clear()
        return None

    def _delay_ms(self, kind, request):
        if kind in ("resource", "state", "skill", "analyze", "stats", "result", "privacy"):
            return 0
        return self._search_delay_ms if kind == "search" else request["arguments"].get("delay_ms", 0)

    def wait_any(self, timeout_us):
        until = float("inf") if timeout_us is None else self.now + timeout_us / 1e6
        if self._due and self._due[0][0] <= until:
            self.now = max(self.now, self._due[0][0])
        else:
            assert until != float("inf"), "the guest waits for ever although no call is under way"
            self.now = until
        done = []
        while self._due and self._due[0][0] <= self.now:
            _, call_id, ok, payload = heapq.heappop(self._due)
            done.append(Completion(call_id, ok, payload))
        return done

    def cancel_call(self, call_id):
        self.cancelled.append(call_id)
        self._due = [entry for entry in self._due if entry[1] != call_id]
        heapq.heapify(self._due)


def run(code, fake=None, context=None, result_bytes=100_000, result_depth=50, **more):
    """Runs a program as the component would, with captured streams; returns the outcome."""
    fake = fake or FakeHost()
    request = program.Request(code, json.dumps(context) if context else "", result_bytes, result_depth, **more)
    kept = warm.keep_state()
    previous = host.use(fake)
    loop.SandboxLoop.time = lambda self: fake.now
    try:
        prepared = program.Prepared(program.DEFAULT_FILENAME, stdio.nowhere(), in_workspace=False)
        return json.loads(program.run_with(request, prepared), parse_constant=_strict)
    finally:
        host.use(previous)
        warm.restore_state(kept)


class Session:
    """Programs that keep their variables, one after the other. Used with `with`."""

    def __init__(self, fake=None):
        self.host = fake or FakeHost()

    def __enter__(self):
        self._kept = warm.keep_state()
        self._previous = host.use(self.host)
        loop.SandboxLoop.time = lambda _: self.host.now
        program._live, program._ready, program._kept = stdio.nowhere(), None, None
        return self

    def __exit__(self, *_error):
        program._live = program._ready = program._kept = None
        host.use(self._previous)
        warm.restore_state(self._kept)

    def run(self, code, context=None, filename=""):
        told = program.run(code, json.dumps(context) if context else "", 100_000, 50, True, filename)
        return json.loads(told, parse_constant=_strict)

    def result(self, code, context=None):
        """What the program gives; it must not fail."""
        outcome = self.run(code, context)
        assert outcome["ok"], outcome
        return outcome["result"]


def _strict(constant):
    raise AssertionError(f"{constant} is not JSON")


def set_up_once():
    """What the image does at build time, as far as ordinary Python allows."""
    # The tests must not empty the environment of the process they run in.
    environment.set_variables = lambda: None
    environment.RECURSION_LIMIT = 1000
    loop.install()
    exit_handlers.install()
    everyday.install()
    http_requests.install()


set_up_once()
__all__ = ["FakeHost", "Raw", "Refusal", "Session", "run"]
