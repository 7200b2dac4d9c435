"""Compares the analysis engine with pandas, on generated tables.

    python3 ci/compare_analysis.py [WORD…]

Pandas comes from PyPI, pinned with hashes in ci/analysis, and is installed once, into the user's cache.
The tables come from a fixed seed; the same steps go through `gristmill serve` and through pandas, and
every value is compared. Where both differ on purpose, the case says why (ci/analysis/cases.py). With
WORDs, only cases whose name has one of them are run. The binary is found as by real_servers.py.
"""

import fcntl
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import real_servers

FOLDER = Path(__file__).resolve().parent / "analysis"
PINS = FOLDER / "requirements.txt"

COMPARE_SECONDS_MAX = 300


def main(words):
    gristmill = real_servers.binary()
    engine = real_servers.engine(gristmill)
    python = install() / "bin" / "python"
    command = [python, FOLDER / "compare.py", gristmill, engine, *words]
    done = subprocess.run(command, timeout=COMPARE_SECONDS_MAX)
    raise SystemExit(done.returncode)


def install():
    """The virtual environment with pandas, made on first use and whenever a pin changes."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    digest = hashlib.sha256(b"\0".join([version.encode(), PINS.read_bytes()])).hexdigest()[:16]
    ready = real_servers.CACHE / "analysis" / digest
    if real_servers.is_whole(ready):
        return ready
    print("Installing pandas from PyPI, once …", flush=True)
    ready.parent.mkdir(parents=True, exist_ok=True)
    with (ready.parent / f"{digest}.lock").open("w") as held:
        # Not moved into place when done: a venv knows where it is.
        fcntl.flock(held, fcntl.LOCK_EX)
        if not real_servers.is_whole(ready):
            shutil.rmtree(ready, ignore_errors=True)
            real_servers.run([sys.executable, "-m", "venv", ready])
            options = ["--quiet", "--disable-pip-version-check", "--require-hashes", "--only-binary=:all:"]
            pip = [ready / "bin" / "python", "-m", "pip", "install", *options]
            real_servers.run([*pip, "--requirement", PINS])
            (ready / "whole").touch()
    return ready


if __name__ == "__main__":
    main(sys.argv[1:])
