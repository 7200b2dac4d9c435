"""What must hold, as plain functions over what was seen: each gives a list of sentences, empty if all is well."""

import json
import math
from collections import Counter
from dataclasses import dataclass

from programs import BUSY, CANARY

# The pool keeps children ready, and the store its connections: a few more or fewer are no leak.
DESCRIPTORS_MORE_MAX = 16
PROCESSES_MORE_MAX = 4
MB = 1 << 20


@dataclass
class Sample:
    """The gateway and what it has started, at one moment."""

    gateway_bytes: int = 0
    all_bytes: int = 0
    descriptors: int = 0
    processes: int = 0


def judge_answer(request, answer):
    """Whether it is busy, and what is wrong with it."""
    if CANARY in json.dumps(answer):
        return False, [f"{request.kind}: an answer holds the canary: {json.dumps(request.arguments)[:300]}"]
    if "result" not in answer:
        return False, [f"{request.kind}: {json.dumps(answer)[:500]}"]
    content = answer["result"].get("structuredContent", {})
    code = (content.get("error") or {}).get("code")
    if code in BUSY:
        return True, []
    shown = json.dumps(content)[:500]
    if code is None:
        if request.codes and not request.may_succeed:
            return False, [f"{request.kind}: succeeded: {shown}"]
        if request.result is not None and request.result != content.get("result"):
            return False, [f"{request.kind}: not {request.result!r}: {shown}"]
        return False, []
    if not any(code.startswith(expected) for expected in request.codes):
        return False, [f"{request.kind}: failed: {shown}"]
    if code.startswith("GM-4"):
        return False, [f"{request.kind}: an error of ours: {shown}"]
    return False, []


def judge_audit(events, answered):
    """`answered` are the ids of executions that callers have heard of."""
    begun = Counter(event["execution"] for event in events if event["kind"] == "execution.begun")
    ended = Counter(event["execution"] for event in events if event["kind"] == "execution.ended")
    problems = []

    def tell(what, executions):
        if executions:
            problems.append(f"{len(executions)} executions {what}, such as {sorted(executions)[0]}")

    tell("were answered and have no final record", set(answered) - set(ended))
    tell("began and have no final record", set(begun) - set(ended))
    tell("have more than one final record", {one for one, count in ended.items() if count > 1})
    tell("began more than once", {one for one, count in begun.items() if count > 1})
    tell("have a final record and never began", set(ended) - set(begun))
    lost = {event["execution"] for event in events if event.get("outcome") == "lost"}
    tell("were lost", lost)
    return problems


def judge_leaks(before, after):
    problems = []
    for name, most in (("descriptors", DESCRIPTORS_MORE_MAX), ("processes", PROCESSES_MORE_MAX)):
        first, last = getattr(before, name), getattr(after, name)
        if last > first + most:
            problems.append(f"{last} {name} after the load, {first} before it")
    return problems


def judge_memory(before, after, peak, bounds):
    problems = []
    if peak.gateway_bytes > bounds.gateway_bytes:
        problems.append(f"the gateway took {mb(peak.gateway_bytes)}; at most {mb(bounds.gateway_bytes)}")
    if peak.all_bytes > bounds.all_bytes:
        problems.append(f"all processes took {mb(peak.all_bytes)}; at most {mb(bounds.all_bytes)}")
    if after.gateway_bytes > before.gateway_bytes + bounds.kept_bytes:
        grown = f"{mb(before.gateway_bytes)} before the load, {mb(after.gateway_bytes)} after it"
        problems.append(f"the gateway has {grown}; at most {mb(bounds.kept_bytes)} may stay")
    return problems


@dataclass
class Bounds:
    gateway_bytes: int
    all_bytes: int
    # What the gateway may have more of when all is over than at the start.
    kept_bytes: int

    @staticmethod
    def of(callers, program_bytes):
        """A gateway within 512 MB; beside it a program for each caller, and servers."""
        gateway = 512 * MB
        return Bounds(gateway, gateway + callers * (program_bytes + 64 * MB) + 512 * MB, 128 * MB)


def mb(count):
    return f"{count / MB:,.0f} MB"


def percentile(values, share):
    """The smallest value that this share of all is no larger than."""
    ordered = sorted(values)
    if not ordered:
        return None
    # Rounded first: 0.07 of 100 is a little more than 7.
    return ordered[max(0, math.ceil(round(share * len(ordered), 6)) - 1)]
