# attack: folders so deep that no cleaner can name them
# expect: ok | error | limit:workspace_files | limit:wall_time
# forbid: PWNED
# timeout_ms: 5000
import os

depth = 0
try:
    for depth in range(3000):
        os.mkdir("n" * 100)
        os.chdir("n" * 100)
except OSError as error:
    print("refused at", depth, type(error).__name__)
with open("leaf", "w") as f:
    f.write("bottom")
