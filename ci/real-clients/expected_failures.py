"""What the conformance suite found, against what it is expected to find.

A check is named `scenario:check`. A warning counts as a failure here: each has its reason, too.
"""

import json
import re
import tomllib
from pathlib import Path

# Of a check that a scenario makes more than once, the worst counts.
WORST_FIRST = ("FAILURE", "WARNING", "SUCCESS", "SKIPPED", "INFO")
FAILING = ("FAILURE", "WARNING")

RAN = re.compile(r"^=== Running scenario: (\S+) ===$", re.MULTILINE)


def read_expected(path, revision):
    """`{check: reason}` of one revision of the protocol."""
    return tomllib.loads(Path(path).read_text())[revision]


def read_found(output, folder):
    """`{check: (status, message)}` from what a run printed and from the folder that it filled."""
    found = {}
    for scenario in RAN.findall(output):
        # A folder's name goes on with the time: server-ping-2026-….
        paths = [*Path(folder).glob(f"server-{scenario}-2[0-9][0-9][0-9]-*/checks.json")]
        if len(paths) != 1:
            found[f"{scenario}:ran"] = ("FAILURE", "the scenario did not run to its end")
            continue
        for check in json.loads(paths[0].read_text()):
            name = f"{scenario}:{check['id']}"
            told = (check["status"], check.get("errorMessage") or "")
            found[name] = worse(found.get(name), told)
    return found


def worse(one, other):
    if one is None:
        return other
    return min(one, other, key=lambda told: WORST_FIRST.index(told[0]))


def complaints(expected, found):
    """What is not as expected, as lines for a person."""
    if not found:
        return ["nothing was checked"]
    lines = []
    for name, (status, message) in sorted(found.items()):
        if status in FAILING and name not in expected:
            lines.append(f"fails: {name}: {message}")
        if status == "SUCCESS" and name in expected:
            lines.append(f"passes by now, so take it out of the list: {name}")
    for name, reason in sorted(expected.items()):
        if not reason.strip():
            lines.append(f"has no reason: {name}")
        if found.get(name, ("SKIPPED", ""))[0] in ("SKIPPED", "INFO"):
            lines.append(f"was not checked, so take it out of the list: {name}")
    return lines
