# attack: append to one file without end
# expect: error | limit:file_bytes | limit:workspace_bytes | limit:wall_time
# forbid: PWNED
# timeout_ms: 8000
block = b"d" * (1 << 20)
with open("endless.bin", "wb", buffering=0) as f:
    for _ in range(768):
        if f.write(block) == 0:
            raise OSError("wrote nothing")
print("PW" + "NED: wrote 768 MiB")
