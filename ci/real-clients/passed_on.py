"""Whether tests really went by way of a gateway that stood by: functions that give what speaks against it, in sentences."""

import json
import re
import unittest

LEADING, STANDING_BY = "gateway-1", "gateway-2"
# What they say of the lead.
LEADS = "this gateway leads the shared state"
STANDS_BY = f"standing by: {LEADING} leads, and requests are passed on to it"
# In the log of the one that leads.
PASSED_ON = re.compile(rf"a connection was passed on from={STANDING_BY}\b")
LEFT_OUT = "only connections over HTTP are passed on"
# Fewer in all would mean that something isn't passed on any more.
TESTS_MIN = 200


def judge_pair(said, status):
    """What shows that the lead changed hands: in what both have said, and in how a third one sees them at the end."""
    problems = []
    for name, expected in ((LEADING, LEADS), (STANDING_BY, STANDS_BY)):
        lines = [line for line in said[name].splitlines() if is_about_the_lead(line)]
        if lines != [expected]:
            problems.append(f"{name} was to say of the lead only {expected!r}, and said {lines}")
    states = {one["name"]: one.get("state") for one in status["gateways"]}
    if states != {LEADING: "leads", STANDING_BY: "stands by"}:
        problems.append(f"at the end the gateways are {json.dumps(states)}")
    return problems


def is_about_the_lead(line):
    # Which it says in the beginning, before it has heard of anybody.
    return re.search(r"\b(leads?|standing by)\b", line) and "until it's clear who leads" not in line


def connections(log):
    """How many the one that leads served for the other one."""
    return len(PASSED_ON.findall(log))


def judge_connections(count):
    return [] if count else [f"{LEADING} served nothing that {STANDING_BY} had passed on"]


def leave_out_others(tests):
    """Has those skipped that don't connect over HTTP. The classes of the rest."""
    classes = {type(test) for test in each(tests)}
    for one in classes:
        if getattr(one, "transport", None) == "stdio":
            unittest.skip(LEFT_OUT)(one)
    return {one for one in classes if getattr(one, "transport", None) == "http"}


def each(tests):
    """The tests of a suite, and of those in it."""
    if not isinstance(tests, unittest.TestSuite):
        return [tests]
    return [test for some in tests for test in each(some)]


def judge_run(passed, pairs, classes, is_whole):
    """What shows that something wasn't passed on: `passed` are tests over HTTP that were done, of so many classes, and
    `pairs` those that were as they must be.
    """
    problems = []
    if pairs != classes:
        problems.append(f"{pairs} pairs of gateways were used, and {classes} classes of tests were to have one each")
    least = TESTS_MIN if is_whole else 1
    if passed < least:
        problems.append(f"only {passed} tests went by way of a gateway that stands by (at least {least} must)")
    return problems
