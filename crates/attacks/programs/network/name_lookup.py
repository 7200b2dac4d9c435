# attack: carry data out in the names of look-ups
# expect: ok
# forbid: PWNED
import socket

for way in (
    lambda: socket.getaddrinfo("localhost", 80),
    lambda: socket.gethostbyname("localhost"),
    lambda: socket.gethostbyaddr("127.0.0.1"),
    lambda: socket.getfqdn("127.0.0.1") if socket.getfqdn("127.0.0.1") != "127.0.0.1" else 1 / 0,
):
    try:
        print("PW" + "NED:", way())
    except Exception as error:
        print(type(error).__name__)
