import io
import struct

record = struct.Struct("<4sHIf?")
blob = b"".join(record.pack(name, n, n * 1000, n / 4, n % 2 == 0) for n, name in enumerate([b"ab", b"long-name", b""], 1))
rows = []
stream = io.BytesIO(blob)
while chunk := stream.read(record.size):
    name, n, big, ratio, even = record.unpack(chunk)
    rows.append({"name": name.rstrip(b"\0"), "n": n, "big": big, "ratio": ratio, "even": even})
result = {
    "size": record.size,
    "rows": rows,
    "hex": blob[:6].hex(" "),
    "int": int.from_bytes(b"\x01\x02\x03", "big"),
    "view": memoryview(b"abcdef")[1:4].tobytes(),
    "big_endian": (1025).to_bytes(4, "big").hex(),
}
