"""Runs a command on a terminal of some width, types an input, and prints what the terminal was sent.

on_terminal.py COLUMNS INPUT COMMAND ARGUMENT…
"""

import fcntl
import os
import pty
import struct
import sys
import termios

columns, typed, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    os.execvp(command[0], command)
os.write(terminal, typed.encode())
while True:
    try:
        output = os.read(terminal, 65536)
    except OSError:
        break
    if not output:
        break
    sys.stdout.buffer.write(output)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
