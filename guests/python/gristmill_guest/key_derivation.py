"""hashlib.pbkdf2_hmac without OpenSSL."""

import hashlib
import hmac


def pbkdf2_hmac(hash_name, password, salt, iterations, dklen=None):
    """The key of RFC 8018, section 5.2. 600,000 iterations take about a second here."""
    if not isinstance(hash_name, str):
        raise TypeError(f"hash_name must be a string, not {type(hash_name).__name__}")
    size = hashlib.new(hash_name).digest_size
    if iterations < 1:
        raise ValueError("iteration value must be greater than 0.")
    dklen = size if dklen is None else dklen
    if dklen < 1:
        raise ValueError("key length must be greater than 0.")
    password, salt = bytes(memoryview(password)), bytes(memoryview(salt))
    blocks = (_block(hash_name, password, salt, iterations, number) for number in range(1, -(-dklen // size) + 1))
    return b"".join(blocks)[:dklen]


def _block(hash_name, password, salt, iterations, number):
    digest = hmac.digest
    last = digest(password, salt + number.to_bytes(4, "big"), hash_name)
    total = int.from_bytes(last, "big")
    for _ in range(iterations - 1):
        last = digest(password, last, hash_name)
        total ^= int.from_bytes(last, "big")
    return total.to_bytes(len(last), "big")


def install():
    """Done once, when the image is built."""
    if not hasattr(hashlib, "pbkdf2_hmac"):
        pbkdf2_hmac.__module__ = "hashlib"
        hashlib.pbkdf2_hmac = pbkdf2_hmac
        hashlib.__all__ = (*hashlib.__all__, "pbkdf2_hmac")
