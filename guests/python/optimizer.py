"""Optimizes the interpreter's code with Binaryen's wasm-opt, which comes from npm, pinned by its hash.

The passes are those that pay: docs/performance.md has what others brought and cost.

    python3 optimizer.py IN OUT CACHE
"""

import base64
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from component_file import CODE, CORE_MODULE, joined, sections

PACKAGE, VERSION = "binaryen", "132.0.0"
INTEGRITY = "sha512-4Usg7yEvwO3FMso3Oov6qkOOHSod1IEv+boKkh77kTljM+eNBouqCTbqWswGzbG+vDNO/b/v2C4gfEh1WgB9Lg=="

PASSES = [
    "--remove-unused-brs",
    "--merge-blocks",
    "--simplify-locals",
    "--vacuum",
    "--optimize-instructions",
    "--coalesce-locals",
    "--reorder-locals",
    "--vacuum",
]

# What the interpreter is compiled for.
FEATURES = [
    "--enable-bulk-memory",
    "--enable-extended-const",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
]


class OptimizerError(Exception):
    """wasm-opt could not be had, or failed. The text says why, and what to do."""


def optimized(component, cache):
    """The component with its interpreter optimized: of all modules the one with the most code."""
    parts = sections(component)
    modules = [place for place, (kind, _) in enumerate(parts) if kind == CORE_MODULE]
    largest = max(modules, key=lambda place: code_size(parts[place][1]))
    parts[largest] = (CORE_MODULE, run(fetched(cache), parts[largest][1]))
    return joined(component[:8], parts)


def code_size(module):
    return sum(len(content) for kind, content in sections(module) if kind == CODE)


def fetched(cache):
    """The folder of the unpacked package."""
    ready = cache / f"{PACKAGE}-{VERSION}"
    if not ready.exists():
        with tempfile.TemporaryDirectory(dir=cache, prefix="stage-") as stage:
            npm = os.environ.get("GRISTMILL_NPM", "npm")
            command([npm, "pack", "--silent", "--ignore-scripts", f"{PACKAGE}@{VERSION}"], stage)
            archive = pathlib.Path(stage) / f"{PACKAGE}-{VERSION}.tgz"
            digest = hashlib.sha512(archive.read_bytes()).digest()
            if f"sha512-{base64.b64encode(digest).decode()}" != INTEGRITY:
                raise OptimizerError(f"{PACKAGE} {VERSION} isn't the pinned one: its hash is another")
            command(["tar", "-xzf", str(archive)], stage)
            shutil.move(pathlib.Path(stage) / "package", ready)
    return ready


def run(package, module):
    with tempfile.TemporaryDirectory() as folder:
        given, made = pathlib.Path(folder) / "given.wasm", pathlib.Path(folder) / "made.wasm"
        given.write_bytes(module)
        command(["node", str(package / "bin" / "wasm-opt"), *PASSES, *FEATURES, str(given), "-o", str(made)], folder)
        return made.read_bytes()


def command(words, folder):
    try:
        out, no_input = subprocess.PIPE, subprocess.DEVNULL
        done = subprocess.run(words, cwd=folder, stdin=no_input, stdout=out, stderr=subprocess.STDOUT)
    except OSError as error:
        raise OptimizerError(f"{words[0]} doesn't start: {error}\nhint: install Node.js with npm") from None
    if done.returncode != 0:
        raise OptimizerError(f"{' '.join(words[:2])} failed\n{done.stdout.decode('utf-8', 'replace')[-2000:]}")


if __name__ == "__main__":
    source, target, cache = map(pathlib.Path, sys.argv[1:])
    target.write_bytes(optimized(source.read_bytes(), cache))
