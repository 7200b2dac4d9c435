#!/usr/bin/env python3
"""Measures which lines and branches the tests reach, by crate, and prints a table.

    python3 ci/coverage.py [--branches] [--out FILE] [-- ARGUMENTS OF cargo llvm-cov…]

On demand: everything is built anew with counters, which takes as long as the first build, and tests take longer than
usual. cargo-llvm-cov is installed by cargo, once, into the user's cache. Branches need a nightly Rust, and are left out
without --branches. What runs in a worker isn't counted: it is killed before it could write its counters down.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gristmill"
VERSION = "0.9.1"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--branches", action="store_true", help="branches, too; needs a nightly Rust")
    parser.add_argument("--out", type=Path, default=CACHE / "coverage.md", help="where the table goes")
    parser.add_argument("rest", nargs="*", help="for cargo llvm-cov, such as `--package gristmill-domain`")
    arguments = parser.parse_args()
    need_component(arguments.branches)
    report = CACHE / "coverage.json"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    toolchain = ["+nightly"] if arguments.branches else []
    llvm_cov = ["cargo", *toolchain, "llvm-cov"]
    branch = ["--branch"] if arguments.branches else []
    # In two steps: a test that fails must not cost the figures of all others.
    test = [*llvm_cov, *(arguments.rest or ["--workspace"]), "--locked", "--no-fail-fast", "--no-report", *branch]
    write = [*llvm_cov, "report", "--json", "--summary-only", "--output-path", str(report), *branch]
    environment = {
        **os.environ,
        "PATH": f"{installed()}{os.pathsep}{os.environ['PATH']}",
        "CARGO_TARGET_DIR": str(CACHE / "coverage-target"),
        "GRISTMILL_ENCODER": "required",
    }
    done = subprocess.run(test, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL)
    written = subprocess.run(write, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL)
    if written.returncode != 0 or not report.is_file():
        print(f"error: cargo llvm-cov ended with code {written.returncode} and without figures", file=sys.stderr)
        return 1
    text = table(by_crate(json.loads(report.read_text())), arguments.branches)
    arguments.out.write_text(text)
    print(text)
    if done.returncode != 0:
        print("error: tests failed; the figures are of what ran", file=sys.stderr)
    return done.returncode


def need_component(is_nightly):
    toolchain = ["--toolchain", "nightly"] if is_nightly else []
    added = subprocess.run(["rustup", "component", "add", "llvm-tools", *toolchain], stdin=subprocess.DEVNULL)
    if added.returncode != 0:
        raise SystemExit("error: Rust's llvm-tools component is missing, and rustup can't add it")


def installed():
    """The folder with the pinned cargo-llvm-cov."""
    folder = CACHE / f"cargo-llvm-cov-{VERSION}"
    if not (folder / "bin" / "cargo-llvm-cov").is_file():
        command = ["cargo", "install", "cargo-llvm-cov", "--version", f"={VERSION}", "--locked", "--root", str(folder)]
        if subprocess.run(command, stdin=subprocess.DEVNULL, cwd=CACHE).returncode != 0:
            raise SystemExit(f"error: cargo-llvm-cov {VERSION} can't be installed")
    return folder / "bin"


def by_crate(report):
    """Crate → {kind: (covered, count)}, from what llvm-cov exports; tests themselves don't count."""
    crates = {}
    for data in report["data"]:
        for file in data["files"]:
            found = re.search(r"(?:^|/)crates/([\w-]+)/src/", file["filename"])
            if found is None or re.search(r"(?:^|/|_)tests(?:\.rs$|/)", file["filename"]):
                continue
            sums = crates.setdefault(found[1], {"lines": (0, 0), "branches": (0, 0)})
            for kind, (covered, count) in sums.items():
                summary = file["summary"].get(kind, {})
                sums[kind] = (covered + summary.get("covered", 0), count + summary.get("count", 0))
    return crates


def table(crates, has_branches):
    kinds = ["lines", "branches"] if has_branches else ["lines"]
    head = ["crate", *(f"{kind} covered" for kind in kinds), *kinds]
    rows = [head, ["---", *("---:" for _ in head[1:])]]
    total = {kind: tuple(map(sum, zip(*(sums[kind] for sums in crates.values())))) or (0, 0) for kind in kinds}
    for name, sums in [*sorted(crates.items()), ("all", total)]:
        rows.append([name, *(percent(*sums[kind]) for kind in kinds), *(f"{sums[kind][1]:,}" for kind in kinds)])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def percent(covered, count):
    return f"{100 * covered / count:.1f} %" if count else "-"


if __name__ == "__main__":
    sys.exit(main())
