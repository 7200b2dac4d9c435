"""Runs Claude Code itself against `gristmill serve`, with a mock of the model on loopback.

    python3 ci/claude_code.py [--requests FILE]

Run by hand, not by CI: it installs Claude Code (350 MB) from npm, pinned in ci/claude-code, into the
user's cache. Nothing leaves the machine: Claude Code gets a home of its own, a key that is none, and the
mock as its model. The mock runs a program with a mistake in it, then the right one, then quotes what came
back; the checks are that our tools were offered, that the mistake was explained, and that the result was
in the next request. What a person would see is printed. --requests keeps what Claude Code sent.
"""

import argparse
import hashlib
import json
import shutil
import sys
from pathlib import Path

import real_servers

HERE = Path(__file__).resolve().parent
PINS = HERE / "claude-code"
sys.path[:0] = [str(PINS), str(HERE / "real-clients")]

from mock_model import MockModel, result_text, tool_results
from served import Home, run_bounded
from world import Installed

LOCKS = ("package.json", "package-lock.json")
MISTAKEN = """from servers.calculator import evaluate
result = await evaluate(expresion="1 ^ 2")
"""
PROGRAM = """from servers.calculator import evaluate
values = await asyncio.gather(*(evaluate(expression=f"{n} ^ 2") for n in range(1, 11)))
result = {"sum of squares": sum(v["value"] for v in values)}
"""
ASKED = "Add up the squares of 1 to 10 with the calculator."
TOOL = "mcp__gristmill__execute_code"
CLAUDE_SECONDS_MAX = 120


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--requests", metavar="FILE", help="write every request that the model got")
    options = parser.parse_args(arguments)
    Installed.gristmill = real_servers.binary()
    Installed.servers = real_servers.install()
    Installed.engine = real_servers.engine(Installed.gristmill)
    claude = install()
    failures = []
    sent = {}
    for title, transport, variables in (
        ("As it comes", "stdio", {}),
        ("Without tool search", "stdio", {"ENABLE_TOOL_SEARCH": "false"}),
        ("Over HTTP", "http", {}),
    ):
        print(f"\n# {title}\n")
        sent[title] = converse(claude, transport, variables, failures)
    if options.requests:
        Path(options.requests).write_text(json.dumps(sent, indent=1))
    for failure in failures:
        print(f"FAILED: {failure}")
    if failures:
        raise SystemExit(1)
    print("\nAll checks passed.")


def converse(claude, transport, variables, failures):
    """One question to Claude Code; what the model was sent."""
    home = Home()
    model = MockModel(TOOL, [{"code": MISTAKEN}, {"code": PROGRAM}])
    try:
        done = ask(claude, home, model, entry_of(home, transport), variables)
    finally:
        model.close()
        home.close()
    show(done, model)
    failures += check(done, model)
    return model.requests


def entry_of(home, transport):
    if transport == "http":
        return {"type": "http", "url": home.serve_over_http(), "headers": home.headers()}
    return {"type": "stdio", "command": Installed.gristmill, "args": ["serve"], "env": home.world.variables}


def ask(claude, home, model, entry, variables):
    world = home.world
    configured = world.folder / "mcp.json"
    configured.write_text(json.dumps({"mcpServers": {"gristmill": entry}}))
    world.variables = {
        **world.variables,
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        **variables,
    }
    words = ["-p", ASKED, "--mcp-config", configured, "--strict-mcp-config", "--allowedTools", TOOL]
    shown = ["--output-format", "stream-json", "--verbose"]
    return run_bounded([claude, *words, *shown], world, CLAUDE_SECONDS_MAX)


def offered(model):
    """Our tools as the model got them, by name, from the request in which it called one."""
    for request in model.requests:
        tools = [tool for tool in request.get("tools", ()) if "gristmill" in tool.get("name", "")]
        found = {tool["name"]: tool for tool in tools}
        if found:
            return found
    return {}


def show(done, model):
    print(f"> {ASKED}")
    for line in done.stdout.splitlines():
        show_event(json.loads(line))
    if done.stderr.strip():
        print(f"-- on standard error:\n{done.stderr.strip()}")
    tools = offered(model)
    print("\nOur tools, as the model got them:")
    for name, tool in tools.items():
        sent = {key: tool.get(key) for key in ("name", "description", "input_schema")}
        later = ", deferred" if tool.get("defer_loading") else ""
        print(f"  {name}: about {len(json.dumps(sent)) // 4} tokens{later}")
    print(f"Requests to the model: {len(model.requests)}; to anything else: {model.others}")


def show_event(event):
    """As the terminal shows it, in short."""
    if event["type"] == "system" and event.get("subtype") == "init":
        print(f"  (Claude Code {event.get('claude_code_version', '')}; servers: {event['mcp_servers']})")
    for part in content_of(event):
        if part.get("type") == "text":
            print(f"● {part['text']}")
        elif part.get("type") == "tool_use":
            print(f"● {part['name']}(code:\n{part['input'].get('code', part['input'])})")
        elif part.get("type") == "tool_result":
            print(f"  ⎿ {result_text(part)}")


def content_of(event):
    content = event.get("message", {}).get("content", []) if event["type"] in ("assistant", "user") else []
    return content if isinstance(content, list) else []


def check(done, model):
    tools = offered(model)
    results = [result_text(result) for result in tool_results(model.requests[-1])] if model.requests else []
    mistaken, answer = (*results, "", "")[:2]
    started = [
        server
        for line in done.stdout.splitlines()
        for server in json.loads(line).get("mcp_servers", ())
        if server["name"] == "gristmill"
    ]
    sent = json.dumps([[request.get("system"), request["messages"]] for request in model.requests[:1]])
    described = tools.get(TOOL, {}).get("description", "")
    for failed, told in (
        (done.returncode != 0, f"Claude Code ended with code {done.returncode}"),
        (not started or started[0]["status"] != "connected", f"gristmill is not connected: {started}"),
        (TOOL not in tools, f"{TOOL} was not offered: {sorted(tools)}"),
        ("mcp__gristmill__search_tools" not in tools, "search_tools was not offered"),
        (any("defer_loading" in tool for tool in tools.values()), "some of our tools have to be searched for"),
        ("from servers." not in described, f"the example is not in the description: {described!r}"),
        ("everything" not in described, f"the description does not name each server: {described!r}"),
        ("execute_code programs" not in sent, "the instructions were not sent"),
        (len(results) != 2, f"two results should have reached the model: {results}"),
        ("`expression`" not in mistaken, f"the mistake is not explained: {mistaken}"),
        ("385" not in answer, f"the result is not 385: {answer}"),
        ("385" not in done.stdout, "nobody saw the answer"),
    ):
        if failed:
            yield told


def install():
    """Claude Code's program, installed on first use and whenever the pin changes."""
    locks = [(PINS / name).read_bytes() for name in LOCKS]
    digest = hashlib.sha256(b"\0".join(locks)).hexdigest()[:16]
    ready = real_servers.CACHE / "claude-code" / digest
    if not real_servers.is_whole(ready):
        print("Installing Claude Code from npm, once …", flush=True)
        shutil.rmtree(ready, ignore_errors=True)
        ready.mkdir(parents=True)
        for name in LOCKS:
            shutil.copy(PINS / name, ready)
        quiet = ["--no-audit", "--no-fund", "--update-notifier=false", "--loglevel=error"]
        real_servers.run(["npm", "ci", "--ignore-scripts", *quiet], cwd=ready)
        (ready / "whole").touch()
    # One package for each kind of machine; npm has taken the one for this.
    found = sorted((ready / "node_modules" / "@anthropic-ai").glob("claude-code-*/claude"))
    if not found:
        raise SystemExit(f"error: npm has no Claude Code for this machine in {ready}")
    return found[0]


if __name__ == "__main__":
    main(sys.argv[1:])
