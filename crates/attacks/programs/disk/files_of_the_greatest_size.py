# attack: stay below the limit of one file, and make many of them
# expect: error | limit:workspace_bytes | limit:wall_time
# forbid: PWNED
# timeout_ms: 10000
block = b"d" * (1 << 20)
for n in range(768):
    with open(f"part{n}.bin", "wb", buffering=0) as f:
        if f.write(block) != len(block):
            raise OSError("short write")
print("PW" + "NED: wrote 768 MiB")
