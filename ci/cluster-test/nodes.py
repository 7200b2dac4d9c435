"""Nodes on a bus, all started, each with a home of its own, and an operator who looks at them.

Gateways are whatever a test makes of them: each name that is given here has a user on the bus. With a network, nodes
and bus servers have one of their own each.
"""

import json
import os
import shutil
import signal
import tempfile
import time
from pathlib import Path

from at_rest import judge_idle, judge_left
from machines import START_SECONDS_MAX, Machine, Node, Trouble
from nats_bus import Bus
from own_home import place

# Supervisors end what a killed process had started; on a busy machine not at once.
GONE_SECONDS_MAX = 15
IDLE_SECONDS_MAX = 15
# Some start again before anybody has missed them.
AWAY_SECONDS = (0.1, 4.5)
# Programs are lost by what happened to a node this long before they were sent, or later.
LOSS_NOTICED_SECONDS = 8


class Nodes:
    def __init__(self, gristmill, engine, nats_server, gateway_names, count, network=None, keeps_state=False):
        self.engine, self.machines, self.network, self.bus = engine, [], network, None
        # When something happened by which programs may be lost.
        self.losses = []
        self.folder = Path(tempfile.mkdtemp(prefix="gristmill-cluster-")).resolve()
        # Under a name of its own, so that every process that comes of it is known by it.
        self.gristmill = str(self.folder / "gristmill")
        place(gristmill, self.gristmill)
        names = [f"node-{number + 1}" for number in range(count)]
        # Without TLS a bus may be on the same machine only.
        self.schemes = ("tls", "tls" if network else "nats")
        try:
            self.bus = Bus(nats_server, self.folder, gateway_names, names, network, keeps_state)
            self.operator = self.keep(Machine(self, "operator", "tls"))
            hosts = [network.host(name) if network else None for name in names]
            self.nodes = [
                self.keep(Node(self, name, self.schemes[at % 2], hosts[at])) for at, name in enumerate(names)
            ]
            for node in self.nodes:
                node.start()
            self.wait_until_seen([])
        except BaseException:
            self.remove()
            raise

    def keep(self, machine):
        self.machines.append(machine)
        return machine

    def names(self):
        return [node.name for node in self.nodes]

    # Looking

    def status(self):
        return json.loads(self.operator.command("cluster", "status", "--json"))

    def wait_until_seen(self, gateway_names):
        until = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < until:
            status = self.status()
            ready = [node for node in status["nodes"] if node["state"] == "ready"]
            if len(ready) == len(self.nodes) and len(status["gateways"]) == len(gateway_names):
                return
        raise Trouble(f"not everybody is there: {json.dumps(status)}")

    def idle(self, gateway_names):
        """What is seen when nobody asks for anything any more, and what is wrong with it."""
        until = time.monotonic() + IDLE_SECONDS_MAX
        while True:
            status = self.status()
            problems = judge_idle(status, self.names(), gateway_names)
            if not problems or time.monotonic() > until:
                return status, problems

    def processes(self):
        """What runs of this cluster but the bus: {pid: command line}."""
        found = {}
        for machine in self.machines:
            found.update(machine.processes())
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and os.readlink(entry / "exe").startswith(self.gristmill):
                    line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    found.setdefault(int(entry.name), line)
            except OSError:
                continue
        return found

    # Losing

    def lose_programs(self):
        """From here on programs may be lost."""
        self.losses.append(time.monotonic())

    def may_have_lost(self, since):
        """A program that was sent then, and is answered now."""
        return any(moment >= since - LOSS_NOTICED_SECONDS for moment in self.losses)

    def kill_one(self, chance):
        """Kills a node, and starts it again."""
        node = chance.choice(self.nodes)
        self.lose_programs()
        node.kill()
        time.sleep(chance.uniform(*AWAY_SECONDS))
        node.start()
        return node.name

    # The end

    def end(self):
        """Stops everybody as an administrator does, gateways before nodes. What went wrong."""
        problems = []
        for machine in reversed(self.machines):
            if machine.process is None:
                continue
            code = machine.stop()
            if code != 0:
                problems.append(f"{machine.name} ended with code {code}: {machine.said()}")
        return problems + judge_left(self.left_after(GONE_SECONDS_MAX))

    def left_after(self, seconds):
        """What still runs when there was time to end: {pid: command line}."""
        until = time.monotonic() + seconds
        while (left := self.processes()) and time.monotonic() < until:
            time.sleep(0.05)
        return left

    def remove(self):
        """Whatever happened: nothing is left running."""
        for machine in self.machines:
            machine.end_now()
        for pid in self.left_after(GONE_SECONDS_MAX):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if self.bus is not None:
            self.bus.stop()
        if self.network is not None:
            self.network.remove()
        for machine in self.machines:
            machine.remove()
        shutil.rmtree(self.folder, ignore_errors=True)
