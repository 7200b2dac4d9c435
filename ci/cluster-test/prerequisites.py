"""What a test with a cluster needs, beside the binary."""

import argparse
import shutil
import subprocess
import sys

import nats_bus
import networks

BUILD = "cargo build -p gristmill-cli --bin gristmill --features cluster --locked"


def node_count(text):
    """Of an argument: from one to as many as a machine can bear."""
    if not text.isdecimal() or not 1 <= int(text) <= 16:
        raise argparse.ArgumentTypeError(f"{text!r} isn't a number of nodes from 1 to 16")
    return int(text)


def nats_server(gristmill):
    """The program of nats-server, or why there can't be a test here."""
    if not sys.platform.startswith("linux"):
        return None, "the test reads /proc"
    if shutil.which("openssl") is None:
        return None, "openssl is missing"
    if not knows_clusters(gristmill):
        return None, f"{gristmill} was built without clusters; make it with `{BUILD}`"
    try:
        return nats_bus.install(), None
    except nats_bus.NotHere as reason:
        return None, str(reason)


def own_network():
    """A network for machines with one each, or why there can't be one here. Begins the test again, inside of it."""
    try:
        networks.enter()
        return networks.Network(), None
    except networks.NoNetwork as reason:
        return None, str(reason)


def knows_clusters(gristmill):
    """A build without the feature has the command, and says so."""
    words = [gristmill, "cluster", "status", "--config", "/dev/null"]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    return "no cluster support" not in done.stderr
