# attack: connect to a listener on the host
# expect: ok
# forbid: PWNED
import socket

for address in ("127.0.0.1", "localhost", "0.0.0.0", "127.1"):
    try:
        with socket.create_connection((address, int("@@PORT@@")), timeout=0.5) as connection:
            connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
            print("PW" + "NED:", address)
    except Exception as error:
        print(address, type(error).__name__)
for family, address in ((socket.AF_INET6 if hasattr(socket, "AF_INET6") else 10, ("::1", int("@@PORT@@"))),):
    try:
        socket.socket(family, socket.SOCK_STREAM).connect(address)
        print("PW" + "NED: v6")
    except Exception as error:
        print(type(error).__name__)
