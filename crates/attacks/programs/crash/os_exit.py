# attack: leave at once, without an answer
# expect: crash | error
# forbid: PWNED
# twice: yes
import os

os._exit(0)
print("PW" + "NED: after the exit")
