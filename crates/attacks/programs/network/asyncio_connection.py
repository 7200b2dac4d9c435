# attack: connect through the event loop
# expect: ok
# forbid: PWNED
import socket

loop = asyncio.get_running_loop()
port = int("@@PORT@@")
for start in (
    lambda: asyncio.open_connection("127.0.0.1", port),
    lambda: loop.create_connection(asyncio.Protocol, "127.0.0.1", port),
    lambda: loop.create_datagram_endpoint(asyncio.DatagramProtocol, remote_addr=("127.0.0.1", port)),
    lambda: asyncio.start_server(lambda r, w: None, "127.0.0.1", 0),
    lambda: asyncio.open_unix_connection("/var/run/docker.sock"),
    lambda: loop.sock_connect(socket.socket(), ("127.0.0.1", port)),
):
    try:
        await asyncio.wait_for(start(), 0.2)
        print("PW" + "NED: connected")
    except Exception as error:
        print(type(error).__name__)
