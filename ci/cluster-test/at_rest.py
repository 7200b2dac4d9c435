"""What must hold when nobody asks for anything any more: functions that give what doesn't, in sentences."""


def judge_idle(status, nodes, gateways):
    """When nobody asks for anything any more."""
    problems = []
    ready = {node["name"] for node in status["nodes"] if node["state"] == "ready"}
    tell(problems, "nodes aren't ready at the end", set(nodes) - ready)
    tell(problems, "gateways aren't there at the end", set(gateways) - {one["name"] for one in status["gateways"]})
    tell(problems, "nodes aren't idle at the end", {one["name"] for one in status["nodes"] if one["places_used"]})
    busy = {one["name"] for one in status["gateways"] if one["on_nodes"] or one["waiting"]}
    tell(problems, "gateways aren't idle at the end", busy)
    return problems


def judge_left(processes):
    return [f"process {pid} is left at the end: {line.strip()}" for pid, line in sorted(processes.items())]


def tell(problems, what, which):
    if which:
        problems.append(f"{len(which)} {what}, such as {sorted(which)[0]}")
