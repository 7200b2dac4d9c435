# attack: treat every descriptor as a socket and send on it
# expect: ok
# forbid: PWNED
import socket

for fd in range(0, 64):
    try:
        s = socket.socket(fileno=fd)
        print("PW" + "NED: descriptor", fd, s.getsockname())
        s.detach()
    except Exception:
        pass
print("done")
