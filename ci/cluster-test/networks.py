"""Machines with a network of their own each, on one bridge, so that every packet of one of them can be lost.

The test begins again inside a network of its own: nothing that it does there reaches the machine's. A machine that is
cut off keeps its connections and hears nothing on them, as behind a switch that has failed.
"""

import contextlib
import ctypes
import os
import shutil
import subprocess
import sys
import time

MARK = "GRISTMILL_CLUSTER_TEST_NETWORK"
BRIDGE = "bus"
# The test's own, where gateways are, and before what others have.
OURS, PREFIX = "10.213.0.1", "10.213.0."
START_SECONDS_MAX = 10
# Of setns(2).
CLONE_NEWNET = 0x40000000


class NoNetwork(Exception):
    """This machine permits no networks of our own."""


def enter():
    """Goes on only inside of a network of its own; there, it says so."""
    if os.environ.get(MARK):
        return
    missing = [name for name in ("ip", "unshare", "nsenter") if shutil.which(name) is None]
    if missing:
        raise NoNetwork(f"{', '.join(missing)} is missing: Debian has them in iproute2 and util-linux")
    if os.geteuid() != 0:
        raise NoNetwork("only root may make networks")
    tried = "ip link add try type bridge && ip link add one type veth peer name other && ip link set one master try"
    done = subprocess.run(["unshare", "--net", "sh", "-c", tried], capture_output=True, text=True, timeout=10)
    if done.returncode != 0:
        raise NoNetwork(f"this machine permits no bridge in a network of its own: {done.stderr.strip()[:200]}")
    # Python's own options are of no interest to the test.
    words = ["unshare", "--net", sys.executable, *sys.argv]
    os.execvpe(words[0], words, {**os.environ, MARK: "1"})


class Network:
    def __init__(self):
        self.hosts = {}
        ip("link", "set", "lo", "up")
        ip("link", "add", BRIDGE, "type", "bridge")
        ip("address", "add", f"{OURS}/24", "dev", BRIDGE)
        ip("link", "set", BRIDGE, "up")

    def host(self, name):
        """A network for a machine, and how a process gets into it."""
        self.hosts[name] = Host(len(self.hosts) + 2)
        return self.hosts[name]

    def remove(self):
        for host in self.hosts.values():
            host.remove()


class Host:
    def __init__(self, number):
        self.address, self.port = f"{PREFIX}{number}", f"port-{number}"
        # A network lasts as long as somebody is in it.
        self.holder = subprocess.Popen(["unshare", "--net", "sleep", "86400"], stdin=subprocess.DEVNULL)
        try:
            self.join()
        except BaseException:
            self.remove()
            raise

    def join(self):
        self.wait_until_it_is_there()
        self.prefix = ["nsenter", f"--net={self.network()}"]
        ip("link", "add", self.port, "type", "veth", "peer", "name", "eth0", "netns", str(self.holder.pid))
        ip("link", "set", self.port, "master", BRIDGE, "up")
        for words in (
            ["link", "set", "lo", "up"],
            ["address", "add", f"{self.address}/24", "dev", "eth0"],
            ["link", "set", "eth0", "up"],
        ):
            run([*self.prefix, "ip", *words])

    def network(self):
        return f"/proc/{self.holder.pid}/ns/net"

    def wait_until_it_is_there(self):
        ours, until = os.readlink("/proc/self/ns/net"), time.monotonic() + START_SECONDS_MAX
        while os.readlink(self.network()) == ours:
            if time.monotonic() > until:
                raise NoNetwork("a network of its own doesn't come up")
            time.sleep(0.01)

    def cut_off(self):
        """From here on every packet is lost, and nobody is told."""
        ip("link", "set", self.port, "nomaster")

    def join_again(self):
        ip("link", "set", self.port, "master", BRIDGE)

    @contextlib.contextmanager
    def entered(self):
        """Connections that this thread makes meanwhile are the machine's own: they outlast its being cut off."""
        with open("/proc/thread-self/ns/net") as ours, open(self.network()) as theirs:
            go_into(theirs)
            try:
                yield
            finally:
                go_into(ours)

    def remove(self):
        self.holder.kill()
        self.holder.wait()


def go_into(network):
    """With this thread alone."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(network.fileno(), CLONE_NEWNET) != 0:
        raise NoNetwork(f"setns: {os.strerror(ctypes.get_errno())}")


def ip(*words):
    run(["ip", *words])


def run(words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=10)
    if done.returncode != 0:
        raise NoNetwork(f"{' '.join(words)}: {done.stderr.strip()[:200]}")
