"""Callers, each in a thread of its own: they send programs, judge the answers, and note what they heard."""

import http.client
import json
import random
import threading
import time
from collections import Counter, defaultdict
from dataclasses import dataclass

from gateways import SERVER
from jobs import COUNT, KINDS, NODE_LOST, Jobs, digest
from verdict import ANSWERED, NAMED, NOT_NAMED, UNHEARD, Counted

# Of each kind: one that begins at each gateway.
CALLERS_PER_KIND = 2
PROBLEMS_MAX = 30
PAUSE_SECONDS = 0.05
FOLLOW_SECONDS = 0.3
# What no program takes, also when it's caught twice.
FOLLOWED_SECONDS_MAX = 60
AWAY_SECONDS = 0.2


class Unheard(Exception):
    """There is no answer."""


@dataclass
class Answered:
    kind: str
    sent: float
    at: float
    is_ok: bool


class Load:
    def __init__(self, cluster, seed):
        self.cluster, self.gateways = cluster, cluster.gateways
        self.lock, self.is_over = threading.Lock(), threading.Event()
        self.answers, self.counts, self.problems, self.notes = [], Counter(), [], Counter()
        self.under_way, self.bookings, self.counters = {}, {}, defaultdict(Counted)
        self.executions = {gateway.name: set() for gateway in self.gateways}
        chance = random.Random(seed)
        self.callers = [
            Caller(self, number, make, Jobs(random.Random(chance.random())))
            for number, make in enumerate(kind for kind in KINDS for _ in range(CALLERS_PER_KIND))
        ]
        # Numbers that no two callers have.
        for caller in self.callers:
            caller.jobs.numbers = iter(range(caller.number * 1_000_000 + 1, (caller.number + 1) * 1_000_000))
            for gateway in self.gateways:
                gateway.token(caller.name)

    def begin(self):
        self.threads = [threading.Thread(target=caller.run, daemon=True) for caller in self.callers]
        for thread in self.threads:
            thread.start()

    def end(self, seconds_max):
        self.is_over.set()
        until = time.monotonic() + seconds_max
        for thread in self.threads:
            thread.join(max(0, until - time.monotonic()))
        for caller, thread in zip(self.callers, self.threads):
            if thread.is_alive():
                self.tell(f"{caller.name} still waits for an answer after {seconds_max} s")
        self.read_counters()

    def read_counters(self):
        for (gateway_name, session, token), counted in self.counters.items():
            gateway = next(one for one in self.gateways if one.name == gateway_name)
            try:
                answer = gateway.client(token).call("execute_code", {"code": COUNT, "session": session})
                counted.final = self.content_of(gateway, answer).get("result")
            except LOST as problem:
                self.tell(f"the counter of {session} at {gateway_name} can't be read: {problem!r}")

    def content_of(self, gateway, answer):
        result = answer.get("result", {})
        execution = result.get("_meta", {}).get("gristmill/execution")
        if execution is not None:
            with self.lock:
                self.executions[gateway.name].add(execution)
        return result.get("structuredContent", {"error": {"code": "none", "message": json.dumps(answer)[:300]}})

    def tell(self, problem):
        with self.lock:
            if len(self.problems) < PROBLEMS_MAX:
                self.problems.append(problem)

    def note(self, caller, answered):
        with self.lock:
            self.under_way.pop(caller.number, None)
            self.answers.append(answered)


# A connection that ended, before the answer or in the middle of it.
LOST = (OSError, http.client.HTTPException, ValueError, IndexError)


class Caller:
    def __init__(self, load, number, make, jobs):
        self.load, self.number, self.make, self.jobs = load, number, make, jobs
        self.name = f"caller-{number}"
        # The others are for when the first isn't there.
        first = number % len(load.gateways)
        self.gateways = load.gateways[first:] + load.gateways[:first]
        self.client, self.port = None, None

    def run(self):
        try:
            while not self.load.is_over.is_set():
                self.one()
                time.sleep(PAUSE_SECONDS)
        except Exception as problem:
            self.load.tell(f"{self.name} gave up: {problem!r}")

    def one(self):
        gateway = next((one for one in self.gateways if one.port is not None), None)
        if gateway is None:
            time.sleep(AWAY_SECONDS)
            return
        if gateway.port != self.port:
            self.client, self.port = gateway.client(self.name), gateway.port
        job = self.make(self.jobs, self.number)
        if job.booking is not None:
            self.load.bookings[job.booking] = UNHEARD
        sent = time.monotonic()
        with self.load.lock:
            self.load.under_way[self.number] = sent
        try:
            content = self.answer(gateway, job, sent)
        except Unheard as problem:
            self.unheard(gateway, job, sent, problem)
            return
        is_ok = self.judge(gateway, job, content, sent)
        self.load.note(self, Answered(job.kind, sent, time.monotonic(), is_ok))

    def answer(self, gateway, job, sent):
        arguments = {"code": job.code, **job.arguments}
        if job.session is not None:
            arguments["session"] = job.session
        content = self.call(gateway, "execute_code", arguments)
        if not job.is_followed:
            return content
        seen, identifier, is_wrong = "", content.get("id"), False
        while content.get("status") == "running":
            if time.monotonic() > sent + FOLLOWED_SECONDS_MAX:
                raise Unheard(f"it still runs after {FOLLOWED_SECONDS_MAX} s")
            content = self.call(gateway, "get_execution", {"id": identifier, "wait_s": FOLLOW_SECONDS})
            shown = content.get("output", "")
            # One that runs again begins again here, too.
            if not job.output.startswith(shown) and not is_wrong:
                is_wrong = True
                self.load.tell(f"{job.kind}: while it ran, {shown[-200:]!r} was shown, which it never printed")
            with self.load.lock:
                self.load.counts["shown while they ran"] += bool(shown) and shown != seen
            seen = shown
        return content

    def call(self, gateway, tool, arguments):
        try:
            return self.load.content_of(gateway, self.client.call(tool, arguments))
        except LOST as problem:
            raise Unheard(repr(problem)) from problem

    def unheard(self, gateway, job, sent, problem):
        """Right only if the gateway was killed meanwhile."""
        # A connection ends before whoever killed its gateway has noted it.
        time.sleep(AWAY_SECONDS)
        if not gateway.was_away_since(sent):
            self.load.tell(f"{job.kind} at {gateway.name}: no answer: {problem}")
        if job.session is not None:
            self.counted(gateway, job).seen.append(None)
        self.client, self.port = None, None
        with self.load.lock:
            self.load.under_way.pop(self.number, None)
            self.load.counts[job.kind, "unheard"] += 1

    def counted(self, gateway, job):
        return self.load.counters[gateway.name, job.session, self.name]

    def judge(self, gateway, job, content, sent):
        """Whether it went well."""
        is_ok = content.get("status") == "ok"
        ran_again = sum("was lost; the program had changed nothing" in note for note in content.get("notes", []))
        with self.load.lock:
            self.load.counts[job.kind, "ok" if is_ok else "failed"] += 1
            self.load.counts[job.kind, "ran again"] += ran_again > 0
        if is_ok:
            self.judge_success(gateway, job, content)
        else:
            self.judge_failure(job, content, sent)
        return is_ok

    def judge_success(self, gateway, job, content):
        if unkept := [note for note in content.get("notes", []) if "isn't kept" in note]:
            self.load.tell(f"{job.kind} at {gateway.name}: it is ok, and its files aren't kept: {unkept}")
        if job.booking is not None:
            self.load.bookings[job.booking] = ANSWERED
        if job.session is not None:
            # What is no number is no count either.
            self.counted(gateway, job).seen.append(content.get("result") or 0)
        elif content.get("result") != job.result:
            self.load.tell(f"{job.kind}: not {job.result!r}: {json.dumps(content)[:500]}")
        if job.output is not None and not has_printed(gateway, content, job.output):
            self.load.tell(f"{job.kind}: not what it printed: {json.dumps(content)[:500]}")

    def judge_failure(self, job, content, sent):
        """Only what has booked may fail, and only with its node."""
        code = (content.get("error") or {}).get("code")
        is_named = any(f"{SERVER}.book" in call for call in content.get("tools_called", []))
        if job.booking is not None:
            self.load.bookings[job.booking] = NAMED if is_named else NOT_NAMED
        is_right = job.booking is not None and is_named and code == NODE_LOST and self.load.cluster.may_have_lost(sent)
        if not is_right:
            self.load.tell(f"{job.kind}: failed: {json.dumps(content)[:600]}")


def has_printed(gateway, content, output):
    """As the answer shows it, or as it's kept if it is too long."""
    handle = content.get("output_handle")
    if handle is None:
        return content.get("output") == output
    kept = list((gateway.data / "results").glob(f"*/{handle}.txt"))
    return len(kept) == 1 and digest(kept[0].read_text()) == digest(output)
