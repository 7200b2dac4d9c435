"""What the engines and the encoder inside the binary are made from, by the pins of their builds."""

import re
from dataclasses import dataclass

import licence_texts
import product


@dataclass(frozen=True)
class Part:
    """One pinned part. `hashes` are (algorithm, hex) of its one archive, if it has just one."""

    kind: str
    name: str
    version: str
    license: str
    hashes: tuple
    what: str

    @property
    def purl(self):
        return f"pkg:{self.kind}/{self.name.lower()}@{self.version}"


def read(root=product.ROOT):
    lock = (root / "guests/python/requirements.lock").read_text(encoding="utf-8")
    licenses = licenses_of((root / "guests/python/README.md").read_text(encoding="utf-8"))
    quickjs = (root / "crates/worker/build/quickjs.rs").read_text(encoding="utf-8")
    weights = (root / "crates/encoder/build/published.rs").read_text(encoding="utf-8")
    return [*python_parts(lock, licenses), quickjs_part(quickjs), weights_part(weights)]


def python_parts(lock, licenses):
    parts = []
    for name, version, hashes in re.findall(
        r"^([\w.-]+)==(\S+)((?: \\\n +--hash=sha256:[0-9a-f]{64})+)", lock, re.MULTILINE
    ):
        found = re.findall(r"sha256:([0-9a-f]{64})", hashes)
        # With one archive for each build machine there's no one hash to tell.
        pinned = (("SHA-256", found[0]),) if len(found) == 1 else ()
        what = "brings CPython and wasi-libc into the engine" if name == "componentize-py" else licence_texts.BUNDLED
        parts.append(Part("pypi", name, version, licenses[name.lower()], pinned, what))
    if not parts:
        raise product.CannotRelease("the lock file of the Python engine has no pins")
    return parts


def licenses_of(readme):
    """The rows of the engine's README: package, license as an SPDX expression."""
    rows = re.findall(r"^\| ([\w.-]+) \| ([^|]+) \| [^|]+ \|$", readme, re.MULTILINE)
    return {name.lower(): license.strip().replace(" or ", " OR ") for name, license in rows}


def quickjs_part(source):
    name, version = _constant(source, "PACKAGE"), _constant(source, "VERSION")
    hashes = (("BLAKE3", _constant(source, "MODULE_HASH")),)
    return Part(
        "npm", name, version, "MIT", hashes, "quickjs.wasm: the engine for TypeScript; the hash is the module's"
    )


def weights_part(source):
    name, version = _constant(source, "PACKAGE"), _constant(source, "VERSION")
    hashes = (("SHA-256", _constant(source, "SHA256")),)
    return Part("pypi", name, version, "MIT AND Apache-2.0", hashes, "the weights of the sentence encoder")


def _constant(source, name):
    found = re.search(rf'^const {name}: &str =\s+"([^"]+)";', source, re.MULTILINE)
    if found is None:
        raise product.CannotRelease(f"a build no longer pins {name}; ci/release/guest_parts.py reads it there")
    return found[1]
