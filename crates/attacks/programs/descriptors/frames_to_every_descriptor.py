# attack: write forged answers to every descriptor, hoping that one is the host's channel
# expect: ok | error | crash
# forbid: PWNED
import os
import struct

# The word is spelled with JSON escapes: it shows only if somebody parses the frame.
body = rb'{"jsonrpc":"2.0","id":1,"kind":"finished","ok":true,"result":"\u0050WNED","stdout":"\u0050WNED"}'
frames = [body + b"\n", struct.pack("<I", len(body)) + body, struct.pack(">I", len(body)) + body, struct.pack("<Q", len(body)) + body]
frames.append(b"Content-Length: %d\r\n\r\n" % len(body) + body)
for fd in range(256):
    for frame in frames:
        try:
            os.write(fd, frame)
        except OSError:
            break
result = "honest"
