"""Hashes of all files, and a signature of them by a key that comes from outside."""

import hashlib
import os
import shutil
import subprocess

import product

SUMS = "SHA256SUMS"
VARIABLE = "GRISTMILL_SIGNING_KEY"
SECONDS_MAX = 60


def sums(files):
    """`sha256sum --check` reads it."""
    lines = [f"{hashlib.sha256(data).hexdigest()}  {name}" for name, data in sorted(files.items())]
    return ("\n".join(lines) + "\n").encode()


def sign(folder, key=None):
    """Signs the hashes in a folder; gives the signature's name, or none without a key."""
    key = key or os.environ.get(VARIABLE)
    if not key:
        return None
    try:
        with open(key, "rb") as file:
            head = file.read(100)
    except OSError as error:
        raise product.CannotRelease(f"{VARIABLE} names a key that can't be read: {error}") from error
    if head.startswith(b"-----BEGIN "):
        signature = f"{SUMS}.sig"
        _run(["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", key, "-in", SUMS, "-out", signature], folder)
    elif head.startswith(b"untrusted comment:"):
        signature = f"{SUMS}.minisig"
        _run(["minisign", "-S", "-s", key, "-m", SUMS, "-x", signature], folder)
    else:
        raise product.CannotRelease(f"{key} is neither a PEM file with an Ed25519 key nor a key of minisign")
    return signature


def _run(command, folder):
    if shutil.which(command[0]) is None:
        raise product.CannotRelease(f"{command[0]} is missing; this key needs it")
    ran = subprocess.run(
        command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS_MAX, check=False
    )
    if ran.returncode != 0:
        raise product.CannotRelease(f"{command[0]} can't sign: {ran.stderr.strip()[:500]}")
