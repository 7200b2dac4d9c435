"""The crates behind the binary: which are in it, and which only help to build it.

cargo tells the features of both together, so that a few that only the build needs count as inside: those that
wasmtime compiles engines with.
"""

import json
import os
import re
import subprocess
from dataclasses import dataclass

import product

BINARY = "gristmill-cli"


@dataclass(frozen=True)
class Crate:
    """One package of cargo's; `checksum` is that of its archive, and ours have none."""

    id: str
    name: str
    version: str
    license: str
    authors: tuple
    repository: str
    folder: str
    checksum: str | None
    is_ours: bool
    is_inside: bool
    needs: tuple


def read(rust_target):
    command = [os.environ.get("CARGO", "cargo"), "metadata", "--locked", "--offline", "--format-version", "1"]
    command += ["--filter-platform", rust_target]
    command += ["--features", ",".join(f"{BINARY}/{feature}" for feature in product.FEATURES)]
    ran = subprocess.run(command, cwd=product.ROOT, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if ran.returncode != 0:
        words = ran.stderr.decode(errors="replace").strip()[:500]
        raise product.CannotRelease(f"cargo metadata failed; run `cargo fetch --locked` first: {words}")
    lock = (product.ROOT / "Cargo.lock").read_text(encoding="utf-8")
    return crates(json.loads(ran.stdout), checksums(lock))


def checksums(lock):
    """(name, version) → SHA-256, of a Cargo.lock."""
    pattern = r'^name = "([^"]+)"\nversion = "([^"]+)"\nsource = "[^"]+"\nchecksum = "([0-9a-f]{64})"$'
    return {(name, version): found for name, version, found in re.findall(pattern, lock, re.MULTILINE)}


def crates(metadata, known_checksums):
    """Everything that the binary is made from, sorted by name and version."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    [start] = [package["id"] for package in metadata["packages"] if package["name"] == BINARY]
    macros = {
        package["id"]
        for package in metadata["packages"]
        if any("proc-macro" in target["kind"] for target in package["targets"])
    }
    inside = _reached(start, lambda id: (dep for dep in _needed(nodes[id], {None}) if dep not in macros))
    everything = _reached(start, lambda id: _needed(nodes[id], {None, "build"}))
    found = []
    for id in everything:
        package = packages[id]
        name, version = package["name"], package["version"]
        found.append(
            Crate(
                id=id,
                name=name,
                version=version,
                license=expression(package["license"]),
                authors=tuple(package.get("authors") or ()),
                repository=package.get("repository") or "",
                folder=os.path.dirname(package["manifest_path"]),
                checksum=known_checksums.get((name, version)),
                is_ours=package["source"] is None,
                is_inside=id in inside,
                needs=tuple(sorted(_needed(nodes[id], {None, "build"}))),
            )
        )
    return sorted(found, key=lambda crate: (crate.name, crate.version))


def expression(license):
    """An SPDX expression; `/` is how crates wrote OR before expressions came."""
    return re.sub(r"\s*/\s*", " OR ", license or "")


def _needed(node, kinds):
    return {dep["pkg"] for dep in node["deps"] if any(kind["kind"] in kinds for kind in dep["dep_kinds"])}


def _reached(start, following):
    found, waiting = {start}, [start]
    while waiting:
        for id in following(waiting.pop()):
            if id not in found:
                found.add(id)
                waiting.append(id)
    return found
