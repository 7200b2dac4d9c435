"""Gateways and nodes, each a process with a home of its own, as if on a machine of its own."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gateway import Client, Trouble
from nats_bus import CLUSTER, Bus
from own_home import OwnHome, place

BOOKING_SERVER = Path(__file__).resolve().parent / "booking_server.py"
START_SECONDS_MAX = 60
STOP_SECONDS_MAX = 60
# Supervisors end what a killed process had started; on a busy machine not at once.
GONE_SECONDS_MAX = 15
PLACES = 8
SERVER = "desk"


class Machine(OwnHome):
    failure = Trouble
    command_seconds_max = 120

    def __init__(self, cluster, name, scheme, settings=""):
        super().__init__(cluster.gristmill, cluster.engine, f"gristmill-cluster-{name}-")
        self.name, self.log = name, self.folder / "log.txt"
        seed = self.folder / "seed.nk"
        seed.touch(mode=0o600)
        seed.write_text(cluster.bus.seeds[name])
        config = self.folder / ".config" / "gristmill"
        config.mkdir(parents=True)
        (config / "gristmill.toml").write_text(f"""policy = "trusting"

[cluster]
nats = {json.dumps(cluster.bus.urls(scheme))}
name = "{CLUSTER}"
node = "{name}"
nkey = "${{file:{seed}}}"
ca = "{cluster.bus.certificates.authority}"
{settings}
""")
        self.process, self.was_killed = None, False
        # What gets it into a network of its own.
        self.prefix = []

    def begin(self, *words):
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*self.prefix, self.gristmill, *words],
                cwd=self.work,
                env=self.variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def wait_for_word(self, pattern, since):
        """Until it has said that it runs."""
        until = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < until:
            if found := re.search(pattern, self.log.read_text(errors="replace")[since:]):
                return found
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise Trouble(f"{self.name} doesn't start: {self.said()}")

    def said(self):
        return self.log.read_text(errors="replace")[-3000:] if self.log.exists() else ""

    def doctor(self):
        """What `gristmill doctor` says of the cluster; how else this machine is doesn't matter here."""
        done = subprocess.run(
            [self.gristmill, "doctor", "--no-servers", "--json"],
            cwd=self.work,
            env=self.variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=self.command_seconds_max,
        )
        try:
            return json.loads(done.stdout)["cluster"]
        except (ValueError, KeyError) as error:
            raise Trouble(f"doctor at {self.name} ended with {done.returncode}: {done.stderr}") from error

    def has_ended(self):
        return self.process is None or self.process.poll() is not None

    def kill(self):
        self.was_killed = True
        self.process.kill()
        self.process.wait()

    def stop(self):
        """As an administrator does. Its exit code."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.kill()
            return f"none within {STOP_SECONDS_MAX} s"

    def end_now(self):
        if not self.has_ended():
            # One that was stopped dies all the same.
            self.process.kill()
            self.process.wait()


class Node(Machine):
    def __init__(self, cluster, name, scheme, host=None):
        super().__init__(cluster, name, scheme)
        self.host = host
        self.prefix = host.prefix if host else []

    def start(self):
        since = self.log.stat().st_size if self.log.exists() else 0
        self.begin("worker-node", "--places", str(PLACES))
        self.wait_for_word(r"node \S+ of cluster", since)

    def pause(self):
        """The process alone: what it has started goes on, and isn't heard."""
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)


class ClusterGateway(Machine):
    def __init__(self, cluster, name, scheme, settings):
        super().__init__(cluster, name, scheme, settings)
        server = {"command": sys.executable, "args": [str(BOOKING_SERVER), str(cluster.journal), name]}
        self.command("add-json", SERVER, json.dumps(server))
        self.tokens, self.port, self.deaths = {}, None, []

    def token(self, name):
        if name not in self.tokens:
            self.tokens[name] = json.loads(self.command("token", "new", name, "--json"))["token"]
        return self.tokens[name]

    def start(self):
        since = self.log.stat().st_size if self.log.exists() else 0
        words = ["serve", "--http", "127.0.0.1:0", "--profile", "standard", "--memory", "128M"]
        # What is lost on a node runs again within its limit.
        self.begin(*words, "--timeout", "60s", "--answer-within", "110")
        self.port = int(self.wait_for_word(r"listening on http://127\.0\.0\.1:(\d+)/", since)[1])

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


class Cluster:
    """The bus, gateways and nodes, all started. With a network, nodes and bus servers have one of their own each."""

    def __init__(self, gristmill, engine, nats_server, gateways, nodes, run='run = "nodes"', network=None):
        self.engine, self.machines, self.network = engine, [], network
        self.folder = Path(tempfile.mkdtemp(prefix="gristmill-cluster-")).resolve()
        # Under a name of its own, so that every process that comes of it is known by it.
        self.gristmill = str(self.folder / "gristmill")
        place(gristmill, self.gristmill)
        self.journal = self.folder / "journal.jsonl"
        self.journal.touch()
        gateway_names = [f"gateway-{number + 1}" for number in range(gateways)]
        node_names = [f"node-{number + 1}" for number in range(nodes)]
        self.bus = None
        try:
            self.bus = Bus(nats_server, self.folder, gateway_names, node_names, network)
            self.operator = self.keep(Machine(self, "operator", "tls"))
            # Without TLS a bus may be on the same machine only.
            schemes = ("tls", "tls" if network else "nats")
            hosts = [network.host(name) if network else None for name in node_names]
            self.nodes = [
                self.keep(Node(self, name, schemes[at % 2], hosts[at])) for at, name in enumerate(node_names)
            ]
            self.gateways = [
                self.keep(ClusterGateway(self, name, schemes[at % 2], run)) for at, name in enumerate(gateway_names)
            ]
            for machine in [*self.nodes, *self.gateways]:
                machine.start()
            self.wait_until_all_are_seen()
        except BaseException:
            self.remove()
            raise

    def keep(self, machine):
        self.machines.append(machine)
        return machine

    def status(self):
        return json.loads(self.operator.command("cluster", "status", "--json"))

    def wait_until_all_are_seen(self):
        until = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < until:
            status = self.status()
            ready = [node for node in status["nodes"] if node["state"] == "ready"]
            if len(ready) == len(self.nodes) and len(status["gateways"]) == len(self.gateways):
                return
        raise Trouble(f"not everybody is there: {json.dumps(status)}")

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

    def journal_entries(self):
        return [json.loads(line) for line in self.journal.read_text().splitlines()]

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

    def left_after(self, seconds):
        """What still runs when there was time to end: {pid: command line}."""
        until = time.monotonic() + seconds
        while (left := self.processes()) and time.monotonic() < until:
            time.sleep(0.05)
        return left
