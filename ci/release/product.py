"""What is released: its names, its version, its time, and the machine that it is for."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import elf

ROOT = Path(__file__).resolve().parent.parent.parent

NAME = "gristmill"
# For registries of MCP servers: reverse DNS, one slash.
MCP_NAME = "io.github.gristmill/gristmill"
SUMMARY = "Run the code your agents write, in a sandbox between them and their MCP servers"
MAINTAINER = "Gristmill contributors"
LICENSE = "MIT OR Apache-2.0"
KEYWORDS = ("mcp", "code-execution", "sandbox", "agents")

# Of gristmill-cli: those that a plain build leaves out. `packaging/docker/build.sh` builds every release with them.
FEATURES = ("cluster",)

# Below it nothing is promised, whatever a binary needs: the oldest system that people still have.
GLIBC_MIN = (2, 17)
# What every system with that libc has; anything else would have to be shipped along.
LIBRARIES = re.compile(r"(lib(c|m|dl|rt|pthread|util)\.so\.\d|libgcc_s\.so\.1|ld-linux-(x86-64|aarch64)\.so\.\d)$")
GCC_MAX = (4, 8, 0)


class CannotRelease(Exception):
    """Nothing is released. The text says why and what to do."""


@dataclass(frozen=True)
class Product:
    """Version, address and time; all of it from the commit."""

    version: str
    repository: str
    epoch: int


@dataclass(frozen=True)
class Platform:
    """One machine, under the name that each kind of package has for it."""

    label: str
    wheel: str
    npm_cpu: str
    debian: str
    rust: str


PLATFORMS = {
    "x86_64": Platform("linux-x64", "x86_64", "x64", "amd64", "x86_64-unknown-linux-gnu"),
    "aarch64": Platform("linux-arm64", "aarch64", "arm64", "arm64", "aarch64-unknown-linux-gnu"),
}


@dataclass(frozen=True)
class Target:
    """The platform of a binary, and the oldest libc that has what it needs."""

    platform: Platform
    glibc: tuple

    @property
    def manylinux(self):
        return f"manylinux_{self.glibc[0]}_{self.glibc[1]}_{self.platform.wheel}"


def target_of(binary):
    """Where a binary runs, by the symbol versions that it really asks for."""
    try:
        needs = elf.needs(binary)
    except elf.NotElf as error:
        raise CannotRelease(f"this is no binary for Linux: {error}") from error
    strange = [name for name in needs.libraries if not LIBRARIES.match(name)]
    if strange:
        raise CannotRelease(f"the binary needs {', '.join(strange)}, which not every system has; link it statically")
    gcc = needs.newest("GCC")
    if gcc is not None and gcc > GCC_MAX:
        raise CannotRelease(f"the binary needs libgcc {'.'.join(map(str, gcc))}; build it with an older toolchain")
    glibc = (needs.newest("GLIBC") or GLIBC_MIN)[:2]
    return Target(PLATFORMS[needs.machine], max(glibc, GLIBC_MIN))


def product():
    manifest = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    version = re.search(r'^version = "(\d+\.\d+\.\d+)"$', manifest, re.MULTILINE)
    repository = re.search(r'^repository = "(https://[^"]+)"$', manifest, re.MULTILINE)
    if version is None or repository is None:
        raise CannotRelease("Cargo.toml has no version of three numbers, or no repository")
    return Product(version[1], repository[1], epoch())


def epoch():
    """The time of everything in the archives: SOURCE_DATE_EPOCH, or the commit's."""
    said = os.environ.get("SOURCE_DATE_EPOCH")
    if said is None:
        asked = subprocess.run(
            ["git", "log", "-1", "--format=%ct"], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        said = asked.stdout.strip()
    if not said.isdigit():
        raise CannotRelease("the commit's time is unknown; set SOURCE_DATE_EPOCH to seconds since 1970")
    return int(said)
