"""Clicks through the dashboard with a real browser.

    python3 ci/browser_test.py [--screenshots DIR]
    python3 ci/browser_test.py --pictures docs/dashboard

A gateway with the example servers, a few programs, and names and output that try to be markup; then
Chromium, driven by playwright-core: every page in both themes and at phone width, with the console watched for
errors and for anything the content security policy refused, and axe-core looking for what keeps people out. A
waiting call is approved while its program runs, another is denied with a reason, a running program's output is
seen as it comes, and the playground runs a program. `--pictures` makes those of docs/dashboard.md instead. Chromium comes from the system's packages, and is installed if this is root on
Debian; the rest is pinned in ci/browser and installed once, into the user's cache.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import real_servers

PINS = Path(__file__).resolve().parent / "browser"
PLAIN_SERVER = PINS.parents[1] / "crates" / "cli" / "tests" / "support" / "plain_server.py"
sys.path.insert(0, str(PINS.parent / "privacy-test"))
sys.path.insert(0, str(PINS))

import pictures
from own_home import OwnHome
from people_gateway import META, Http, Trouble

CLICKS_SECONDS_MAX = 600

HOSTILE = "<img src=x onerror=document.title='broken'><script>document.title='broken'</script>"
PROGRAMS = [
    {"code": "from servers.calculator import evaluate\nresult = await evaluate(expression='6 * 7')", "session": "work"},
    {"code": f"print({HOSTILE!r})\nresult = {{{HOSTILE!r}: {HOSTILE!r}}}"},
    {"code": f"raise ValueError({HOSTILE!r})"},
    {"code": "open('report.txt', 'w').write('flour\\n' * 100)\nresult = list(range(20_000))", "session": "work"},
    {"code": "def broken(:\n    pass"},
    {"code": "from servers.shop import list_orders\nfor n in range(14): await list_orders()"},
]
DENIED = {"code": "from servers.calculator import evaluate\nresult = await evaluate(expression='6 - 9')"}
WAITS = {"code": "from servers.calculator import evaluate\nresult = await evaluate(expression='6 * 9')"}
SLOW = {
    "code": "import time\nfor n in range(40):\n    print('line', n, flush=True)\n    time.sleep(0.5)\nresult = 'slow'"
}


class BrowserHome(OwnHome):
    failure = Trouble

    def __init__(self, gristmill, engine, lines):
        super().__init__(gristmill, engine, "gristmill-browser-")
        self.heard = self.folder / "heard"
        self.heard.mkdir()
        config = self.folder / ".config" / "gristmill"
        config.mkdir(parents=True)
        (config / "gristmill.toml").write_text("\n".join(lines) + "\n")

    def token(self, name):
        scopes = ["--scope", "execute", "--scope", "admin"]
        return json.loads(self.command("token", "new", name, *scopes, "--json"))["token"]


def tested(gristmill):
    """The configuration of the test. Nobody is told that calls wait: the open page is."""
    server = {"command": str(gristmill), "args": ["example-server", "calculator"]}
    rule = {"server": "calculator", "where": {"expression": "6 ? 9"}, "decision": "ask"}
    lines = ["[policy]", 'preset = "trusting"', "[[policy.rules]]", toml(rule)]
    lines += [f"[servers.{name}]\n{toml(server)}" for name in ("calculator", "other")]
    # It declares no results: what it answers is learned.
    shop = {"command": sys.executable, "args": [str(PLAIN_SERVER), "never changed"]}
    return lines + [f"[servers.shop]\n{toml(shop)}"]


def pictured(gristmill):
    """The configuration of the pictures."""
    rule = {"name": "notes-are-mine", "server": "crm", "tool": "add_note", "decision": "ask", "reason": "customers can read notes"}
    lines = ["[policy]", 'preset = "trusting"', "[[policy.rules]]", toml(rule), "[privacy]", 'mode = "off"']
    for name in pictures.SERVERS:
        lines.append(f"[servers.{name}]\n{toml({'command': str(gristmill), 'args': ['example-server', name]})}")
    return lines


def toml(table):
    return "\n".join(f"{name} = {in_line(value)}" for name, value in table.items())


def in_line(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {in_line(inner)}" for name, inner in value.items()) + " }"
    return json.dumps(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pictures", type=Path, help="a folder for the pictures of the docs")
    parser.add_argument("--screenshots", type=Path, help="a folder for a picture of every page")
    arguments = parser.parse_args()
    chromium = browser()
    if chromium is None:
        print("NOT CHECKED: there is no Chromium here, and only root on Debian can install it")
        return
    gristmill = real_servers.binary()
    lines = pictured(gristmill) if arguments.pictures else tested(gristmill)
    home = BrowserHome(gristmill, real_servers.engine(gristmill), lines)
    gateway = Http(home, 0)
    try:
        click_through(home, gateway, chromium, arguments)
    except BaseException:
        print(gateway.said()[-4_000:], file=sys.stderr)
        raise
    finally:
        gateway.stop()
        home.remove()


def click_through(home, gateway, chromium, arguments):
    if arguments.pictures:
        META["io.modelcontextprotocol/clientInfo"]["name"] = pictures.CLIENT
    client = gateway.client(home.token(pictures.TOKEN if arguments.pictures else "browser-test"))

    def execute(program):
        return client.request("tools/call", {"name": "execute_code", "arguments": program})

    for program in pictures.programs() if arguments.pictures else PROGRAMS:
        execute(program)
    if arguments.pictures:
        pictures.spread_over_the_day(home.data)
    link = home.command("dashboard", "--no-browser", "--http", f"127.0.0.1:{gateway.port}").strip()
    # These go on while the browser looks: until they are answered, or have said everything.
    later = [{"code": pictures.ASKS}] if arguments.pictures else [WAITS, SLOW, DENIED]
    programs = [threading.Thread(target=execute, args=[program], daemon=True) for program in later]
    clicks = subprocess.Popen(
        ["node", "dashboard.mjs"],
        cwd=installed(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "NODE_NO_WARNINGS": "1"},
    )
    folder = arguments.pictures or arguments.screenshots
    asked = {
        "link": link,
        "chromium": chromium,
        "screenshots": str(folder.resolve()) if folder else None,
        "tried": pictures.TRIED if arguments.pictures else None,
    }
    clicks.stdin.write(json.dumps(asked))
    clicks.stdin.close()
    try:
        for line in clicks.stdout:
            # It says when it is there to see them.
            if line.startswith("begin "):
                programs[int(line.split()[1])].start()
            else:
                print(line, end="", flush=True)
        if clicks.wait(CLICKS_SECONDS_MAX) != 0:
            raise SystemExit("error: the dashboard isn't as it should be; see above")
    finally:
        if clicks.poll() is None:
            clicks.kill()


def browser():
    """The program, installed if that can be done; `None` if not."""
    names = ("chromium", "chromium-browser", "google-chrome")
    if not any(map(shutil.which, names)) and os.geteuid() == 0 and shutil.which("apt-get"):
        quiet = {"stdout": subprocess.DEVNULL, "env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}}
        for words in (["update", "-q"], ["install", "-q", "-y", "--no-install-recommends", "chromium"]):
            subprocess.run(["apt-get", *words], check=False, **quiet)
    return next(filter(None, map(shutil.which, names)), None)


def installed():
    """The folder with what drives the browser, filled on first use and whenever a pin or the script changes."""
    files = [PINS / name for name in ("package.json", "package-lock.json", "dashboard.mjs", "pictures.mjs")]
    digest = hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()[:16]
    ready = real_servers.CACHE / "browser" / digest
    if real_servers.is_whole(ready):
        return ready
    shutil.rmtree(ready, ignore_errors=True)
    ready.mkdir(parents=True)
    for file in files:
        shutil.copy(file, ready)
    quiet = ["--no-audit", "--no-fund", "--update-notifier=false", "--loglevel=error"]
    real_servers.run(["npm", "ci", "--ignore-scripts", *quiet], cwd=ready)
    (ready / "whole").touch()
    return ready


if __name__ == "__main__":
    main()
