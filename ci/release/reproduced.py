"""Builds the binary twice, into folders of their own, and names what differs.

Both builds use one Python engine: its image has a hash seed that CPython draws when it is built, so that two
engines are never the same bytes (guests/python/README.md).
"""

import hashlib
import os
import subprocess
import time
from pathlib import Path

import elf
import product as names


def main():
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gristmill"
    builds = []
    for count in (1, 2):
        target = cache / f"reproduce-{count}"
        began = time.monotonic()
        environment = {
            **os.environ,
            "SOURCE_DATE_EPOCH": str(names.epoch()),
            "CARGO_ENCODED_RUSTFLAGS": remapped(target),
        }
        build = [names.ROOT / "packaging" / "docker" / "build.sh", target]
        done = subprocess.run(build, env=environment, stdin=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            raise names.CannotRelease(f"build {count} ended with code {done.returncode}")
        binary = (target / "release" / "gristmill").read_bytes()
        print(f"build {count}: {hashlib.sha256(binary).hexdigest()}, {time.monotonic() - began:.0f} s", flush=True)
        builds.append(binary)
    lines = list(differences(*builds))
    for line in lines:
        print(line)
    print("REPRODUCED: both builds are the same bytes" if not lines else "NOT REPRODUCED: both builds differ as named")
    return 1 if lines else 0


def remapped(target):
    """Flags by which the place of a build doesn't get into its binary; with those of .cargo/config.toml."""
    home = os.environ.get("CARGO_HOME") or Path.home() / ".cargo"
    places = {str(target): "/target", str(names.ROOT): "/source", str(home): "/cargo"}
    return "\x1f".join(["-Clto=off", *(f"--remap-path-prefix={place}={name}" for place, name in places.items())])


def differences(one, other):
    """One line for each section that differs, and for anything outside of them."""
    if one == other:
        return
    if len(one) != len(other):
        yield f"sizes: {len(one):,} and {len(other):,} bytes"
    here, there = elf.sections(one), elf.sections(other)
    for name in [*here, *(name for name in there if name not in here)]:
        first, second = here.get(name), there.get(name)
        if first != second:
            sizes = [0 if data is None else len(data) for data in (first, second)]
            count = sum(a != b for a, b in zip(first or b"", second or b""))
            yield f"section {name or '(none)'}: {sizes[0]:,} and {sizes[1]:,} bytes, {count:,} differ"
    if here == there:
        yield "only bytes outside of every section differ"
