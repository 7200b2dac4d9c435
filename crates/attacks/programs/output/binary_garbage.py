# attack: bytes that are not UTF-8, on the raw descriptors
# expect: ok | error
# forbid: PWNED
import os
import sys

garbage = bytes(range(256)) * 64 + b"\xff\xfe\xc0\x80\xed\xa0\x80" * 100
for fd in (1, 2):
    try:
        os.write(fd, garbage)
    except OSError as error:
        print("refused", error.errno)
sys.stdout.buffer.write(garbage)
sys.stdout.flush()
print("still here")
