# attack: fill /tmp instead of the workspace
# expect: error | limit:workspace_bytes | limit:file_bytes | limit:memory | limit:wall_time
# forbid: PWNED
# timeout_ms: 10000
import tempfile

block = b"t" * (1 << 20)
keep = []
for n in range(768):
    f = tempfile.TemporaryFile(buffering=0) if n < 8 else keep[n % 8]
    if f.write(block) != len(block):
        raise OSError("short write")
    keep.append(f)
print("PW" + "NED: wrote 768 MiB")
