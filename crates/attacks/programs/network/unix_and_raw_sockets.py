# attack: sockets that are not TCP
# expect: ok
# forbid: PWNED
import socket


def unix(path):
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)


ways = {
    "docker": lambda: unix("/var/run/docker.sock"),
    "abstract": lambda: unix("\0gristmill"),
    "bind": lambda: socket.socket(socket.AF_UNIX).bind("here.sock"),
    "raw": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1),
    "packet": lambda: socket.socket(17, socket.SOCK_RAW, 3),
    "netlink": lambda: socket.socket(16, socket.SOCK_RAW, 0),
    "vsock": lambda: socket.socket(40, socket.SOCK_STREAM).connect((2, 1024)),
}
for name, way in ways.items():
    try:
        way()
        print("PW" + "NED:", name)
    except Exception as error:
        print(name, type(error).__name__)
