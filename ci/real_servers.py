"""Runs gristmill against MCP servers that nobody here wrote, as a user would.

    python3 ci/real_servers.py [TEST…]

The servers come from npm and PyPI, pinned with their hashes in ci/real-servers, and are installed
once, into the user's cache. Needs Node.js with npm, Python with venv and pip, and git. The binary is
GRISTMILL_BIN, or the one that `cargo build -p gristmill-cli --bin gristmill` has made. TEST is a test,
a class or a module of ci/real-servers: `everyday`, `trouble.Killed`.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

PINS = Path(__file__).resolve().parent / "real-servers"
sys.path.insert(0, str(PINS))

from world import Installed

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gristmill"
LOCKS = ("package.json", "package-lock.json", "requirements.txt")
MODULES = ("everyday", "typescript_jobs", "secrecy", "trouble", "changed_tools", "left_behind")

INSTALL_SECONDS_MAX = 600
SETUP_SECONDS_MAX = 300


def main(arguments):
    Installed.gristmill = binary()
    Installed.servers = install()
    Installed.engine = engine(Installed.gristmill)
    tests = unittest.defaultTestLoader.loadTestsFromNames(arguments or MODULES)
    outcome = unittest.TextTestRunner(verbosity=2).run(tests)
    if not outcome.wasSuccessful() or outcome.testsRun == 0:
        raise SystemExit(1)


def binary():
    target = Path(os.environ.get("CARGO_TARGET_DIR") or CACHE / "ci-target")
    path = Path(os.environ.get("GRISTMILL_BIN") or target / "debug" / "gristmill").absolute()
    if not path.is_file():
        build = "cargo build -p gristmill-cli --bin gristmill --locked"
        raise SystemExit(f"error: {path} is not there; make it with `{build}`, or set GRISTMILL_BIN")
    return str(path)


def engine(gristmill):
    """The compiled engine, made if need be: each test's user gets it without making it again."""
    words = [gristmill, "setup"]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, timeout=SETUP_SECONDS_MAX)
    path = Path(done.stdout.rpartition("ready: ")[2].strip())
    if done.returncode != 0 or not path.is_file():
        raise SystemExit(f"error: gristmill setup ended with code {done.returncode}: {done.stdout}")
    return path


def install():
    """The folder with all servers, filled on first use and whenever a pin changes."""
    for program, wanted in (("npm", "Node.js"), ("node", "Node.js"), ("git", "git")):
        if shutil.which(program) is None:
            raise SystemExit(f"error: {program} is missing; the tests with real servers need {wanted}")
    for module in ("venv", "pip"):
        found = subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True)
        if found.returncode != 0:
            raise SystemExit(f"error: Python's {module} is missing; the tests with real servers need it")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    locks = [(PINS / name).read_bytes() for name in LOCKS]
    digest = hashlib.sha256(b"\0".join([version.encode(), *locks])).hexdigest()[:16]
    ready = CACHE / "real-servers" / digest
    if is_whole(ready):
        return ready
    print("Installing MCP servers from npm and PyPI, once …", flush=True)
    ready.parent.mkdir(parents=True, exist_ok=True)
    lock = ready.parent / f"{digest}.lock"
    with lock.open("w") as held:
        # Not moved into place when done: a venv knows where it is.
        fcntl.flock(held, fcntl.LOCK_EX)
        if not is_whole(ready):
            shutil.rmtree(ready, ignore_errors=True)
            fill(ready)
    return ready


def is_whole(folder):
    return (folder / "whole").is_file()


def fill(folder):
    folder.mkdir()
    for name in LOCKS:
        shutil.copy(PINS / name, folder)
    quiet = ["--no-audit", "--no-fund", "--update-notifier=false", "--loglevel=error"]
    run(["npm", "ci", "--ignore-scripts", *quiet], cwd=folder)
    run([sys.executable, "-m", "venv", folder / "python"])
    options = ["--quiet", "--disable-pip-version-check", "--require-hashes", "--only-binary=:all:"]
    pip = [folder / "python" / "bin" / "python", "-m", "pip", "install", *options]
    run([*pip, "--requirement", folder / "requirements.txt"])
    (folder / "whole").touch()


def run(command, **options):
    done = subprocess.run(command, timeout=INSTALL_SECONDS_MAX, **options)
    if done.returncode != 0:
        raise SystemExit(f"error: {' '.join(map(str, command[:4]))} … ended with code {done.returncode}")


if __name__ == "__main__":
    main(sys.argv[1:])
