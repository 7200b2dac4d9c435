# attack: a file of a terabyte that costs nothing, until something reads it
# expect: ok | error | limit:file_bytes
# forbid: PWNED
import os

for attempt in (lambda f: f.truncate(1 << 40), lambda f: (f.seek((1 << 40) - 1), f.write(b"x"), f.flush())):
    with open("sparse.bin", "wb", buffering=0) as f:
        try:
            attempt(f)
        except (OSError, OverflowError) as error:
            print("refused", type(error).__name__)
    if os.path.getsize("sparse.bin") > 1 << 35:
        print("PW" + "NED:", os.path.getsize("sparse.bin"))
    os.remove("sparse.bin")
