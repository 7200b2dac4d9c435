"""What every package has: the binary, completions, manual pages, licenses, a list of what is inside."""

import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import product
from archives import File

SECONDS_MAX = 60
SHELLS = {
    "bash": "bash-completion/completions/gristmill",
    "zsh": "zsh/site-functions/_gristmill",
    "fish": "fish/vendor_completions.d/gristmill.fish",
}


@dataclass(frozen=True)
class Contents:
    """All of it, in memory. `completions` by shell, `manuals` and `documents` by file name."""

    binary: bytes
    completions: dict
    manuals: dict
    documents: dict

    def executable(self, path):
        return File(path, self.binary, 0o755)

    def documents_in(self, folder):
        return [File(f"{folder}/{name}", data) for name, data in self.documents.items()]

    def licenses_in(self, folder):
        return [File(f"{folder}/{name}", data) for name, data in self.documents.items() if is_license(name)]


def knows_clusters(binary):
    """A build without clusters has their commands, too, and says that it can't."""
    status = [binary, "cluster", "status", "--config", os.devnull]
    ran = subprocess.run(
        status, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS_MAX, check=False
    )
    return ran.returncode == 2 and "this machine is in no cluster" in ran.stderr


# How a binary shows that it was built with a feature.
HAS_FEATURE = {"cluster": knows_clusters}


def is_license(name):
    return name.startswith(("LICENSE", "THIRD-PARTY", "encoder-weights/"))


def stripped(binary, has_symbols):
    """The binary without symbols; as it is if it has none."""
    if not has_symbols:
        return binary
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "gristmill"
        file.write_bytes(binary)
        _run(["strip", "--strip-all", str(file)])
        return file.read_bytes()


def asked(binary, version):
    """(completions, manuals) as the binary prints them; refuses one of another version, or without a feature."""
    said = _run([binary, "--version"]).strip()
    if said != f"gristmill {version}":
        raise product.CannotRelease(f"{binary} is `{said}`, not version {version}; build it from this commit")
    missing = [feature for feature in product.FEATURES if not HAS_FEATURE[feature](binary)]
    if missing:
        listed = ",".join(missing)
        raise product.CannotRelease(
            f"{binary} was built without {listed}, which a release has; build it with `--features {listed}`"
        )
    completions = {shell: _run([binary, "completions", shell]).encode() for shell in SHELLS}
    with tempfile.TemporaryDirectory() as folder:
        _run([binary, "man", "--output-dir", folder])
        manuals = {file.name: file.read_bytes() for file in sorted(Path(folder).glob("*.1"))}
    if not manuals:
        raise product.CannotRelease(f"{binary} wrote no manual pages")
    return completions, manuals


def documents(version, sbom, third_parties):
    """Names and texts for a folder of documents."""
    root = product.ROOT
    readme = (root / "packaging" / "release" / "README.md").read_text(encoding="utf-8")
    found = {
        "README.md": readme.replace("@VERSION@", version).encode(),
        "CHANGELOG.md": (root / "CHANGELOG.md").read_bytes(),
        "LICENSE-MIT": (root / "LICENSE-MIT").read_bytes(),
        "LICENSE-APACHE": (root / "LICENSE-APACHE").read_bytes(),
        "THIRD-PARTY-LICENSES.txt": third_parties,
        "gristmill.cdx.json": sbom,
    }
    for name in ("LICENSE", "NOTICE"):
        found[f"encoder-weights/{name}"] = (root / "crates" / "encoder" / "weights" / name).read_bytes()
    return found


def _run(command):
    ran = subprocess.run(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    if ran.returncode != 0:
        raise product.CannotRelease(f"{command[0]} ended with code {ran.returncode}: {ran.stderr.strip()[:500]}")
    return ran.stdout
