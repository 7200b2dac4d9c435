"""NKeys, as NATS knows its users: pairs of Ed25519 in base32, with a prefix that says what they are and a checksum.

`openssl` makes the pairs.
"""

import base64
import binascii
import subprocess

# What the first letters come from: S for seed, U for user.
SEED, USER = 18 << 3, 20 << 3
KEY_BYTES = 32
SECONDS_MAX = 30


def new_user():
    """A new pair: the seed for its machine, and the public part for the server."""
    private = openssl("genpkey", "-algorithm", "ed25519", "-outform", "DER")
    return seed_text(private[-KEY_BYTES:]), public_text(public_part(private))


def public_part(private):
    return openssl("pkey", "-inform", "DER", "-pubout", "-outform", "DER", stdin=private)[-KEY_BYTES:]


def seed_text(seed):
    """The prefix of what it is a seed of lies across both first bytes."""
    return encoded(bytes([SEED | USER >> 5, (USER & 31) << 3]) + seed)


def public_text(public):
    return encoded(bytes([USER]) + public)


def encoded(raw):
    checksum = binascii.crc_hqx(raw, 0).to_bytes(2, "little")
    return base64.b32encode(raw + checksum).decode().rstrip("=")


def openssl(*words, stdin=b""):
    done = subprocess.run(["openssl", *words], input=stdin, capture_output=True, timeout=SECONDS_MAX)
    if done.returncode != 0:
        raise SystemExit(f"error: openssl {words[0]} failed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
