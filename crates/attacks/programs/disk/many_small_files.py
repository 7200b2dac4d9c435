# attack: files without number, each almost empty
# expect: error | limit:workspace_files | limit:wall_time
# forbid: PWNED
# timeout_ms: 10000
for n in range(100_000):
    with open(f"f{n}", "w") as f:
        f.write("x")
print("PW" + "NED: 100000 files")
