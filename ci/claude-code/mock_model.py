"""A stand-in for the model behind Claude Code: the Messages API on loopback, from a script.

Each turn calls the tool with the next arguments of the script; the last one quotes what came back. Every
request is kept.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY_BYTES_MAX = 64 * 1024 * 1024
MODEL = "claude-opus-4-8"


class MockModel:
    """Serves until it is closed."""

    def __init__(self, tool, script):
        self.tool, self.script = tool, script
        # What was asked of the model itself; and everything else, by method and path.
        self.requests, self.others = [], []
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(min(int(self.headers.get("Content-Length") or 0), BODY_BYTES_MAX))
                model.answer(self, json.loads(body or b"{}"))

            def do_GET(self):
                model.refuse(self)

            do_HEAD = do_GET

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def refuse(self, http):
        self.others.append(f"{http.command} {http.path}")
        http.send_response(404)
        http.send_header("Content-Length", "0")
        http.end_headers()

    def answer(self, http, body):
        path = http.path.partition("?")[0]
        if path == "/v1/messages/count_tokens":
            return self.send(http, {"input_tokens": len(json.dumps(body)) // 4})
        if path != "/v1/messages":
            return self.refuse(http)
        self.requests.append(body)
        block = self.next_block(body)
        reason = "tool_use" if block["type"] == "tool_use" else "end_turn"
        if not body.get("stream"):
            return self.send(http, {**message(reason), "content": [block]})
        http.send_response(200)
        http.send_header("Content-Type", "text/event-stream")
        http.send_header("Connection", "close")
        http.end_headers()
        for event in events(block, reason):
            http.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
        http.wfile.flush()
        http.close_connection = True

    def send(self, http, answer):
        body = json.dumps(answer).encode()
        http.send_response(200)
        http.send_header("Content-Type", "application/json")
        http.send_header("Content-Length", str(len(body)))
        http.end_headers()
        http.wfile.write(body)

    def next_block(self, body):
        """The next call of the tool, if it is offered; after the last, what that answered."""
        if all(tool.get("name") != self.tool for tool in body.get("tools", ())):
            return {"type": "text", "text": "ok"}
        results = tool_results(body)
        if len(results) < len(self.script):
            arguments = self.script[len(results)]
            return {"type": "tool_use", "id": f"toolu_{len(results)}", "name": self.tool, "input": arguments}
        return {"type": "text", "text": f"The gateway answered: {result_text(results[-1])}"}


def tool_results(body):
    """The answers of tools in the conversation so far."""
    said = [message["content"] for message in body["messages"] if message["role"] == "user"]
    parts = [part for content in said if isinstance(content, list) for part in content]
    return [part for part in parts if part.get("type") == "tool_result"]


def result_text(result):
    content = result.get("content", "")
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content)


def message(reason):
    usage = {"input_tokens": 1, "output_tokens": 1}
    about = {"id": "msg_01", "type": "message", "role": "assistant", "model": MODEL, "content": []}
    return {**about, "stop_reason": reason, "stop_sequence": None, "usage": usage}


def events(block, reason):
    """One message as a stream."""
    if block["type"] == "tool_use":
        start = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    else:
        start = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": block["text"]}
    yield {"type": "message_start", "message": {**message(None), "stop_reason": None}}
    yield {"type": "content_block_start", "index": 0, "content_block": start}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    ending = {"stop_reason": reason, "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}
