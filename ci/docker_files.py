"""Holds Dockerfile, .dockerignore and compose.yaml together, without docker.

    python3 ci/docker_files.py

What they name is there, the versions are ours and pinned, nothing runs as root, and the port is one.
"""

import fnmatch
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def instructions(text):
    """(name, rest) of each instruction, continued lines joined."""
    joined = re.sub(r"\\\n\s*", " ", re.sub(r"^\s*#.*\n", "", text, flags=re.MULTILINE))
    return [tuple(line.split(None, 1)) for line in joined.splitlines() if line.strip()]


def complaints(root=ROOT):
    found = instructions((root / "Dockerfile").read_text())
    compose = (root / "compose.yaml").read_text()
    yield from about_images(root, found)
    yield from about_copies(root, found)
    yield from about_user(root, found)
    yield from about_port(found, compose)
    for wanted in ("cap_drop: [ALL]", "no-new-privileges:true", "read_only: true", "init: true"):
        if wanted not in compose:
            yield f"compose.yaml has no `{wanted}`"
    if re.search(r"privileged|SYS_ADMIN|seccomp[:=]unconfined|network_mode: *host", compose):
        yield "compose.yaml gives the container more than it needs"
    for script in sorted((root / "packaging" / "docker").glob("*.sh")):
        if not os.access(script, os.X_OK):
            yield f"{script.name} isn't executable"


def about_images(root, found):
    images = [rest.split()[0] for name, rest in found if name == "FROM"]
    for image in images:
        if ":" not in image or image.endswith(":latest"):
            yield f"{image} has no version"
    rust = re.search(r'rust-version = "([\d.]+)"', (root / "Cargo.toml").read_text())[1]
    if not images or not images[0].startswith(f"rust:{rust}-"):
        yield f"the first image isn't of Rust {rust}, which Cargo.toml asks for"
    releases = {re.search(r"bookworm|trixie|$", image)[0] for image in images}
    if len(releases) != 1 or "" in releases:
        yield f"the images are of different systems: {sorted(releases)}; the binary is linked with one"


def about_copies(root, found):
    ignored = [line for line in (root / ".dockerignore").read_text().split() if not line.startswith("#")]
    scripts = set(re.findall(r"(?:packaging/docker|/usr/local/lib/gristmill)/(\w+\.sh)", str(found)))
    sources = [rest.split()[0] for name, rest in found if name == "COPY" and not rest.startswith("--from")]
    for source in [*sources, *(f"packaging/docker/{script}" for script in scripts)]:
        if not (root / source).exists():
            yield f"{source} isn't there"
        if any(fnmatch.fnmatch(source.rstrip("/"), pattern) for pattern in ignored):
            yield f"{source} is left out by .dockerignore"
    for needed in ("Cargo.lock", ".cargo", "crates", "guests"):
        if needed in ignored or not (root / needed).exists():
            yield f"the build needs {needed}"


def about_user(root, found):
    last = max(index for index, (name, _) in enumerate(found) if name == "FROM")
    users = [(index, rest) for index, (name, rest) in enumerate(found) if name == "USER" and index > last]
    if not users or users[-1][1].split(":")[0] in ("0", "root"):
        yield "the container runs as root"
        return
    user = users[-1][1].split(":")[0]
    if f"user={user}\n" not in (root / "packaging/docker/install.sh").read_text():
        yield f"install.sh makes folders for another user than {user}"


def about_port(found, compose):
    [port] = [rest for name, rest in found if name == "EXPOSE"]
    for name in ("HEALTHCHECK", "CMD"):
        if not any(port in rest for known, rest in found if known == name):
            yield f"{name} isn't about port {port}"
    if f'"127.0.0.1:{port}:{port}"' not in compose:
        yield f"compose.yaml doesn't publish port {port} on this machine alone"


if __name__ == "__main__":
    lines = list(complaints())
    for line in lines:
        print(f"error: {line}", file=sys.stderr)
    sys.exit(1 if lines else 0)
