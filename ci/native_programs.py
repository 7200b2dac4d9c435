"""Runs programs with numpy, pandas, scipy, scikit-learn, Pillow, openpyxl and lxml in the native engine and outside.

    python3 ci/native_programs.py [--sample N] [--calls] [--binary FILE] [WORD…]
    python3 ci/native_programs.py --environment

Each program of ci/native/programs runs in plain CPython and by `gristmill run --engine native`; what it prints, its
result and its error must be the same. With WORDs, only programs whose name has one of them; `--sample N` runs every
Nth. `--calls` holds the system calls that the programs make in the jail, as strace sees them, against the list of those
permitted. `--environment` only prints the interpreter and the folder of its packages, for NATIVE_PYTHON_FOR_TESTS and
NATIVE_PACKAGES_FOR_TESTS. The packages come from PyPI, pinned with hashes in ci/native, once, into the user's cache.
As root, everything runs as an ordinary user (nobody). The binary is found as by real_servers.py.
"""

import argparse
import concurrent.futures
import os
import sys
import time
from pathlib import Path

import real_servers

FOLDER = Path(__file__).resolve().parent / "native"
sys.path.insert(0, str(FOLDER))

import system_calls
from both_ways import Jail, outside
from environment import Environment, NotHere
from ordinary_user import can_reach

# Programs without packages, which call tools; for system calls only.
EVERYDAY = FOLDER.parent.parent / "crates" / "cli" / "tests" / "programs"
SECONDS_MAX = 120
LIMITS = ["--timeout", "100s", "--memory", "1G"]
AT_ONCE = 2


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("words", nargs="*", metavar="WORD", help="a part of a program's name")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="run every Nth program")
    parser.add_argument("--calls", action="store_true", help="look at system calls instead of outcomes")
    parser.add_argument("--environment", action="store_true", help="print the interpreter and its packages")
    parser.add_argument("--binary", help="the gristmill to test")
    arguments = parser.parse_args()
    if arguments.binary:
        os.environ["GRISTMILL_BIN"] = arguments.binary
    try:
        environment = Environment()
    except NotHere as reason:
        print(f"NOT CHECKED: the native engine with packages: {reason}", file=sys.stderr)
        raise SystemExit(1 if arguments.environment else 0)
    if arguments.environment:
        print(environment.python, environment.packages, sep="\n")
    elif not can_reach(environment):
        print("NOT CHECKED: the native engine with packages: nobody can't reach Python or its packages")
    else:
        chosen = programs(arguments)
        tools = ["--example-tools"] if arguments.calls else []
        with Jail(real_servers.binary(), environment, [*LIMITS, *tools]) as jail:
            if arguments.calls:
                system_calls.look(jail, chosen, SECONDS_MAX)
            else:
                compare(jail, environment, chosen)


def programs(arguments):
    found = sorted((FOLDER / "programs").glob("*.py"))
    if arguments.calls:
        found += sorted(EVERYDAY.glob("[0-9]*.py"))
    found = [path for path in found if not arguments.words or any(word in path.stem for word in arguments.words)]
    if not found:
        raise SystemExit(f"error: no program has any of these words in its name: {' '.join(arguments.words)}")
    return found[:: arguments.sample]


def compare(jail, environment, chosen):
    began = time.monotonic()
    complaints = []

    def both(path):
        return jail.run(path, SECONDS_MAX), outside(environment, path, SECONDS_MAX)

    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for path, (ours, theirs) in zip(chosen, pool.map(both, chosen)):
            complaints += differences(path.stem, ours, theirs)
    seconds = time.monotonic() - began
    if complaints:
        print("\n".join(complaints))
        raise SystemExit(f"error: {len(complaints)} differences in {len(chosen)} programs, {seconds:.0f} s")
    print(f"{len(chosen)} programs do the same in the native engine and outside, {seconds:.0f} s.")


def differences(name, ours, theirs):
    """What differs: output, result or error."""
    keys = sorted(key for key in {*ours, *theirs} if ours.get(key) != theirs.get(key))
    return [f"{name}: {key}\n  inside:  {ours.get(key)!r}\n  outside: {theirs.get(key)!r}" for key in keys]


if __name__ == "__main__":
    main()
