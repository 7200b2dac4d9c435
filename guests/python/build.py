#!/usr/bin/env python3
"""Builds the Python guest component.

    python3 build.py --out FILE [--cache DIR]
    python3 build.py --print-inputs
    python3 build.py --bundled [--cache DIR]

Needs Python 3.9 or newer with venv and pip, and Node.js with npm. Downloads are pinned by
hash in requirements.lock and optimizer.py, and kept in the cache directory. The output appears
whole or not at all.
"""

import argparse
import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

# Whoever builds leaves nothing in this folder.
sys.dont_write_bytecode = True

from component_file import Unexpected  # noqa: E402
from known_addresses import with_known_addresses  # noqa: E402
from optimizer import OptimizerError, optimized  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
LOCK = HERE / "requirements.lock"
PACKAGE = "gristmill_guest"
BUILD_FILES = ("build.py", "component_file.py", "known_addresses.py", "optimizer.py")
FAILURE_TAIL_LINES = 40

# The wheels of the bundled packages are chosen for one fixed target, so that every build
# machine bundles the same files. Compiled parts of a wheel are removed afterwards.
BUNDLED_TARGET = [
    "--only-binary=:all:",
    "--platform=manylinux2014_x86_64",
    "--implementation=cp",
    "--python-version=3.14",
    "--abi=cp314",
    "--abi=none",
]


class BuildError(Exception):
    """A step failed. The text says which, why, and what to do."""


def main():
    parser = argparse.ArgumentParser(description="Builds the Python guest component.")
    parser.add_argument("--out", type=pathlib.Path, help="where to write the component")
    parser.add_argument("--cache", type=pathlib.Path, help="where to keep downloads and virtual environments")
    parser.add_argument("--print-inputs", action="store_true", help="print the input files, one per line, and stop")
    parser.add_argument("--bundled", action="store_true", help="print the folder of the bundled packages, and stop")
    arguments = parser.parse_args()
    if arguments.print_inputs:
        print("\n".join(inputs()))
        return 0
    if arguments.bundled:
        return attempt(lambda cache: print(bundled(cache)), arguments.cache)
    if arguments.out is None:
        parser.error("--out FILE is required")
    return attempt(lambda cache: build(arguments.out.resolve(), cache), arguments.cache)


def attempt(step, cache):
    """The exit code of a step."""
    try:
        step((cache or default_cache()).resolve())
    except BuildError as error:
        print(f"guest: {error}", file=sys.stderr)
        return 1
    return 0


def inputs():
    """Every file the output depends on, relative to this directory, sorted."""
    files = [HERE / "app.py", HERE / "sandbox.wit", LOCK, *(HERE / name for name in BUILD_FILES)]
    files += (HERE / PACKAGE).rglob("*.py")
    return sorted(file.relative_to(HERE).as_posix() for file in files)


def bundled(cache):
    """Where the bundled packages lie; the native engine takes them from there."""
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / "build.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_current(cache / "bundled", lock_section("bundled")):
            install_tool(cache)
        return install_bundled(cache)


def build(out, cache):
    if sys.version_info < (3, 9):
        raise BuildError("Python 3.9 or newer is needed to build; this is " + sys.version.split()[0])
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / "build.lock", "w") as lock:
        # Two builds at once would install over each other.
        fcntl.flock(lock, fcntl.LOCK_EX)
        tool = install_tool(cache)
        bundled = install_bundled(cache)
        with tempfile.TemporaryDirectory(dir=cache, prefix="stage-") as stage:
            stage_sources(pathlib.Path(stage))
            componentize(tool, cache, pathlib.Path(stage), bundled, out)
    say(f"wrote {out.name}, {out.stat().st_size / 1e6:.1f} MB")


# Stages.


def install_tool(cache):
    """The componentize-py command in its own virtual environment."""
    pins = lock_section("build")
    home = cache / "tool"
    scripts = home / ("Scripts" if os.name == "nt" else "bin")
    if not is_current(home, pins):
        say(f"installing {pin_names(pins)}")
        make_venv(home, with_pip=True)
        pip(scripts / "python", pins, cache, [])
        mark_current(home, pins)
    return scripts / "componentize-py"


def install_bundled(cache):
    """A directory with the pure-Python packages that go into the guest."""
    pins = lock_section("bundled")
    target = cache / "bundled"
    if not is_current(target, pins):
        say(f"fetching {pin_names(pins)}")
        shutil.rmtree(target, ignore_errors=True)
        scripts = cache / "tool" / ("Scripts" if os.name == "nt" else "bin")
        pip(scripts / "python", pins, cache, ["--target", str(target), "--no-compile", *BUNDLED_TARGET])
        remove_unusable(target)
        mark_current(target, pins)
    return target


def stage_sources(stage):
    """Only what belongs into the guest: no tests, no build files."""
    shutil.copy2(HERE / "app.py", stage / "app.py")
    shutil.copytree(HERE / PACKAGE, stage / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))


def componentize(tool, cache, stage, bundled, out):
    say("compiling the interpreter image")
    # Without an empty virtual environment the tool would bundle this machine's site-packages.
    empty = cache / "empty"
    if not empty.exists():
        make_venv(empty, with_pip=False)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment.update(VIRTUAL_ENV=str(empty), PYTHONHASHSEED="0", SOURCE_DATE_EPOCH="0")
    out.parent.mkdir(parents=True, exist_ok=True)
    unfinished = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    command = [tool, "-q", "-d", HERE / "sandbox.wit", "-w", "sandbox", "componentize"]
    command += ["-p", stage, "-p", bundled, "app", "-o", unfinished]
    try:
        run(command, "componentize-py failed", environment)
        say("optimizing the interpreter: half a minute")
        unfinished.write_bytes(faster(unfinished.read_bytes(), cache))
        os.replace(unfinished, out)
    finally:
        if unfinished.exists():
            unfinished.unlink()


def faster(component, cache):
    """The component without what a dynamic linker left to do, and its code optimized."""
    try:
        return optimized(with_known_addresses(component), cache)
    except Unexpected as error:
        raise BuildError(f"componentize-py made a component of another kind: {error}") from None
    except OptimizerError as error:
        raise BuildError(str(error)) from None


# What the stages use.


def lock_section(name):
    """The pins below the comment `# <name>:` up to the next blank line."""
    lines, inside = [], False
    for line in LOCK.read_text(encoding="utf-8").splitlines():
        if line.startswith(f"# {name}:"):
            inside = True
        elif inside and not line.strip():
            break
        elif inside:
            lines.append(line)
    if not lines:
        raise BuildError(f'requirements.lock has no section "# {name}:"')
    return "\n".join(lines) + "\n"


def pin_names(pins):
    return ", ".join(line.split(" ")[0].replace("==", " ") for line in pins.splitlines() if "==" in line)


def make_venv(home, with_pip):
    shutil.rmtree(home, ignore_errors=True)
    options = [] if with_pip else ["--without-pip"]
    run(
        [sys.executable, "-m", "venv", *options, home],
        "cannot create a virtual environment\n"
        "hint: install the venv module (Debian and Ubuntu: apt install python3-venv), or use a Python from python.org",
    )


def pip(python, pins, cache, options):
    requirements = cache / "pins.txt"
    requirements.write_text(pins, encoding="utf-8")
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--require-hashes", "--no-deps", *options, "-r", requirements]
    run(
        command,
        "pip could not install the pinned packages\n"
        "hint: check the network or the package index that pip is configured for; "
        "no wheel may exist for this platform (Linux and macOS, x86_64 and arm64 are covered)",
    )


def remove_unusable(target):
    """Compiled extensions, scripts and caches: the guest can run none of them."""
    for pattern in ("*.so", "*.pyd", "*.pyc", "*.dylib"):
        for file in target.rglob(pattern):
            file.unlink()
    for directory in ("bin", "Scripts"):
        shutil.rmtree(target / directory, ignore_errors=True)


def is_current(directory, pins):
    stamp = directory / ".pins"
    return stamp.exists() and stamp.read_text(encoding="utf-8") == digest(pins)


def mark_current(directory, pins):
    (directory / ".pins").write_text(digest(pins), encoding="utf-8")


def digest(pins):
    return hashlib.sha256((pins + sys.version + "".join(BUNDLED_TARGET)).encode()).hexdigest()


def default_cache():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return pathlib.Path(base) / "gristmill" / "guest-python"


def run(command, failure, environment=None):
    command = [str(part) for part in command]
    try:
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
    except OSError as error:
        raise BuildError(f"{failure}\n{command[0]}: {error}") from None
    if done.returncode != 0:
        tail = done.stdout.decode("utf-8", "replace").splitlines()[-FAILURE_TAIL_LINES:]
        raise BuildError("\n".join([failure, *tail]))


def say(text):
    print(f"guest: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
