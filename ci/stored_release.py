#!/usr/bin/env python3
"""Makes the copy of a release's data that later versions must be able to open: crates/cli/tests/upgrades.rs.

    python3 ci/stored_release.py --binary FILE [--out DIR]

Run it once for each release, with that release's binary. It lives a short life in a home of its own, through the
commands and one MCP client, and keeps `gristmill backup` of it, with what a later version must find beside it. An
existing copy is never overwritten: what users have doesn't change either.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "crates" / "cli" / "tests" / "data"
SECONDS_MAX = 120
BYTES_MAX = 200_000

# Everything is kept for as long as the configuration allows: the test is run for years.
CONFIG = """\
[history]
keep = "3650d"

[sessions]
named_idle = "3650d"

[results]
keep = "3650d"

[audit]
keep = "3650d"
"""
SKILL = 'def double(x):\n    """Twice a number."""\n    return {}\n'


class Life:
    """One user's home, with a release's binary."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        self.work = folder / "work"
        self.work.mkdir()
        (folder / "config" / "gristmill").mkdir(parents=True)
        (folder / "config" / "gristmill" / "gristmill.toml").write_text(CONFIG)
        shutil.copy(ROOT / "crates/cli/tests/support/plain_server.py", self.work)

    def environment(self):
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "GRISTMILL_DATA_DIR": str(self.folder / "data"),
            "GRISTMILL_CACHE_DIR": str(self.folder / "cache"),
            "GRISTMILL_TYPE_CHECKER": "off",
        }

    def run(self, *words, code=0):
        ran = subprocess.run(
            [self.binary, *words],
            cwd=self.work,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
        )
        if ran.returncode != code:
            raise SystemExit(f"error: gristmill {' '.join(words)} ended with code {ran.returncode}: {ran.stderr}")
        return ran.stdout

    def serve(self, *programs):
        """Has an MCP client run programs, given as the arguments of its calls."""
        with subprocess.Popen(
            [self.binary, "serve"],
            cwd=self.work,
            env=self.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as server:
            hello = {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "life", "version": "1"},
            }
            ask(server, 0, "initialize", hello)
            for number, arguments in enumerate(programs, 1):
                answer = ask(server, number, "tools/call", {"name": "execute_code", "arguments": arguments})
                if answer.get("isError"):
                    raise SystemExit(f"error: {arguments}: {answer}")
            server.stdin.close()
            server.wait(timeout=SECONDS_MAX)


def ask(server, number, method, params):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
    server.stdin.flush()
    for line in server.stdout:
        message = json.loads(line)
        if message.get("id") == number and "method" not in message:
            return message["result"]
    raise SystemExit("error: the server ended")


def live(life):
    """Does a little of everything that is kept; gives what a later version must find."""
    life.run("add", "shop", "--", "python3", "plain_server.py", "changed")
    life.run("tools", "list", "shop")
    life.run("run", "-c", "from servers.shop import list_orders\nlen((await list_orders())['orders'])")
    life.run("run", "-c", "1 / 0", code=1)
    life.run("run", "--language", "typescript", "-c", "const answer: number = 6 * 7; answer")
    life.run("run", "--session", "notes", "-c", "write_file('a.txt', 'kept')\nstate['count'] = 21")
    for body in ("2 * x", "x + x"):
        (life.work / "double.py").write_text(SKILL.format(body))
        life.run("skills", "add", "double.py")
    life.run("token", "new", "alice", "--expires", "never")
    # In a session, since what a client alone has told is forgotten with time.
    life.serve({"code": "list(range(5000))"}, {"code": "'anna.schmidt@example.com'", "session": "notes"})
    listed = lambda *words: json.loads(life.run(*words, "--json"))
    return {
        "schema": listed("db", "check")["version"],
        "executions": [
            {"id": execution["id"], "outcome": execution["outcome"], "code": execution["code"]}
            for execution in listed("history")
        ],
        "sessions": [
            {"id": session["id"], "name": session["name"], "keys": session["keys"]}
            for session in listed("sessions", "list")
        ],
        "results": [result["handle"] for result in listed("results", "list")],
        "skills": [version["version"] for version in listed("skills", "history", "double")],
        "tokens": [token["name"] for token in listed("token", "list")],
        "learned": [[row["server"], row["tool"], row["schema"]] for row in listed("tools", "learned")],
        "vault": [row["session_name"] for row in listed("privacy", "vault", "list")],
        "audit_events": listed("audit", "verify")["events"],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--binary", type=Path, required=True, help="a release binary")
    parser.add_argument("--out", type=Path, default=OUT, help="where the copy goes")
    arguments = parser.parse_args()
    binary = arguments.binary.absolute()
    version = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    archive = arguments.out / f"release-{version}.tar.gz"
    if archive.exists():
        raise SystemExit(f"error: {archive} is there already, and is never made anew")
    with tempfile.TemporaryDirectory(prefix="gristmill-life-") as folder:
        life = Life(binary, Path(folder))
        facts = live(life)
        life.run("backup", "kept.tar.gz")
        backup = (life.work / "kept.tar.gz").read_bytes()
    empty = [name for name, found in facts.items() if not found]
    if empty or len(backup) > BYTES_MAX:
        raise SystemExit(f"error: nothing is kept of {empty}, or {len(backup):,} bytes are too many")
    arguments.out.mkdir(parents=True, exist_ok=True)
    archive.write_bytes(backup)
    archive.with_name(f"release-{version}.json").write_text(json.dumps(facts, indent=1) + "\n")
    print(f"{archive}: {len(backup):,} bytes, {len(facts['executions'])} executions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
