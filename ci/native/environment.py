"""An interpreter that can be the native engine, and packages for it from PyPI, pinned by hash and installed once."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

PINS = Path(__file__).resolve().parent / "requirements.txt"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gristmill" / "native"
INSTALL_SECONDS_MAX = 900

# Prints the interpreter itself and its version, if it has a shared library and isn't too old.
QUESTION = """import os, sys, sysconfig
get = sysconfig.get_config_var
name, folder = get("INSTSONAME") or "", get("LIBDIR") or ""
places = [folder, os.path.join(folder, get("MULTIARCH") or ""), os.path.join(sys.base_prefix, "lib")]
is_shared = ".so" in name and any(os.path.isfile(os.path.join(place, name)) for place in places)
if sys.version_info >= (3, 11) and is_shared:
    base = os.path.join(sys.base_prefix, "bin", f"python{sys.version_info[0]}.{sys.version_info[1]}")
    print(base if os.path.isfile(base) else sys.executable)
    print(f"{sys.version_info[0]}.{sys.version_info[1]}")
"""


class NotHere(Exception):
    """This machine can't have it; why."""


class Environment:
    """Where both are."""

    def __init__(self):
        self.python, self.version = interpreter()
        self.packages = packages(self.python, self.version)


def interpreter():
    """The first one that can be the engine; the machine's own is made one where that can be done."""
    found = usable()
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        quiet = {"stdout": subprocess.DEVNULL, "env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}}
        install = ["install", "-q", "-y", "--no-install-recommends", "libpython3-dev", "python3-pip"]
        for words in (["update", "-q"], install):
            subprocess.run(["apt-get", *words], check=False, **quiet)
        found = usable()
    if found is None:
        remedy = "install libpython3-dev, or set NATIVE_PYTHON_FOR_TESTS"
        raise NotHere(f"no Python 3.11 or newer with a shared library; {remedy}")
    return found


def usable():
    """Yours, this one, or the machine's: path and version."""
    chosen = [os.environ.get("NATIVE_PYTHON_FOR_TESTS"), sys.executable, "/usr/bin/python3", "python3"]
    for python in filter(None, chosen):
        try:
            asked = subprocess.run([python, "-c", QUESTION], capture_output=True, text=True, timeout=60)
        except OSError:
            continue
        told = asked.stdout.split("\n")
        if asked.returncode == 0 and len(told) == 3:
            return told[0], told[1]
    return None


def packages(python, version):
    """The folder with the packages, filled on first use and whenever a pin changes."""
    digest = hashlib.sha256(b"\0".join([version.encode(), PINS.read_bytes()])).hexdigest()[:16]
    ready = CACHE / digest
    if ready.is_dir():
        return ready
    print("Installing numpy, pandas and others from PyPI, once …", file=sys.stderr, flush=True)
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{digest}.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if not ready.is_dir():
            unfinished = CACHE / f"{digest}.unfinished"
            shutil.rmtree(unfinished, ignore_errors=True)
            options = ["--quiet", "--disable-pip-version-check", "--no-input", "--no-warn-conflicts"]
            options += ["--require-hashes", "--only-binary=:all:", "--target", unfinished, "--requirement", PINS]
            pip = [python, "-m", "pip", "install", *options]
            done = subprocess.run(pip, capture_output=True, text=True, timeout=INSTALL_SECONDS_MAX)
            if done.returncode != 0:
                raise NotHere(f"pip can't install the packages: {done.stderr.strip()[-500:]}")
            unfinished.rename(ready)
    return ready
