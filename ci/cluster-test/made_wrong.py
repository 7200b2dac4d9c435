"""The test of the test: what must not happen is made to happen, and whoever looks for it must find it."""

import copy
import subprocess
import time
from pathlib import Path

from at_rest import judge_idle, judge_left
from verdict import ANSWERED, NOT_NAMED, judge_bookings, judge_counters, judge_doctor, judge_records, judge_recovery


def all_is_noticed(test, problems):
    expect("nothing is found where nothing is wrong", problems == [], problems)
    bookings(test)
    counters(test)
    records(test)
    the_rest(test)
    left(test.cluster.nodes[0], test.cluster)
    print("the cluster test finds what it looks for")


def bookings(test):
    entries, fates = test.entries, test.load.bookings
    booked = next(one for one in entries if one["tool"] == "book" and fates[one["id"]] == ANSWERED)
    finds("a booking that was made twice", judge_bookings([*entries, booked], fates), "made twice")
    without = [one for one in entries if one is not booked]
    finds("a booking that was lost", judge_bookings(without, fates), "aren't in the journal")
    finds("a booking of nobody", judge_bookings([*entries, {**booked, "id": "never"}], fates), "nobody asked for")
    hidden = {**fates, booked["id"]: NOT_NAMED}
    finds("a booking that a failure hides", judge_bookings(entries, hidden), "don't name them")


def counters(test):
    name, seen = next((key, one) for key, one in test.load.counters.items() if len(one.seen) > 3 and None not in one.seen)
    for what, change in [
        ("a counter that goes back", lambda one: one.seen.__setitem__(-1, one.seen[-2])),
        ("a program that counts twice", lambda one: one.seen.__setitem__(-1, one.seen[-1] + 1)),
        ("a counter that is lost at the end", lambda one: setattr(one, "final", one.final - 1)),
    ]:
        changed = copy.deepcopy(seen)
        change(changed)
        finds(what, judge_counters({str(name): changed}), "the counter of")


def records(test):
    gateway = test.cluster.gateways[0]
    events, answered = test.audits[gateway.name], test.load.executions[gateway.name]
    last = max(at for at, event in enumerate(events) if event["kind"] == "execution.ended")

    def judged(changed, heard=answered):
        return judge_records(gateway.name, changed, heard, gateway.was_killed)

    finds("a missing final record", judged(events[:last] + events[last + 1 :]), "no final record")
    finds("a second final record", judged([*events, events[last]]), "more than one final record")
    finds("an execution that isn't recorded", judged(events, {*answered, "never"}), "no final record")


def the_rest(test):
    [recovery, *_] = copy.deepcopy(test.events.recoveries)
    recovery.first_seconds["computing"] = 999.0
    finds("programs that go on too late", judge_recovery([recovery]), "the first of kind computing")
    recovery.first_seconds["computing"] = None
    finds("programs that never go on", judge_recovery([recovery]), "no program of kind computing")
    status = copy.deepcopy(test.status)
    status["nodes"][0]["places_used"] = 1
    nodes, gateways = ([one["name"] for one in status[key]] for key in ("nodes", "gateways"))
    finds("a node that keeps a place", judge_idle(status, nodes, gateways), "nodes aren't idle")
    one = {"state": "ok", "node": "a", "nkey": True, "nodes": [{"name": "b", "state": "ready"}], "gateways": None}
    finds("a node that doctor doesn't name", judge_doctor("a", one, ["b", "c"], None), "doctor at a")
    finds("a node that is gone", judge_idle(status, [*nodes, "node-9"], gateways), "aren't ready")


def left(machine, cluster):
    """A process of a machine's that is still there."""
    process = subprocess.Popen(["sleep", "600"], env=machine.variables, start_new_session=True)
    try:
        # It is begun before its command line can be read.
        while not Path(f"/proc/{process.pid}/environ").read_bytes():
            time.sleep(0.01)
        finds("a process that is left", judge_left(cluster.left_after(0.2)), str(process.pid))
    finally:
        process.kill()
        process.wait()


def finds(what, problems, word):
    expect(f"{what} is found", any(word in problem for problem in problems), problems)


def expect(what, holds, seen):
    print(f"{'ok' if holds else 'FAILED'}: {what}", flush=True)
    if not holds:
        raise SystemExit(f"error: {what}: {seen}")
