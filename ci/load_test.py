"""Many callers at once, good, failing, looping, flooding and hostile, over servers that hang and crash.

    python3 ci/load_test.py [--minutes N] [--callers N] [--seed N] [--binary FILE] [--json]
    python3 ci/load_test.py --self-test

`gristmill serve --http` must not crash, leave no process or descriptor behind, stay within a stated bound of
memory, and write exactly one final audit record for each execution. The times of the good programs are printed.
Ends with code 1 if anything of that doesn't hold. The self-test breaks each of these on purpose, and fails if one
goes unnoticed. The binary is --binary or GRISTMILL_BIN, or the one that
`cargo build -p gristmill-cli --bin gristmill` has made. Needs Linux.
"""

import argparse
import dataclasses
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import real_servers

sys.path.insert(0, str(Path(__file__).resolve().parent / "load-test"))

from gateway import PROGRAM_BYTES, Client, Gateway, Trouble
from judge import Bounds, Sample, judge_audit, judge_leaks, judge_memory, mb, percentile
from load import Load

# Before the first sample everything has run once: servers are connected, children are ready.
WARM_UP_SECONDS = 5
# What winds down after the load: calls that nobody waits for, servers that start again, children to spare.
IDLE_SECONDS_MAX = 60
GONE_SECONDS_MAX = 15
SELF_TEST_SECONDS, SELF_TEST_CALLERS = 6, 4


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--callers", type=int, default=32)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--binary", help="the gristmill to test")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if not sys.platform.startswith("linux"):
        print("NOT CHECKED: the load test reads /proc")
        return
    if arguments.binary:
        os.environ["GRISTMILL_BIN"] = arguments.binary
    gristmill = real_servers.binary()
    engine = real_servers.engine(gristmill)
    if arguments.self_test:
        self_test(gristmill, engine, arguments.seed)
        return
    test = LoadTest(gristmill, engine, arguments.callers, arguments.seed)
    try:
        problems = test.run(arguments.minutes * 60)
    finally:
        test.gateway.remove()
    figures = test.figures(problems)
    print(json.dumps(figures, indent=2) if arguments.json else table(figures))
    if problems:
        raise SystemExit(f"error: {len(problems)} problems (seed {arguments.seed})")


class LoadTest:
    def __init__(self, gristmill, engine, callers, seed):
        self.seed, self.seconds = seed, 0
        self.gateway = Gateway(gristmill, engine, callers)
        self.load = Load(self.gateway, callers, seed)
        self.bounds = Bounds.of(callers, PROGRAM_BYTES)
        self.before = self.after = Sample()
        self.events = []

    def run(self, seconds):
        """What didn't hold."""
        began = time.monotonic()
        self.load.run(min(WARM_UP_SECONDS, seconds))
        self.before = self.idle(Sample())
        self.load.run(seconds)
        self.after = self.idle(self.before)
        self.seconds = time.monotonic() - began
        problems = list(self.load.problems)
        problems += self.still_works()
        problems += judge_leaks(self.before, self.after)
        problems += judge_memory(self.before, self.after, self.load.peak, self.bounds)
        problems += self.end()
        return problems

    def idle(self, before):
        """A sample when nothing winds down any more: no more than before, or the same for a while."""
        until, same_since, last = time.monotonic() + IDLE_SECONDS_MAX, time.monotonic(), None
        while True:
            sample = self.gateway.sample()
            if (sample.descriptors, sample.processes) != last:
                same_since, last = time.monotonic(), (sample.descriptors, sample.processes)
            settled = time.monotonic() - same_since > 5 and not (
                before.processes and judge_leaks(before, sample)
            )
            if settled or time.monotonic() > until:
                return sample
            time.sleep(0.5)

    def still_works(self):
        client = Client(self.gateway.port, self.gateway.tokens[0])
        try:
            answer = client.call("execute_code", {"code": "result = 6 * 7"})
        except OSError as problem:
            return [f"after the load there is no answer: {problem!r}"]
        finally:
            client.close()
        result = answer.get("result", {}).get("structuredContent", {}).get("result")
        return [] if result == 42 else [f"after the load a program isn't run: {json.dumps(answer)[:500]}"]

    def end(self):
        """The gateway ends, and then what it has written down is looked at."""
        problems = []
        code = self.gateway.stop()
        if code != 0:
            problems.append(f"gristmill serve ended with code {code}: {self.gateway.said()}")
        problems += self.left_behind()
        try:
            self.gateway.command("audit", "verify")
            self.events = self.gateway.audit()
        except Trouble as problem:
            return [*problems, str(problem)]
        return problems + judge_audit(self.events, self.load.answered)

    def left_behind(self):
        until = time.monotonic() + GONE_SECONDS_MAX
        while left := self.gateway.processes():
            if time.monotonic() > until:
                return [f"processes outlived the gateway by {GONE_SECONDS_MAX} s: {left}"]
            time.sleep(0.1)
        return []

    def figures(self, problems):
        kinds = {}
        for kind in sorted({kind for kind, _ in self.load.outcomes}):
            counts = {outcome: count for (one, outcome), count in self.load.outcomes.items() if one == kind}
            seconds = self.load.seconds[kind]
            kinds[kind] = {"counts": counts, **times(seconds)}
        good = [one for kind in self.load.good_kinds for one in self.load.seconds[kind]]
        ended = sum(event["kind"] == "execution.ended" for event in self.events)
        return {
            "callers": len(self.load.callers),
            "seconds": round(self.seconds, 1),
            "seed": self.seed,
            "kinds": kinds,
            "good": {"count": len(good), **times(good)},
            "executions": {"answered": len(self.load.answered), "final_records": ended},
            "before": dataclasses.asdict(self.before),
            "peak": dataclasses.asdict(self.load.peak),
            "after": dataclasses.asdict(self.after),
            "bounds": dataclasses.asdict(self.bounds),
            "problems": problems,
        }


def times(seconds):
    shares = {"p50_ms": 0.5, "p99_ms": 0.99}
    found = {name: percentile(seconds, share) for name, share in shares.items()}
    return {name: None if value is None else round(value * 1000, 1) for name, value in found.items()}


def table(figures):
    lines = [f"{figures['callers']} callers, {figures['seconds']} s, seed {figures['seed']}", ""]
    lines.append(f"{'kind':<34}{'ok':>7}{'failed':>8}{'busy':>6}{'other':>7}{'p50 ms':>9}{'p99 ms':>9}")
    for kind, row in figures["kinds"].items():
        counts = dict(row["counts"])
        named = [counts.pop(name, 0) for name in ("ok", "failed", "busy")]
        numbers = "".join(f"{count:>{width}}" for count, width in zip(named, (7, 8, 6)))
        lines.append(f"{kind:<34}{numbers}{sum(counts.values()):>7}{shown(row['p50_ms'])}{shown(row['p99_ms'])}")
    good = figures["good"]
    lines.append(f"{'all good ones':<34}{good['count']:>7}{'':>21}{shown(good['p50_ms'])}{shown(good['p99_ms'])}")
    lines.append("")
    lines.append(f"{'':<34}{'before':>12}{'peak':>12}{'after':>12}{'bound':>12}")
    samples = [figures["before"], figures["peak"], figures["after"]]
    for name, words in (("gateway_bytes", "memory of the gateway"), ("all_bytes", "memory of all processes")):
        values = [mb(sample[name]) for sample in samples] + [mb(figures["bounds"][name])]
        lines.append(f"{words:<34}" + "".join(f"{value:>12}" for value in values))
    for name, words in (("descriptors", "descriptors of the gateway"), ("processes", "processes below it")):
        lines.append(f"{words:<34}" + "".join(f"{sample[name]:>12}" for sample in samples))
    executions = figures["executions"]
    lines.append("")
    lines.append(f"{executions['answered']} executions answered, {executions['final_records']} final audit records")
    lines += [f"problem: {problem}" for problem in figures["problems"]]
    return "\n".join(lines)


def shown(value):
    return f"{'-' if value is None else f'{value:,.1f}':>9}"


# The test of the test


def self_test(gristmill, engine, seed):
    """Each thing that must not happen is made to happen; whoever looks for it must find it."""
    test = LoadTest(gristmill, engine, SELF_TEST_CALLERS, seed)
    leaked = None
    try:
        problems = test.run(SELF_TEST_SECONDS)
        expect("nothing is found where nothing is wrong", problems == [], problems)
        # A process of the gateway's that is still there.
        leaked = subprocess.Popen(["sleep", "600"], env=test.gateway.variables, start_new_session=True)
        found = test.left_behind()
        expect("a process that is left behind is found", any(str(leaked.pid) in one for one in found), found)
        judged_audits(test)
        judged_samples(test)
    finally:
        if leaked is not None:
            leaked.kill()
            leaked.wait()
        test.gateway.remove()
    killed(gristmill, engine, seed)
    print("the load test finds what it looks for")


def judged_audits(test):
    events, answered = test.events, test.load.answered
    last = max(at for at, event in enumerate(events) if event["kind"] == "execution.ended")
    missing = judge_audit(events[:last] + events[last + 1 :], answered)
    expect("a missing final record is found", any("no final record" in one for one in missing), missing)
    twice = judge_audit([*events, events[last]], answered)
    expect("a second final record is found", any("more than one" in one for one in twice), twice)
    unknown = judge_audit(events, {*answered, "never-recorded"})
    expect("an execution that isn't recorded is found", any("never-recorded" in one for one in unknown), unknown)


def judged_samples(test):
    before = test.before
    more = dataclasses.replace(before, descriptors=before.descriptors + 100)
    expect("leaked descriptors are found", judge_leaks(before, more) != [], more)
    more = dataclasses.replace(before, processes=before.processes + 10)
    expect("leaked processes are found", judge_leaks(before, more) != [], more)
    large = dataclasses.replace(test.load.peak, gateway_bytes=1 << 40)
    expect("too much memory is found", judge_memory(before, before, large, test.bounds) != [], large)


def killed(gristmill, engine, seed):
    """A gateway that crashes under the load."""
    test = LoadTest(gristmill, engine, SELF_TEST_CALLERS, seed)
    try:
        test.load.run(1)
        test.gateway.process.kill()
        test.load.run(2)
        found = test.load.problems
        expect("a gateway that crashes is found", any("ended by itself" in one for one in found), found)
    finally:
        test.gateway.remove()


def expect(what, holds, seen):
    print(f"{'ok' if holds else 'FAILED'}: {what}", flush=True)
    if not holds:
        raise SystemExit(f"error: {what}: {seen}")


if __name__ == "__main__":
    main()
