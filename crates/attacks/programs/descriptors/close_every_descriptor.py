# attack: close everything, the host's channel too
# expect: ok | error | crash
# forbid: PWNED
# twice: yes
import os

try:
    os.closerange(0, 4096)
except OSError as error:
    pass
for fd in range(512):
    try:
        os.close(fd)
    except OSError:
        pass
try:
    await callMCPTool("echo", {"value": 1})
except Exception as error:
    result = type(error).__name__
else:
    result = "the tool still answers"
