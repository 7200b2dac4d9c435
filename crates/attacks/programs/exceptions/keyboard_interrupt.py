# attack: pretend that somebody pressed Ctrl-C
# expect: error | ok
# forbid: PWNED
# twice: yes
raise KeyboardInterrupt
