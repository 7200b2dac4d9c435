# attack: open a port for others
# expect: ok
# forbid: PWNED
import socket

for address in (("127.0.0.1", 0), ("0.0.0.0", 0)):
    try:
        s = socket.socket()
        s.bind(address)
        s.listen()
        print("PW" + "NED: listening on", s.getsockname())
    except Exception as error:
        print(type(error).__name__)
