# attack: delete files that are still open, so that their bytes are no longer counted
# expect: error | limit:workspace_bytes | limit:open_files | limit:file_bytes | limit:wall_time
# forbid: PWNED
# timeout_ms: 10000
import os

block = b"g" * (1 << 20)
ghosts = []
for n in range(96):
    f = open(f"ghost{n}", "wb", buffering=0)
    os.remove(f"ghost{n}")
    for _ in range(8):
        if f.write(block) != len(block):
            raise OSError("short write")
    ghosts.append(f)
print("PW" + "NED: 768 MiB in files without a name")
