import base64
import binascii
import hashlib
import hmac

message = "Grüße aus Gent".encode()
print(hashlib.sha256(message).hexdigest())
print(hashlib.md5(message, usedforsecurity=False).hexdigest())
print(hashlib.sha1(b"abc").hexdigest()[:12], hashlib.blake2b(b"abc", digest_size=8).hexdigest())
print(hmac.new(b"key", message, "sha256").hexdigest()[:16])
print(base64.b64encode(message).decode(), base64.urlsafe_b64encode(b"\xff\xfe\xfd").decode())
print(base64.b32encode(b"mill").decode(), base64.b85encode(b"mill").decode(), binascii.hexlify(b"mill").decode())
print(base64.b64decode("R3Jpc3Q=").decode(), hmac.compare_digest("a", "a"))
