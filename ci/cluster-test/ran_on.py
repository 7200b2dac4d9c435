"""Where programs ran, as the audit of their gateway has it: on nodes, all but those that always run in a gateway."""

import json
from collections import Counter


def read(exported):
    """The events of `gristmill audit export`."""
    return [json.loads(line)["event"] for line in exported.splitlines()]


def ended_well(events):
    return [one for one in events if one["kind"] == "execution.ended" and one["outcome"] == "ok"]


def on_each(events):
    """How many programs ended well on each node, and without a name those in the gateway."""
    return Counter(event.get("node") for event in ended_well(events))


def judge_gateway(events, keeping=(), skill_tests=0):
    """What ran in a gateway and should not have. `keeping` are the sessions that keep variables, by their ids, and
    tests of skills were so many."""
    ended = ended_well(events)
    here = [one["execution"] for one in ended if "node" not in one and one.get("session") not in keeping]
    if len(here) <= skill_tests:
        return []
    expected = f", {skill_tests} of them tests of skills" if skill_tests else ""
    return [f"{len(here)} of {len(ended)} programs ran on no node{expected}: {', '.join(here[:5])}"]


def judge_nodes(names, counts):
    """Each must have had programs, and nobody else."""
    silent = [f"no program ran on {name}" for name in sorted(set(names) - counts.keys())]
    return silent + [f"programs ran on {name}" for name in sorted(counts.keys() - {None, *names})]


def shown(counts):
    return ", ".join(f"{count} {f'on {name}' if name else 'in the gateway'}" for name, count in counts.most_common())
