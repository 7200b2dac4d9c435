#!/usr/bin/env python3
"""Makes everything that a release has, in one folder. Nothing is published.

    python3 ci/release.py [--binary FILE] [--out DIR] [--platform NAME]…
    python3 ci/release.py --test [--out DIR]
    python3 ci/release.py --reproduce

Without --binary, the release binary is built first, with the features that a plain build leaves out; a binary without
them is refused. --test makes nothing: it installs each package of the folder
into a clean place and runs a program with it. --reproduce builds the binary twice and compares.

Archives are the same bytes for the same binary and commit. With GRISTMILL_SIGNING_KEY (a file with an Ed25519 key,
as openssl or minisign has it) the hashes are signed. The container image needs docker, and is left out without.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "release"))

import container_image
import contents
import crate_graph
import debian
import elf
import guest_parts
import installed
import licence_texts
import mcp_files
import npm_packages
import product as names
import reproduced
import sbom
import signing
import tarball
import wheel


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--binary", type=Path, help="a release binary of this commit; built if it isn't given")
    parser.add_argument("--out", type=Path, default=default_out(), help="where the files go")
    parser.add_argument(
        "--platform", action="append", default=[], metavar="NAME", help="another platform of this release: linux-arm64"
    )
    parser.add_argument("--test", action="store_true", help="install what is in the folder, and run it")
    parser.add_argument("--reproduce", action="store_true", help="build the binary twice and compare")
    arguments = parser.parse_args()
    try:
        if arguments.reproduce:
            return reproduced.main()
        if arguments.test:
            return installed.main(arguments.out)
        return release(arguments)
    except names.CannotRelease as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def release(arguments):
    product = names.product()
    path = arguments.binary or build()
    if not path.is_file():
        raise names.CannotRelease(f"there is no binary at {path}")
    data = path.read_bytes()
    target = names.target_of(data)
    binary = contents.stripped(data, elf.needs(data).has_symbols)
    completions, manuals = contents.asked(path.absolute(), product.version)
    crates, parts = crate_graph.read(target.platform.rust), guest_parts.read()
    listed = sbom.build(product, crates, parts)
    documents = contents.documents(product.version, listed, licence_texts.build(crates, parts))
    inside = contents.Contents(binary, completions, manuals, documents)
    files = make(product, target, inside, {target.platform.label, *arguments.platform})
    write(arguments.out, files)
    container_image.make(arguments.out, product, documents)
    signature = finish(arguments.out)
    tell(arguments.out, target, signature)
    return 0


def make(product, target, inside, labels):
    """Every file of a release by its name."""
    bundle = mcp_files.build_bundle(product, inside)
    return {
        f"gristmill-{product.version}-{target.platform.label}": inside.binary,
        f"gristmill-{product.version}.cdx.json": inside.documents["gristmill.cdx.json"],
        tarball.name(product, target): tarball.build(product, target, inside),
        wheel.name(product, target): wheel.build(product, target, inside),
        npm_packages.platform_file(product, target): npm_packages.build_platform(product, target, inside),
        npm_packages.launcher_file(product): npm_packages.build_launcher(product, inside, labels),
        debian.name(product, target): debian.build(product, target, inside),
        mcp_files.bundle_name(product, target): bundle,
        "server.json": mcp_files.server_json(product, target, bundle),
    }


def write(folder, files):
    """Into an empty folder, or over what an earlier run has left; anything else stays untouched."""
    folder.mkdir(parents=True, exist_ok=True)
    left = {path.name for path in folder.iterdir()}
    if left and signing.SUMS not in left:
        raise names.CannotRelease(f"{folder} isn't empty, and isn't an earlier release; choose another folder")
    for name in earlier(folder):
        (folder / name).unlink(missing_ok=True)
    for name, data in files.items():
        path = folder / name
        path.write_bytes(data)
        path.chmod(0o755 if name.endswith(("-x64", "-arm64")) else 0o644)


def earlier(folder):
    """The files that an earlier run has written there."""
    sums = folder / signing.SUMS
    if not sums.is_file():
        return []
    listed = [line.split("  ", 1)[1] for line in sums.read_text().splitlines() if "  " in line]
    return [name for name in listed if "/" not in name] + [
        signing.SUMS,
        f"{signing.SUMS}.sig",
        f"{signing.SUMS}.minisig",
    ]


def finish(folder):
    files = {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.is_file() and not path.name.startswith(signing.SUMS)
    }
    (folder / signing.SUMS).write_bytes(signing.sums(files))
    return signing.sign(folder)


def tell(folder, target, signature):
    for path in sorted(folder.iterdir()):
        print(f"{path.stat().st_size:>12,}  {path.name}")
    print(f"needs glibc {'.'.join(map(str, target.glibc))} or newer, {target.platform.label}")
    print(f"signed: {signature}" if signature else f"NOT SIGNED: {signing.VARIABLE} names no key")
    print(folder)


def build():
    """The release binary, as the container image has it."""
    target = Path(os.environ.get("CARGO_TARGET_DIR") or names.ROOT / "target").absolute()
    began = time.monotonic()
    done = subprocess.run(
        [names.ROOT / "packaging" / "docker" / "build.sh", target], stdin=subprocess.DEVNULL, check=False
    )
    if done.returncode != 0:
        raise names.CannotRelease(f"the build ended with code {done.returncode}")
    print(f"built in {time.monotonic() - began:.0f} s")
    return target / "release" / "gristmill"


def default_out():
    return Path(os.environ.get("CARGO_TARGET_DIR") or names.ROOT / "target") / "dist"


if __name__ == "__main__":
    sys.exit(main())
