# attack: hold folder listings open without end
# expect: ok | error | limit:open_files | limit:memory
# forbid: PWNED
# timeout_ms: 5000
import os

for n in range(40):
    open(f"f{n}", "w").close()
keep = []
try:
    for n in range(20_000):
        listing = os.scandir(".")
        next(listing)
        keep.append(listing)
except OSError as error:
    print("refused", type(error).__name__)
else:
    print("finished with", len(keep))
