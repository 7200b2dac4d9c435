"""Runs a command on a terminal of some width, answers its questions, and prints what the terminal was sent.

Each line of the input is typed once the command waits behind a question, as a person would.

on_terminal.py COLUMNS INPUT COMMAND ARGUMENT…
"""

import fcntl
import os
import pty
import select
import struct
import sys
import termios

columns, typed, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    os.execvp(command[0], command)
lines = typed.splitlines(keepends=True)
last = b""
while True:
    is_asking = last.rstrip().endswith((b"?", b"]", b":"))
    if lines and is_asking and not select.select([terminal], [], [], 0.3)[0]:
        last = b""
        os.write(terminal, lines.pop(0).encode())
    try:
        output = os.read(terminal, 65536)
    except OSError:
        break
    if not output:
        break
    last = (last + output).rsplit(b"\n", 1)[-1]
    sys.stdout.buffer.write(output)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
