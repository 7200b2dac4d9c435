"""Callers, each in a thread of its own, until the time is over; and someone who looks on."""

import http.client
import random
import threading
import time
from collections import Counter, defaultdict

from gateway import Client
from judge import Sample, judge_answer
from programs import Caller

# Enough to see what is wrong; the rest is more of the same.
PROBLEMS_MAX = 20
SAMPLE_SECONDS = 0.5
# A caller that was told to come back later, or not answered.
BUSY_SECONDS = 0.2


class Load:
    def __init__(self, gateway, callers, seed):
        self.gateway, self.lock = gateway, threading.Lock()
        self.until, self.has_crashed = 0, False
        self.seconds = defaultdict(list)
        self.outcomes, self.problems, self.answered = Counter(), [], set()
        self.good_kinds, self.peak = set(), Sample()
        chances = random.Random(seed)
        self.callers = [Caller(number, random.Random(chances.random())) for number in range(callers)]

    def run(self, seconds):
        self.until = time.monotonic() + seconds
        threads = [threading.Thread(target=self.call, args=(caller,)) for caller in self.callers]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            self.look()
            time.sleep(SAMPLE_SECONDS)

    def look(self):
        sample = self.gateway.sample()
        for name in ("gateway_bytes", "all_bytes", "descriptors", "processes"):
            setattr(self.peak, name, max(getattr(self.peak, name), getattr(sample, name)))
        if self.gateway.process.poll() is not None and not self.has_crashed:
            said = f"the gateway ended by itself with code {self.gateway.process.returncode}"
            # Before all that follows from it.
            with self.lock:
                self.problems.insert(0, said)
            self.has_crashed, self.until = True, 0

    def call(self, caller):
        client = Client(self.gateway.port, self.gateway.tokens[caller.number])
        try:
            while time.monotonic() < self.until:
                self.one(client, caller.next_request())
        except Exception as problem:
            self.tell(f"a caller gave up: {problem!r}")
        finally:
            client.close()

    def one(self, client, request):
        if request.hangs_up:
            client.hang_up(request.tool, request.arguments)
            return self.count(request, "hung up")
        # From the first attempt on: who must come back later waits as well.
        began = time.monotonic()
        while True:
            try:
                answer = client.call(request.tool, request.arguments)
            except (OSError, http.client.HTTPException) as problem:
                self.tell(f"{request.kind}: no answer: {problem!r}")
                time.sleep(BUSY_SECONDS)
                return self.count(request, "no answer")
            seconds = time.monotonic() - began
            execution = answer.get("result", {}).get("_meta", {}).get("gristmill/execution")
            is_busy, problems = judge_answer(request, answer)
            with self.lock:
                if execution is not None:
                    self.answered.add(execution)
            if not is_busy:
                break
            self.count(request, "busy")
            time.sleep(BUSY_SECONDS)
        for problem in problems:
            self.tell(problem)
        failed = answer.get("result", {}).get("isError", True)
        with self.lock:
            self.seconds[request.kind].append(seconds)
            if request.is_good:
                self.good_kinds.add(request.kind)
        return self.count(request, "wrong" if problems else "failed" if failed else "ok")

    def count(self, request, outcome):
        with self.lock:
            self.outcomes[request.kind, outcome] += 1

    def tell(self, problem):
        with self.lock:
            if len(self.problems) < PROBLEMS_MAX:
                self.problems.append(problem)
