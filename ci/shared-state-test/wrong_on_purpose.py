"""The test of the test: what must not happen is made to happen, and whoever looks for it must find it."""

import copy
import random

from agreement import DATABASE, copy_of, judge_copies, judge_database, judge_history, judge_leading
from made_wrong import expect, finds, left
from verdict import ANSWERED, judge_bookings, judge_counters, judge_records, judge_recovery


def all_is_noticed(test, problems):
    expect("nothing is found where nothing is wrong", problems == [], problems)
    bookings(test)
    counters(test)
    records(test)
    copies(test)
    the_rest(test)
    left(test.cluster.gateways[0], test.cluster)
    print("the test of a shared state finds what it looks for")


def bookings(test):
    entries, fates = test.entries, test.load.bookings
    booked = next(one for one in entries if one["tool"] == "book" and fates[one["id"]] == ANSWERED)
    finds("a booking that was made twice", judge_bookings([*entries, booked], fates), "made twice")
    without = [one for one in entries if one is not booked]
    finds("a booking that was lost", judge_bookings(without, fates), "aren't in the journal")


def counters(test):
    key, counted = next((key, one) for key, one in test.load.counters.items() if len(one.seen) > 3)
    for what, change in [
        ("a count that is lost", lambda one: one.seen.append(one.seen[-2])),
        ("a program that counts twice", lambda one: one.seen.append(one.final + 1)),
        ("a count that is lost at the end", lambda one: setattr(one, "final", one.seen[0] - 1)),
    ]:
        changed = copy.deepcopy(counted)
        changed.seen = [value for value in changed.seen if value is not None]
        change(changed)
        finds(what, judge_counters({str(key): changed}), "the counter of")


def records(test):
    events, answered = test.audit, test.load.executions
    last = max(at for at, event in enumerate(events) if event["kind"] == "execution.ended")

    def judged(changed, heard=answered):
        return judge_records("gateway-1", changed, heard, was_killed=True)

    finds("a missing final record", judged(events[:last] + events[last + 1 :]), "no final record")
    finds("a second final record", judged([*events, events[last]]), "more than one final record")
    finds("an execution that isn't recorded", judged(events, {*answered, "never"}), "no final record")
    one = next(iter(answered))
    without = [each for each in test.history if each != one]
    finds("an execution that isn't in the history", judge_history(without, answered), "aren't in the history")


def copies(test):
    """On the disk of one that stands by."""
    gateway = next(one for one in test.cluster.gateways if one.name != test.leading)

    def judged():
        return judge_copies(test.leading, {**test.copies, gateway.name: copy_of(gateway.data)})

    expect("its copy is the same when all have ended", not_of_leaving(judged()) == [], judged())
    count = next(gateway.data.glob("sessions/*/workspace/count.txt"))
    text = count.read_bytes()
    count.write_bytes(text + b"1")
    finds("a file that differs", judged(), "has otherwise")
    count.unlink()
    finds("a file that is missing", judged(), "lacks")
    count.write_bytes(text)
    (count.parent / "more.txt").write_bytes(b"")
    finds("a file too much", judged(), "has too much")
    database = gateway.data / DATABASE
    content = bytearray(database.read_bytes())
    at = random.randrange(len(content) // 2, len(content))
    content[at] ^= 1
    database.write_bytes(content)
    finds("a database that differs by a bit", judged(), DATABASE)
    database.write_bytes(content[: len(content) // 2])
    finds("a database that isn't whole", judge_database(gateway.name, database), "is damaged")


def not_of_leaving(problems):
    """The others have ended since, which is on record."""
    return [problem for problem in problems if DATABASE not in problem and "audit.mark" not in problem]


def the_rest(test):
    [recovery, *_] = copy.deepcopy(test.mishaps.recoveries)
    recovery.first_seconds["counting"] = 999.0
    finds("answers that come too late", judge_recovery([recovery]), "the first of kind counting")
    recovery.first_seconds["counting"] = None
    finds("answers that never come", judge_recovery([recovery]), "no program of kind counting")
    names = [one["name"] for one in test.status["gateways"]]
    status = copy.deepcopy(test.status)
    for one in status["gateways"]:
        one["state"] = "leads"
    finds("two that lead", judge_leading(status, names), "not exactly one gateway leads")
    for one in status["gateways"]:
        one["state"] = "stands by"
    finds("nobody who leads", judge_leading(status, names), "not exactly one gateway leads")
    finds("a gateway that is gone", judge_leading(status, [*names, "gateway-9"]), "aren't there")
    moment = max(away.ended for away in test.cluster.away) + 1_000
    expect("a silence is held against it when nothing is away", not test.cluster.was_away(moment, moment + 1), moment)
