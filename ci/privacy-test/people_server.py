"""An MCP server with the planted people, or one that people's values are sent to.

    people_server.py people SEED
    people_server.py mail SEED RECORD     RECORD gets one JSON line for each call: what arrived
"""

import base64
import csv
import io
import json
import os
import sys
import threading
import time

import planted

writing = threading.Lock()
NUMBER = {"number": {"type": "integer"}}
OUTPUT = {"type": "object", "properties": {"email": {"type": "string", "format": "email"}}}
TEXTS = {name: {"type": "string"} for name in ("to", "subject", "body", "mark")}

TOOLS = {
    "people": {
        "get_person": ("Gives one person's record.", NUMBER, OUTPUT),
        "list_people": ("Lists people.", {"offset": {"type": "integer"}, "limit": {"type": "integer"}}, None),
        "get_note": ("Gives a note about a person as text.", {**NUMBER, "form": {"type": "string"}}, None),
        "fail": ("Fails, and says for whom.", NUMBER, None),
        "slowly": ("Gives a person's record after a while, and tells how far it is.", NUMBER, None),
    },
    "mail": {
        "deliver": ("Sends a message.", TEXTS, None),
        "forward": ("Passes a text on to somebody else.", {"note": TEXTS["body"], "mark": TEXTS["mark"]}, None),
    },
}


class Server:
    def __init__(self, role, seed, record=None):
        self.role, self.people, self.path = role, planted.people(int(seed)), record

    def run(self):
        while line := sys.stdin.buffer.readline():
            message = json.loads(line)
            if "id" in message and "method" in message:
                threading.Thread(target=self.answer, args=(message,), daemon=True).start()

    def answer(self, message):
        method, params = message["method"], message.get("params") or {}
        try:
            result = self.result(method, params)
        except (LookupError, TypeError, ValueError) as problem:
            error = {"code": -32602, "message": f"{type(problem).__name__}: {problem}"}
            return send({"id": message["id"], "error": error})
        return send({"id": message["id"], "result": result})

    def result(self, method, params):
        if method == "initialize":
            capabilities = {"tools": {}, "logging": {}}
            if self.role == "people":
                capabilities |= {"resources": {}, "prompts": {}}
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": capabilities,
                "serverInfo": {"name": self.role, "version": "1"},
            }
        if method == "tools/list":
            return {"tools": [described(name, *tool) for name, tool in TOOLS[self.role].items()]}
        if method == "tools/call":
            return getattr(self, params["name"])(params.get("_meta") or {}, **params.get("arguments", {}))
        if method == "resources/list":
            return {"resources": [{"uri": f"people://{number}", "name": f"person {number}"} for number in range(100)]}
        if method == "resources/templates/list":
            return {"resourceTemplates": []}
        if method == "resources/read":
            person = self.people[int(params["uri"].rpartition("/")[2])]
            return {"contents": [{"uri": params["uri"], "mimeType": "text/plain", "text": planted.sentence(person)}]}
        if method == "prompts/list":
            argument = {"name": "number", "required": True}
            return {"prompts": [{"name": "write", "description": "Writes to somebody.", "arguments": [argument]}]}
        if method == "prompts/get":
            text = planted.sentence(self.people[int(params["arguments"]["number"])])
            return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}
        if method in ("ping", "logging/setLevel"):
            return {}
        raise LookupError(f"unknown method {method}")

    # Tools of `people`

    def get_person(self, meta, number):
        found = planted.record(self.people[number], number)
        os.write(2, f"looked up {number}: {found['email']} {json.dumps(found)}\n".encode())
        log = {"level": "warning", "data": {"looked up": found}}
        send({"method": "notifications/message", "params": log})
        return {"content": [text(json.dumps(found))], "structuredContent": found}

    def list_people(self, meta, offset=0, limit=100):
        chosen = range(len(self.people))[offset : offset + limit]
        found = {"people": [planted.record(self.people[number], number) for number in chosen]}
        return {"content": [text(json.dumps(found))], "structuredContent": found}

    def get_note(self, meta, number, form="letter"):
        person = self.people[number]
        said = planted.sentence(person)
        if form == "base64":
            said = base64.b64encode(said.encode()).decode()
        elif form == "csv":
            # Names and dates of birth aren't known without their column's name.
            table = io.StringIO()
            rows = csv.writer(table)
            rows.writerow(planted.SELF_EVIDENT)
            values = {**person, "url_credentials": planted.repository(person)}
            rows.writerow([values[kind] for kind in planted.SELF_EVIDENT])
            said = table.getvalue()
        return {"content": [text(said)]}

    def fail(self, meta, number):
        person = self.people[number]
        os.write(2, planted.sentence(person).encode())
        return {"content": [text(f"no account for this letter:\n{planted.sentence(person)}")], "isError": True}

    def slowly(self, meta, number):
        person = self.people[number]
        for step in range(4):
            if "progressToken" in meta:
                told = {"progressToken": meta["progressToken"], "progress": step, "total": 4}
                told["message"] = f"asking {person['email']} at {person['phone']}"
                send({"method": "notifications/progress", "params": told})
            time.sleep(0.2)
        return self.get_person(meta, number)

    # Tools of `mail`

    def deliver(self, meta, to="", subject="", body="", mark=""):
        self.arrived("deliver", {"to": to, "subject": subject, "body": body, "mark": mark})
        return {"content": [text(f"sent to {to}: {subject} {body}")]}

    def forward(self, meta, note="", mark=""):
        self.arrived("forward", {"note": note, "mark": mark})
        return {"content": [text(f"passed on: {note}")]}

    def arrived(self, tool, arguments):
        with writing, open(self.path, "a", encoding="utf-8") as record:
            record.write(json.dumps({"tool": tool, **arguments}) + "\n")


def described(name, description, properties, output):
    tool = {"name": name, "description": description, "annotations": {"readOnlyHint": name not in TOOLS["mail"]}}
    tool["inputSchema"] = {"type": "object", "properties": properties}
    if output:
        tool["outputSchema"] = output
    return tool


def text(said):
    return {"type": "text", "text": said}


def send(message):
    with writing:
        sys.stdout.buffer.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    Server(*sys.argv[1:]).run()
