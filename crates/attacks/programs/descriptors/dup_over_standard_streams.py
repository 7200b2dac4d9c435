# attack: put a workspace file in the place of standard output
# expect: ok | error | crash
# forbid: PWNED
# twice: yes
import os

try:
    fd = os.open("capture.txt", os.O_CREAT | os.O_RDWR)
    os.dup2(fd, 1)
    os.dup2(fd, 2)
    for n in range(3, 30):
        if n != fd:
            try:
                os.dup2(fd, n)
            except OSError:
                pass
except (OSError, AttributeError) as error:
    print(type(error).__name__)
print("where does this go?")
result = "finished"
