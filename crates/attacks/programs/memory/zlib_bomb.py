# attack: inflate a small compressed block into hundreds of megabytes
# expect: limit:memory
# forbid: PWNED
# memory_mb: 128
# timeout_ms: 10000
import zlib

packer = zlib.compressobj(1)
bomb = b"".join(packer.compress(bytes(1 << 20)) for _ in range(300)) + packer.flush()
data = zlib.decompress(bomb)
print("PW" + "NED:", len(data))
