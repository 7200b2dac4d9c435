"""Gateways of a cluster, with a server that writes down what it was asked, and whoever calls them."""

import json
import re
import sys
import time
from pathlib import Path

from gateway import Client
from machines import START_SECONDS_MAX, Machine
from nodes import Nodes

BOOKING_SERVER = Path(__file__).resolve().parent / "booking_server.py"
SERVER = "desk"
# In a network of its own; elsewhere it's whatever is free.
PORT = 8770


class ClusterGateway(Machine):
    def __init__(self, cluster, name, scheme, settings, host=None):
        super().__init__(cluster, name, scheme, settings, host)
        server = {"command": sys.executable, "args": [str(BOOKING_SERVER), str(cluster.journal), name]}
        self.command("add-json", SERVER, json.dumps(server))
        self.tokens, self.port, self.deaths = {}, None, []

    def token(self, name):
        if name not in self.tokens:
            self.tokens[name] = json.loads(self.command("token", "new", name, "--json"))["token"]
        return self.tokens[name]

    def start(self):
        since = self.log.stat().st_size if self.log.exists() else 0
        address = f"{self.address}:{PORT if self.host else 0}"
        words = ["serve", "--http", address, "--profile", "standard", "--memory", "128M"]
        # What is lost on a node runs again within its limit.
        self.begin(*words, "--timeout", "60s", "--answer-within", "110")
        self.port = self.listens(since)

    def listens(self, since, seconds_max=START_SECONDS_MAX):
        """The port where it does, once it has said so."""
        pattern = rf"listening on http://{re.escape(self.address)}:(\d+)/"
        return int(self.wait_for_word(pattern, since, seconds_max)[1])

    def kill(self):
        # Before it's gone: whoever asks it now may not be answered.
        self.port = None
        self.deaths.append(time.monotonic())
        super().kill()

    def was_away_since(self, moment):
        return self.port is None or any(death >= moment for death in self.deaths)

    def client(self, token):
        return Client(self.port, self.token(token))

    def audit(self):
        self.command("audit", "verify")
        events = (json.loads(line) for line in self.command("audit", "export").splitlines())
        return [line["event"] for line in events]


class Cluster(Nodes):
    """Nodes and the gateways that use them, all started."""

    def __init__(self, gristmill, engine, nats_server, gateways, nodes, run='run = "nodes"', network=None):
        names = [f"gateway-{number + 1}" for number in range(gateways)]
        super().__init__(gristmill, engine, nats_server, names, nodes, network)
        self.journal = self.folder / "journal.jsonl"
        self.journal.touch()
        try:
            self.gateways = [
                self.keep(ClusterGateway(self, name, self.schemes[at % 2], run)) for at, name in enumerate(names)
            ]
            for gateway in self.gateways:
                gateway.start()
            self.wait_until_seen(names)
        except BaseException:
            self.remove()
            raise

    def journal_entries(self):
        return [json.loads(line) for line in self.journal.read_text().splitlines()]
