"""What must hold, as plain functions over what was seen: each gives a list of sentences, empty if all is well."""

from collections import Counter
from dataclasses import dataclass, field

from at_rest import tell
from judge import judge_audit

# The goal is 5 s: 3 s until a node is lost, and then the program itself, up to 2.5 s on a machine of its own.
# Twice that here, where everything shares two cores and nothing is optimized.
RECOVERY_SECONDS_MAX = 10
# The programs that an event has caught: lost after 3 s, and once again from their beginning.
CAUGHT_SECONDS_MAX = 15

# What became of a program that books.
ANSWERED, NAMED, NOT_NAMED, UNHEARD = "answered", "failed, and the booking named", "failed, not named", "never answered"


def judge_bookings(entries, bookings):
    """`entries` are the journal's; `bookings` says of each id that was sent what became of its program."""
    booked = Counter(entry["id"] for entry in entries if entry["tool"] == "book")
    problems = []
    tell(problems, "bookings were made twice", [one for one, count in booked.items() if count > 1])
    tell(problems, "bookings were made that nobody asked for", booked.keys() - bookings.keys())

    def of(fate):
        return {one for one, became in bookings.items() if became == fate}

    tell(problems, "bookings were acknowledged and aren't in the journal", of(ANSWERED) - booked.keys())
    hidden = of(NOT_NAMED) & booked.keys()
    tell(problems, "bookings were made by programs that failed and don't name them", hidden)
    return problems


@dataclass
class Counted:
    """One session's counter, as its only caller saw it."""

    # What each program said that was answered, and None for one that wasn't heard of any more.
    seen: list = field(default_factory=list)
    final: int | None = None


def judge_counters(counters):
    """Each program that was acknowledged counts once, and one that wasn't heard of at most once."""
    problems = []
    for name, counted in sorted(counters.items()):
        last, unheard = 0, 0
        for value in counted.seen:
            if value is None:
                unheard += 1
                continue
            if not last < value <= last + 1 + unheard:
                problems.append(wrong_count(name, value, last, unheard))
            last, unheard = value, 0
        # Whoever looks at the end doesn't count.
        if counted.final is None:
            problems.append(f"the counter of {name} can't be read at the end")
        elif not last <= counted.final <= last + unheard:
            problems.append(wrong_count(name, counted.final, last, unheard))
    return problems


def wrong_count(name, value, last, unheard):
    what = "counted too much" if value > last else "lost or repeated something"
    return f"the counter of {name} {what}: {value} after {last}, with {unheard} unheard programs between"


def judge_records(gateway, events, answered, was_killed):
    """Of one gateway. What was under way when it was killed is lost, unless somebody had its answer."""
    if was_killed:
        events = [forgiven(event, answered) for event in events]
    return [f"{gateway}: {problem}" for problem in judge_audit(events, answered)]


def forgiven(event, answered):
    is_lost = event.get("outcome") == "lost" and event["execution"] not in answered
    return {**event, "outcome": "lost with its gateway"} if is_lost else event


@dataclass
class Recovery:
    """How programs went on after an event."""

    event: str
    # From the event to the first answer to a program of each kind that was sent after it; None if none came.
    first_seconds: dict
    # And to the last answer of those that were under way.
    caught_seconds: float = 0.0
    first_seconds_max: float = RECOVERY_SECONDS_MAX
    caught_seconds_max: float = CAUGHT_SECONDS_MAX


def judge_recovery(recoveries):
    problems = []
    for at, one in enumerate(recoveries, 1):
        for kind, seconds in one.first_seconds.items():
            if seconds is None:
                problems.append(f"event {at}, {one.event}: no program of kind {kind} was answered after it")
            elif seconds > one.first_seconds_max:
                late = f"{seconds:.1f} s after it; at most {one.first_seconds_max} s"
                problems.append(f"event {at}, {one.event}: the first of kind {kind} was answered {late}")
        if one.caught_seconds > one.caught_seconds_max:
            late = f"{one.caught_seconds:.1f} s after it; at most {one.caught_seconds_max} s"
            problems.append(f"event {at}, {one.event}: a program that was under way was answered {late}")
    return problems


def judge_doctor(name, found, nodes, gateways):
    """`found` is what `gristmill doctor` says of the cluster; None stands for machines that one may not hear."""
    expected = {
        "state": "ok",
        "node": name,
        "nkey": True,
        "nodes": None if nodes is None else [{"name": node, "state": "ready"} for node in sorted(nodes)],
        "gateways": None if gateways is None else sorted(gateways),
    }
    said = {key: found.get(key) for key in expected} if found else None
    return [] if said == expected else [f"doctor at {name} says {said}, not {expected}"]
