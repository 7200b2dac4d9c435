# attack: send a datagram
# expect: ok
# forbid: PWNED
import socket

for address in (("127.0.0.1", int("@@PORT@@")), ("127.0.0.1", 53), ("255.255.255.255", 9)):
    try:
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.sendto(b"out", address)
        print("PW" + "NED:", address)
    except Exception as error:
        print(type(error).__name__)
