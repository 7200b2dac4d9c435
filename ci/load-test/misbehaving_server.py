"""An MCP server with one habit, for the load test.

    misbehaving_server.py HABIT

Habits, each a tool of the same name:
    hang     never answers
    crash    ends the whole process in the middle of a call
    flood    sends megabytes of errors and of lines that are no messages before it answers
    slow     answers after 200 ms
"""

import json
import os
import sys
import threading
import time

FLOOD = b"warning: all is well " * 50 + b"\n"
FLOOD_LINES = 2_000
SLOW_SECONDS = 0.2

writing = threading.Lock()


def main(habit):
    while line := sys.stdin.buffer.readline():
        message = json.loads(line)
        if "id" in message:
            # A thread of its own: one call that hangs holds up no other.
            threading.Thread(target=answer, args=(habit, message), daemon=True).start()


def answer(habit, message):
    method, params = message["method"], message.get("params", {})
    if method == "initialize":
        result = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": habit, "version": "1"},
        }
    elif method == "ping":
        result = {}
    elif method == "tools/list":
        schema = {"type": "object", "properties": {"number": {"type": "integer"}}}
        result = {"tools": [{"name": habit, "description": "Takes a number.", "inputSchema": schema}]}
    elif method == "tools/call":
        misbehave(habit)
        number = params.get("arguments", {}).get("number", 0)
        result = {"content": [{"type": "text", "text": str(number + 1)}]}
    else:
        return send({"id": message["id"], "error": {"code": -32601, "message": "unknown method"}})
    return send({"id": message["id"], "result": result})


def misbehave(habit):
    if habit == "hang":
        time.sleep(3600)
    elif habit == "crash":
        os._exit(7)
    elif habit == "flood":
        for _ in range(FLOOD_LINES):
            os.write(2, FLOOD)
        with writing:
            for _ in range(20):
                sys.stdout.buffer.write(b"no message at all\n")
    elif habit == "slow":
        time.sleep(SLOW_SECONDS)


def send(message):
    with writing:
        sys.stdout.buffer.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(sys.argv[1])
