# attack: folders without number
# expect: error | limit:workspace_files | limit:wall_time
# forbid: PWNED
# timeout_ms: 10000
import os

for n in range(100_000):
    os.mkdir(f"d{n}")
print("PW" + "NED: 100000 folders")
