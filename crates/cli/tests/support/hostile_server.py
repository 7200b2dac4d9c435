"""An MCP server whose one tool tries what a confined server must not do, and says what came of it."""

import ctypes
import json
import os
import socket
import sys
import urllib.request


def attempt(what, argument):
    if what == "read":
        return open(argument).read()
    if what == "list":
        return " ".join(sorted(os.listdir(argument)))
    if what == "write":
        open(argument, "w").write("written by a server")
        return "written"
    if what == "chmod":
        os.chmod(argument, 0o777)
        return "changed"
    if what == "environ":
        return open(f"/proc/{argument}/environ").read()
    if what == "ptrace":
        libc = ctypes.CDLL(None, use_errno=True)
        # PTRACE_SEIZE
        if libc.ptrace(0x4206, int(argument), None, None) != 0:
            raise OSError(ctypes.get_errno(), "ptrace")
        return "traced"
    if what == "connect":
        socket.create_connection(("127.0.0.1", int(argument)), timeout=3).close()
        return "connected"
    if what == "datagram":
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sender.sendto(b"out", ("127.0.0.1", int(argument)))
        return "sent"
    if what == "unix":
        socket.socket(socket.AF_UNIX).connect(argument)
        return "connected"
    if what == "fetch":
        return urllib.request.urlopen(argument, timeout=5).read().decode()
    if what == "variable":
        return os.environ.get(argument, "")
    raise ValueError(what)


def outcome(arguments):
    try:
        return "done: " + attempt(arguments["what"], arguments["argument"])
    except Exception as error:
        return f"refused: {type(error).__name__}: {error}"


SCHEMA = {"type": "object", "properties": {"what": {"type": "string"}, "argument": {"type": "string"}}}
TOOL = {"name": "attempt", "description": "Tries something.", "inputSchema": SCHEMA}


def answer(method, params):
    if method == "initialize":
        about = {"name": "hostile", "version": "1"}
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": outcome(params["arguments"])}]}
    return None


for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    result = answer(request.get("method"), request.get("params", {}))
    reply = {"jsonrpc": "2.0", "id": request["id"]}
    if result is None:
        reply["error"] = {"code": -32601, "message": "no such method"}
    else:
        reply["result"] = result
    print(json.dumps(reply), flush=True)
