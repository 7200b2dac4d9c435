"""A server that declares no results. Once a file exists, one of its tools is defined otherwise, and answers so."""

import json
import os
import sys

READS = {"readOnlyHint": True}


def tools(changed):
    about = "Lists orders, newest first." if changed else "Lists orders."
    empty = {"type": "object"}
    needed = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
    return [
        {"name": "list_orders", "description": about, "inputSchema": empty, "annotations": READS},
        {"name": "get_order", "description": "Gets one order.", "inputSchema": needed, "annotations": READS},
        {"name": "pay_all", "description": "Pays all orders.", "inputSchema": empty},
        {"name": "by_customer", "description": "Sums by customer.", "inputSchema": empty, "annotations": READS},
        {"name": "broken", "description": "Fails.", "inputSchema": empty, "annotations": READS},
    ]


def answer(name, changed):
    order = {"id": "o-1", "total_cents": 1250, "paid": True, "created": "2026-05-01T10:00:00Z", "lines": [{"sku": "a-1", "count": 2}]}
    if name == "list_orders":
        return {"entries": [order]} if changed else {"orders": [order, {**order, "coupon": "x"}], "next": None}
    if name == "by_customer":
        return {"anna.schmidt@example.com": 1250, "bob@example.com": 700}
    return order


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    changed = os.path.exists(sys.argv[1])
    method, params = message["method"], message.get("params", {})
    result = {}
    if method == "initialize":
        result = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "shop", "version": "1"},
        }
    elif method == "tools/list":
        result = {"tools": tools(changed)}
    elif method == "tools/call" and params["name"] == "broken":
        result = {"content": [{"type": "text", "text": json.dumps({"why": "no"})}], "isError": True}
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": json.dumps(answer(params["name"], changed))}]}
    elif method != "ping":
        error = {"code": -32601, "message": "no such method"}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
