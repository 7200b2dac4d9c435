"""Runs pandas' own tests of grouping and merging in the native engine and outside: the same must fail.

    python3 ci/native_pandas.py [--binary FILE] [FOLDER…]

FOLDERs are below the packages, such as pandas/tests/reshape/merge. Prints both counts. Environment, user and binary are
those of native_programs.py.
"""

import argparse
import os
import sys
import time
from pathlib import Path

import real_servers

FOLDER = Path(__file__).resolve().parent / "native"
sys.path.insert(0, str(FOLDER))

from both_ways import Jail, outside
from environment import Environment, NotHere
from ordinary_user import can_reach

FOLDERS = ["pandas/tests/groupby", "pandas/tests/reshape/merge"]
SECONDS_MAX = 3600
LIMITS = ["--level", "development", "--timeout", "3500s", "--memory", "4G", "--limit", "output_bytes=60M"]
SHOWN = 20


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", default=FOLDERS, metavar="FOLDER", help="tests to run")
    parser.add_argument("--binary", help="the gristmill to test")
    arguments = parser.parse_args()
    if arguments.binary:
        os.environ["GRISTMILL_BIN"] = arguments.binary
    try:
        environment = Environment()
        if not can_reach(environment):
            raise NotHere("nobody can't reach Python or its packages")
    except NotHere as reason:
        print(f"NOT CHECKED: pandas' own tests in the native engine: {reason}")
        return
    program, context = FOLDER / "pandas_tests.py", {"folders": arguments.folders}
    with Jail(real_servers.binary(), environment, LIMITS) as jail:
        inside = told("inside", lambda: jail.run(program, SECONDS_MAX, context))
    beside = told("outside", lambda: outside(environment, program, SECONDS_MAX, context))
    differ = {*inside["failed"].items()} ^ {*beside["failed"].items()}
    names = sorted({name for name, _ in differ} | {*inside["errors"]} ^ {*beside["errors"]})
    for name in names[:SHOWN]:
        print(f"{name}\n  inside:  {inside['failed'].get(name)}\n  outside: {beside['failed'].get(name)}")
    if names or inside["counts"] != beside["counts"] or not inside["counts"].get("passed"):
        raise SystemExit(f"error: {len(names)} tests differ")


def told(where, run):
    """What the program tells of its tests."""
    began = time.monotonic()
    report = run()
    result = report.get("result")
    if result is None:
        raise SystemExit(f"error: {where}: {report}")
    counts = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(result["counts"].items()))
    print(f"{where}: {counts}, {time.monotonic() - began:.0f} s", flush=True)
    return result


if __name__ == "__main__":
    main()
