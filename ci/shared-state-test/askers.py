"""Callers, each in a thread of its own, at any gateway's address: they send tasks, judge the answers, and note what
they heard.
"""

import contextlib
import json
import random
import select
import threading
import time
from collections import Counter, defaultdict

from callers import LOST, Answered, Unheard
from gateway import Client
from gateways import SERVER
from tasks import COUNTS, KINDS, NOTHING, Tasks, reading
from verdict import ANSWERED, NAMED, NOT_NAMED, UNHEARD, Counted

CALLERS_PER_KIND = 3
PROBLEMS_MAX = 40
PAUSE_SECONDS = (0.05, 0.3)
# After a request without an answer, and while nobody is there.
AWAY_SECONDS = 0.3
# Longer than a gateway has a request wait until somebody leads, and a program after that.
ANSWER_SECONDS_MAX = 30
READ_AT_ONCE = 30
READ_TRIES_MAX = 5

# The state wasn't safe when the program had ended.
NOT_SHARED = "GM-4006"
# Nothing ran: the gateway is on its way out, or the session still runs what nobody waits for any more.
BUSY = "GM-2001"
# A program whose call wasn't sent, as what led to it wasn't safe.
CALL_NOT_SENT = "the call wasn't sent: what was written isn't safe"
# A connection that was hung up in another thread has no parts any more.
HUNG_UP = (*LOST, AttributeError)


class Load:
    def __init__(self, cluster, seed):
        self.cluster, self.gateways = cluster, cluster.gateways
        self.lock, self.is_over = threading.Lock(), threading.Event()
        self.answers, self.counts, self.problems = [], Counter(), []
        self.under_way, self.bookings, self.counters = {}, {}, defaultdict(Counted)
        # By id, with what was answered.
        self.executions = set()
        chance = random.Random(seed)
        kinds = [kind for kind in KINDS for _ in range(CALLERS_PER_KIND)]
        self.askers = [Asker(self, number, kind, chance.random()) for number, kind in enumerate(kinds)]
        cluster.make_tokens([asker.name for asker in self.askers])

    def begin(self):
        self.threads = [threading.Thread(target=asker.run, daemon=True) for asker in self.askers]
        for thread in self.threads:
            thread.start()

    def end(self, seconds_max):
        self.is_over.set()
        until = time.monotonic() + seconds_max
        for asker, thread in zip(self.askers, self.threads):
            thread.join(max(0, until - time.monotonic()))
            if thread.is_alive():
                self.tell(f"{asker.name} still waits for an answer after {seconds_max} s")

    def read_back(self):
        """At the end: every counter, and every result that was acknowledged."""
        for asker in self.askers:
            try:
                asker.read_back()
            except (Unheard, KeyError, TypeError) as problem:
                self.tell(f"what {asker.name} has left can't be read at the end: {problem!r}")

    def hang_up(self, gateway):
        """As whoever spreads requests does when a gateway's health check fails."""
        for asker in self.askers:
            if asker.is_careful and (client := asker.clients.get((gateway.address, gateway.port))):
                client.close()

    def newest_results(self):
        """Of each caller that stores them, the last one that was acknowledged."""
        return [name for asker in self.askers for name in list(asker.kept)[-1:]]

    def tell(self, problem):
        with self.lock:
            if len(self.problems) < PROBLEMS_MAX:
                self.problems.append(problem)

    def count(self, kind, what):
        with self.lock:
            self.counts[kind, what] += 1


class Asker:
    """One caller. The first of each kind is careful: it keeps away from gateways that are frozen or cut off.

    Where gateways have networks of their own, the second one is near: it calls from their own machines, so that a
    gateway that is cut off hears it, and that is where it asks then.
    """

    def __init__(self, load, number, kind, seed):
        self.load, self.number, self.kind = load, number, kind
        at = number % CALLERS_PER_KIND
        self.name, self.is_careful = f"{kind}-{at + 1}", at == 0
        self.is_near = at == 1 and load.cluster.network is not None
        self.tasks, self.chance = Tasks(random.Random(seed)), random.Random(seed + 1)
        # Numbers that no two callers have.
        self.tasks.numbers = iter(range(number * 1_000_000 + 1, (number + 1) * 1_000_000))
        self.clients, self.kept = {}, {}
        # The large file as the last program left it; None if nobody can tell.
        self.left = NOTHING

    def run(self):
        try:
            while not self.load.is_over.is_set():
                self.one()
                time.sleep(self.chance.uniform(*PAUSE_SECONDS))
        except Exception as problem:
            self.load.tell(f"{self.name} gave up: {problem!r}")

    def one(self):
        there = self.there()
        if not there:
            time.sleep(AWAY_SECONDS)
            return
        task = getattr(self.tasks, self.kind)(self.kept if self.kind == "storing" else self.number)
        if task.booking is not None:
            self.load.bookings[task.booking] = UNHEARD
        sent, gateway = time.monotonic(), self.chance.choice(there)
        with self.load.lock:
            self.load.under_way[self.number] = sent
        try:
            content, execution = self.ask(gateway, task)
            code = (content.get("error") or {}).get("code")
            if code == NOT_SHARED:
                raise Unheard(json.dumps(content)[:300])
        except Unheard as problem:
            self.unheard(gateway, task, sent, problem)
            return
        is_ok = self.judge(gateway, task, content, execution, sent)
        with self.load.lock:
            self.load.under_way.pop(self.number, None)
            self.load.answers.append(Answered(task.kind, sent, time.monotonic(), is_ok))

    def there(self):
        """The gateways that it may ask now."""
        there = [one for one in self.load.gateways if one.port]
        silent = [one for one in there if one.is_silent]
        if self.is_near and silent:
            return silent
        return [one for one in there if not (self.is_careful and one.is_silent)]

    def ask(self, gateway, task):
        """What was answered, and the id of its execution."""
        arguments = {"code": task.code, **task.arguments}
        if task.session is not None:
            arguments["session"] = task.session
        try:
            answer = self.client(gateway).call("execute_code", arguments)
        except HUNG_UP as problem:
            raise Unheard(repr(problem)) from problem
        result = answer.get("result", {})
        none = {"error": {"code": "none", "message": json.dumps(answer)[:300]}}
        return result.get("structuredContent", none), result.get("_meta", {}).get("gristmill/execution")

    def client(self, gateway):
        """As clients do, it keeps its connection, unless that was closed meanwhile."""
        address, port = gateway.address, gateway.port
        if (address, port) not in self.clients:
            within = gateway.host.entered if self.is_near else contextlib.nullcontext
            token = self.load.cluster.tokens[self.name]
            self.clients[address, port] = Client(port, token, ANSWER_SECONDS_MAX, address, within)
        client = self.clients[address, port]
        connection = client.connection
        if connection is not None and connection.sock is not None and select.select([connection.sock], [], [], 0)[0]:
            client.close()
        return client

    def unheard(self, gateway, task, sent, problem):
        """Right only if something was away meanwhile."""
        until = time.monotonic()
        time.sleep(AWAY_SECONDS)
        took = until - sent
        what = f"{self.name} at {gateway.name}: no answer after {took:.1f} s: {problem}"
        self.load.cluster.note(what)
        if took > ANSWER_SECONDS_MAX or not self.load.cluster.was_away(sent, until):
            self.load.tell(what)
        if task.session is not None:
            self.note_counts(None)
        with self.load.lock:
            self.load.under_way.pop(self.number, None)
        self.load.count(task.kind, "not shared" if NOT_SHARED in str(problem) else "unheard")

    def note_counts(self, counts):
        for what in ("file", "state"):
            self.load.counters[self.name, what].seen.append(counts and counts.get(what, 0))
        self.left = counts and counts.get("left")

    def judge(self, gateway, task, content, execution, sent):
        """Whether it went well."""
        is_ok = content.get("status") == "ok"
        if is_ok:
            self.judge_success(gateway, task, content)
        elif not self.judge_failure(gateway, task, content, sent):
            # Nothing ran, and nothing has to be on record.
            return False
        with self.load.lock:
            self.load.executions.add(execution)
        self.load.count(task.kind, "ok" if is_ok else "failed")
        return is_ok

    def judge_success(self, gateway, task, content):
        if unkept := [note for note in content.get("notes", []) if "isn't kept" in note]:
            self.load.tell(f"{task.kind} at {gateway.name}: it is ok, and its files aren't kept: {unkept}")
        result = content.get("result")
        if task.booking is not None:
            self.load.bookings[task.booking] = ANSWERED
        if task.session is not None:
            if self.left is not None and result["found"] != self.left:
                self.load.tell(f"{self.name} at {gateway.name}: the large file isn't as its last program left it")
            self.note_counts(result)
        elif task.stores is not None:
            if (handle := content.get(task.handle)) is None:
                self.load.tell(f"{task.kind} at {gateway.name}: no {task.handle}: {json.dumps(content)[:500]}")
                return
            end = "txt" if task.handle == "output_handle" else "json"
            self.kept[f"{handle}.{end}"] = task.stores
        elif result != task.result:
            self.load.tell(f"{task.kind} at {gateway.name}: not {task.result!r}: {json.dumps(content)[:500]}")

    def judge_failure(self, gateway, task, content, sent):
        """Whether it ran. Only what was refused may fail, or a call that wasn't sent, while something is away."""
        error, until = content.get("error") or {}, time.monotonic()
        code = error.get("code")
        is_named = any(f"{SERVER}.book" in call for call in content.get("tools_called", []))
        if task.booking is not None:
            self.load.bookings[task.booking] = NAMED if is_named else NOT_NAMED
        if code == BUSY and self.load.cluster.was_away(sent - ANSWER_SECONDS_MAX, until):
            self.load.count(task.kind, "refused")
            return False
        if CALL_NOT_SENT in error.get("message", "") and self.load.cluster.was_away(sent, until):
            return True
        self.load.tell(f"{task.kind} at {gateway.name}: failed: {json.dumps(content)[:600]}")
        return code != BUSY

    # At the end

    def read_back(self):
        if self.kind == "counting":
            counts = self.asked_until_answered({"code": COUNTS, "session": f"counts-{self.number}"})
            for what in ("file", "state"):
                self.load.counters[self.name, what].final = counts[what]
        names = sorted(self.kept)
        for first in range(0, len(names), READ_AT_ONCE):
            task = reading({name: self.kept[name] for name in names[first : first + READ_AT_ONCE]})
            if wrong := self.asked_until_answered({"code": task.code, **task.arguments}):
                some = sorted(wrong.items())[:3]
                self.load.tell(f"{len(wrong)} results of {self.name} are gone or changed at the end, such as {some}")

    def asked_until_answered(self, arguments):
        """What a program gives that changes nothing."""
        for _ in range(READ_TRIES_MAX):
            try:
                answer = self.client(self.chance.choice(self.load.gateways)).call("execute_code", arguments)
            except HUNG_UP as problem:
                raise Unheard(repr(problem)) from problem
            result = answer.get("result", {})
            content = result.get("structuredContent", {})
            if content.get("status") == "ok":
                self.load.executions.add(result["_meta"]["gristmill/execution"])
                return content["result"]
            time.sleep(1)
        raise Unheard(json.dumps(answer)[:500])
