"""An MCP server that writes each call down before it answers, for the cluster test.

    booking_server.py JOURNAL WHO

Tools: `look`, which only reads, and `book`, which doesn't. Both take an id; each call is a line of the journal that
is on disk before the answer leaves. Several servers may write to the same journal.
"""

import json
import os
import sys

ID = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
ANSWER = {"type": "object", "properties": {"id": {"type": "string"}, "calls": {"type": "integer"}}}
TOOLS = [
    {"name": "look", "description": "Looks something up.", "inputSchema": ID, "outputSchema": ANSWER},
    {"name": "book", "description": "Books something.", "inputSchema": ID, "outputSchema": ANSWER},
]
TOOLS[0]["annotations"] = {"readOnlyHint": True}


def main(path, who):
    journal = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    calls = 0
    while line := sys.stdin.buffer.readline():
        message = json.loads(line)
        if "id" not in message:
            continue
        method, params = message["method"], message.get("params", {})
        if method == "initialize":
            result = {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "desk", "version": "1"},
            }
        elif method == "ping":
            result = {}
        elif method == "tools/list":
            result = {"tools": TOOLS}
        elif method == "tools/call":
            calls += 1
            told = {"tool": params["name"], "id": params["arguments"]["id"], "by": who}
            # In one piece: others write there, too.
            os.write(journal, json.dumps(told).encode() + b"\n")
            os.fsync(journal)
            content = {"id": told["id"], "calls": calls}
            result = {"content": [{"type": "text", "text": json.dumps(content)}], "structuredContent": content}
        else:
            send({"id": message["id"], "error": {"code": -32601, "message": "unknown method"}})
            continue
        send({"id": message["id"], "result": result})


def send(message):
    sys.stdout.buffer.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
