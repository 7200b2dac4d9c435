import hashlib
import hmac

key = hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 1000)
longer = hashlib.pbkdf2_hmac("sha512", b"password", b"salt", 10, dklen=80)
stored = f"{key.hex()}:{longer.hex()[:16]}"
print(stored)
hmac.compare_digest(key, hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 1000))
