"""Kills `gristmill serve` at random moments and looks whether anything that it had acknowledged is lost.

    python3 ci/kill_test.py [--kills N] [--seed N] [--nodes N]
    python3 ci/kill_test.py --self-test [--nodes N]

One gateway after another serves the same data folder, under load: programs that write files and state,
workspace files, versions of skills, kept variables, results and analyses that are larger than their answers.
Each is killed with -9, some while they start; the next one must show all that was acknowledged, whole. The
first loss ends the run with code 1. The self-test does away with acknowledged things behind the gateway's
back, and fails if a loss goes unnoticed. With `--nodes`, programs run on that many nodes of a cluster, and
nodes are killed, too; this needs what cluster_test.py needs. The binary is GRISTMILL_BIN, or the one that
`cargo build -p gristmill-cli --bin gristmill` has made.
"""

import argparse
import random
import sys
import threading
import time
from pathlib import Path

import real_servers

FOLDER = Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER / "kill-test"), str(FOLDER / "cluster-test")]

import check
import check_results
import injected_losses
import nats_bus
import prerequisites
import ran_on
from gateway import Ended, Gateway, Refused
from home import Home
from ledger import Ledger, Loss
from load import Load
from machines import Trouble
from nodes import Nodes

# One kill in seven comes while the gateway starts, or while the last one's work is looked at.
EARLY_SHARE = 0.15
EARLY_SECONDS_MAX = 0.6
# Long enough for every writer to be answered a few times.
LOAD_SECONDS_MAX = 0.5
# Where there are nodes: one of them is killed under this share of gateways, which then live long enough for some to
# notice it, and for programs to run again.
NODE_KILLED_SHARE = 0.2
NODE_KILLED_SECONDS_MAX = 6

SELF_TEST_KILLS = 5
GATEWAY = "gateway-1"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--nodes", type=prerequisites.node_count, default=0, help="programs run on so many nodes")
    arguments = parser.parse_args()
    gristmill = real_servers.binary()
    engine, nodes = real_servers.engine(gristmill), None
    if arguments.nodes:
        nats_server, missing = prerequisites.nats_server(gristmill)
        if missing:
            print(f"NOT CHECKED: kills with programs on nodes: {missing}")
            return
    home = Home(gristmill, engine)
    if arguments.nodes:
        nodes = Nodes(gristmill, engine, nats_server, [GATEWAY], arguments.nodes)
    print(f"seed {arguments.seed}", flush=True)
    test = KillTest(home, random.Random(arguments.seed), nodes)
    try:
        if arguments.self_test:
            test.run(SELF_TEST_KILLS, injected_losses.is_enough)
            injected_losses.all_are_noticed(home, test.ledger, nodes)
        else:
            test.run(arguments.kills)
            print(test.ledger.table())
            test.end_nodes()
    except (Loss, Refused, Trouble, nats_bus.BusTrouble) as problem:
        print(test.ledger.table())
        raise SystemExit(f"error: after {test.kills} kills (seed {arguments.seed}): {problem}") from problem
    finally:
        test.end()
        home.remove()


class KillTest:
    def __init__(self, home, chance, nodes=None):
        self.home, self.chance, self.nodes = home, chance, nodes
        self.ledger, self.kills, self.early = Ledger(), 0, 0
        self.gateway = None
        if nodes is not None:
            home.use_nodes(nodes.names(), nodes.bus.configuration(GATEWAY, "tls", 'run = "nodes"'))

    def run(self, kills, is_enough=lambda ledger: True):
        began = time.monotonic()
        while self.kills < kills or not is_enough(self.ledger):
            self.one_kill()
            if self.kills % 25 == 0:
                print(f"{self.kills} kills, {time.monotonic() - began:.0f} s", flush=True)
        self.gateway = Gateway(self.home)
        check.check_everything(self.home, self.gateway, self.ledger)
        self.gateway.close()
        self.home.wait_until_gone()
        check.check_data_folder(self.home, self.ledger)
        seconds = time.monotonic() - began
        print(f"{self.kills} kills in {seconds:.0f} s, {self.early} of them before the gateway had work")
        if self.nodes is not None:
            ran = ran_on.shown(ran_on.on_each(self.home.audit_events()))
            print(f"{len(self.nodes.losses)} nodes killed; programs that ended well: {ran}")

    def one_kill(self):
        gateway = self.gateway = Gateway(self.home)
        is_early = self.chance.random() < EARLY_SHARE
        if is_early:
            self.kill_after(self.chance.uniform(0, EARLY_SECONDS_MAX))
        load = None
        try:
            check.check(self.home, gateway, self.ledger)
            load = Load(gateway, self.ledger, self.nodes)
            if not is_early:
                self.kill_under_load()
        except Ended:
            pass
        gateway.settle()
        if load is None:
            self.early += 1
        else:
            load.join()
        if not gateway.was_killed:
            raise Refused(f"the gateway ended by itself: {gateway.said()}")
        self.home.wait_until_gone()
        check_results.let_time_pass(self.home, self.ledger)
        self.kills += 1

    def kill_under_load(self):
        """The gateway, and now and then a node before it, after it or in the same moment."""
        if self.nodes is None or self.chance.random() >= NODE_KILLED_SHARE:
            self.kill_after(self.chance.uniform(0, LOAD_SECONDS_MAX))
            return
        self.kill_after(self.chance.uniform(0, NODE_KILLED_SECONDS_MAX))
        time.sleep(self.chance.uniform(0, LOAD_SECONDS_MAX))
        self.nodes.kill_one(self.chance)

    def kill_after(self, seconds):
        timer = threading.Timer(seconds, self.gateway.kill)
        timer.daemon = True
        timer.start()

    def end_nodes(self):
        """They have nothing to do any more, and leave nothing."""
        if self.nodes is None:
            return
        _, problems = self.nodes.idle([])
        if problems := problems + self.nodes.end():
            raise Loss("; ".join(problems))

    def end(self):
        """Whatever happened: nothing is left running."""
        if self.gateway is not None and not self.gateway.has_ended():
            self.gateway.kill()
            self.gateway.process.wait()
        if self.nodes is not None:
            self.nodes.remove()


if __name__ == "__main__":
    main()
