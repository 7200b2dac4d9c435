# attack: duplicate one descriptor for ever
# expect: ok | error | limit:open_files
# forbid: PWNED
# timeout_ms: 5000
import os

count = 0
try:
    for count in range(100_000):
        os.dup(1)
except (OSError, AttributeError) as error:
    print("refused", type(error).__name__)
else:
    print("PW" + "NED:", count)
