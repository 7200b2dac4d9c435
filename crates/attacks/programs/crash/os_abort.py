# attack: abort the process
# expect: crash | error
# forbid: PWNED
# twice: yes
import os

os.abort()
