"""What it costs that a program runs on a node: the same one in the gateway and on a node, by turns."""

import json
import statistics
import threading
import time

from gateways import Cluster

PROGRAM = {"code": "1 + 1"}
WARM_UP, ROUNDS, PROGRAMS = 30, 10, 60
CALLERS, SECONDS = 4, 2.0
# By the name of the token that it comes with.
RULE = """run = "here"

[[cluster.place]]
tokens = ["nodes-*"]
run = "nodes"
"""
GOAL_MS = 1.0
PLACES = ("here", "nodes")


def compare(gristmill, engine, nats_server, is_json):
    cluster = Cluster(gristmill, engine, nats_server, 1, 1, RULE)
    try:
        figures = measured(cluster.gateways[0])
    finally:
        cluster.remove()
    print(json.dumps(figures, indent=2) if is_json else table(figures))


def measured(gateway):
    clients = {place: [gateway.client(f"{place}-{number}") for number in range(CALLERS)] for place in PLACES}
    seconds, rates = {place: [] for place in PLACES}, {place: [] for place in PLACES}
    for place in PLACES:
        for _ in range(WARM_UP):
            once(clients[place][0])
    for round_number in range(ROUNDS):
        # Each goes first half of the time.
        for place in PLACES[:: 1 if round_number % 2 else -1]:
            seconds[place] += [once(clients[place][0]) for _ in range(PROGRAMS)]
            rates[place].append(rate(clients[place]))
    figures = {}
    for place in PLACES:
        figures[place] = {
            "p50_ms": round(statistics.median(seconds[place]) * 1000, 2),
            "p99_ms": round(statistics.quantiles(seconds[place], n=100)[98] * 1000, 2),
            "programs_per_second": round(statistics.median(rates[place]), 1),
        }
    figures["p50_more_ms"] = round(figures["nodes"]["p50_ms"] - figures["here"]["p50_ms"], 2)
    return {**figures, "goal_ms": GOAL_MS}


def once(client):
    began = time.monotonic()
    answer = client.call("execute_code", PROGRAM)
    took = time.monotonic() - began
    if answer.get("result", {}).get("structuredContent", {}).get("result") != 2:
        raise SystemExit(f"error: 1 + 1 isn't 2: {json.dumps(answer)[:500]}")
    return took


def rate(clients):
    """Programs in a second, with all callers at once."""
    counts, until = [0] * len(clients), time.monotonic() + SECONDS

    def run(at):
        while time.monotonic() < until:
            once(clients[at])
            counts[at] += 1

    threads = [threading.Thread(target=run, args=(at,)) for at in range(len(clients))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / SECONDS


def table(figures):
    lines = [f"{'1 + 1':<14}{'p50':>10}{'p99':>10}{f'with {CALLERS} callers':>18}"]
    for place, name in (("here", "in the gateway"), ("nodes", "on a node")):
        one = figures[place]
        rate_shown = f"{one['programs_per_second']:.0f}/s"
        lines.append(f"{name:<14}{one['p50_ms']:>7.2f} ms{one['p99_ms']:>7.2f} ms{rate_shown:>18}")
    lines.append(f"on a node, p50 is {figures['p50_more_ms']:.2f} ms more; the goal is at most {GOAL_MS:.0f} ms")
    return "\n".join(lines)
