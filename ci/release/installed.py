"""Installs each package of a release into a clean place, as its users do, and runs a program with it.

As root, what was installed is run as an ordinary user (65534) that has nothing but an empty home.
"""

import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import container_image
import product as names
import signing

SECONDS_MAX = 300
USER = 65534
PROGRAM, ANSWER = "6*7", "42"


class Failed(Exception):
    """A package doesn't do what it is for."""


class NotHere(Exception):
    """What installs this kind of package isn't on this machine."""


class Place:
    """A clean folder with a home for whoever runs what is installed in it."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.chmod(0o755)
        self.home = self.folder / "home"
        self.home.mkdir(mode=0o700)
        self.as_user = []
        if os.geteuid() == 0:
            os.chown(self.home, USER, USER)
            self.as_user = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--no-new-privs"]

    def environment(self):
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "TMPDIR": str(self.home),
            "LANG": "C.UTF-8",
        }

    def brought(self, package):
        """A copy of a package that the user can read."""
        copy = self.folder / package.name
        shutil.copyfile(package, copy)
        copy.chmod(0o644)
        return copy

    def folder_of_user(self, name):
        """An empty folder that belongs to the user."""
        made = self.home / name
        made.mkdir()
        if self.as_user:
            os.chown(made, USER, USER)
        return made

    def run(self, command, cwd=None):
        """As the user; gives what it printed."""
        return said([*self.as_user, *command], cwd or self.home, self.environment())

    def runs_a_program(self, command, cwd=None):
        answer = self.run([*command, "run", "-c", PROGRAM], cwd).strip()
        if answer != ANSWER:
            raise Failed(f"{PROGRAM} is {answer!r}")


def main(folder):
    product = names.product()
    if not (folder / signing.SUMS).is_file():
        raise names.CannotRelease(f"there is no release in {folder}; make one with ci/release.py")
    failed = 0
    for title, check in (
        ("hashes", hashes),
        ("archive", archive),
        ("wheel", wheel),
        ("npm packages", npm_packages),
        ("Debian package, unpacked", debian_unpacked),
        ("Debian package, by dpkg", debian_installed),
        ("MCP bundle", bundle),
        ("container image", lambda folder, place: image(folder, product)),
    ):
        with tempfile.TemporaryDirectory(prefix="gristmill-installed-") as place:
            try:
                check(folder, Place(place))
                print(f"ok           {title}", flush=True)
            except NotHere as missing:
                print(f"NOT CHECKED  {title}: {missing}", flush=True)
            except Failed as problem:
                failed += 1
                print(f"FAILED       {title}: {problem}", file=sys.stderr, flush=True)
    return 1 if failed else 0


def one(folder, pattern):
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise Failed(f"{len(found)} files are called {pattern}")
    return found[0]


def hashes(folder, _place):
    for line in (folder / signing.SUMS).read_text().splitlines():
        digest, name = line.split("  ", 1)
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != digest:
            raise Failed(f"{name} has another hash")


def archive(folder, place):
    package = place.brought(one(folder, "gristmill-*.tar.gz"))
    prefix = place.folder_of_user("prefix")
    place.run(["tar", "-xzf", package, "--strip-components=1", "-C", prefix])
    for needed in ("share/man/man1/gristmill.1", "share/bash-completion/completions/gristmill"):
        if not (prefix / needed).is_file():
            raise Failed(f"there is no {needed}")
    place.runs_a_program([prefix / "bin" / "gristmill"])


def wheel(folder, place):
    package = place.brought(one(folder, "*.whl"))
    environment = place.folder / "environment"
    # The user may not reach the Python of whoever runs this, and needs none: the command is a binary.
    said([sys.executable, "-m", "venv", environment], place.folder)
    said([environment / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-index", package], place.folder)
    place.runs_a_program([environment / "bin" / "gristmill"])


def npm_packages(folder, place):
    if shutil.which("npm", path=place.environment()["PATH"]) is None:
        raise NotHere("there is no npm")
    packages = [place.brought(package) for package in sorted(folder.glob("*.tgz"))]
    project = place.folder_of_user("project")
    quiet = ["--offline", "--no-audit", "--no-fund", "--ignore-scripts", "--update-notifier=false", "--loglevel=error"]
    place.run(["npm", "install", *quiet, *packages], project)
    place.runs_a_program(["npx", "--offline", "gristmill"], project)


def debian_unpacked(folder, place):
    if shutil.which("dpkg-deb") is None:
        raise NotHere("there is no dpkg-deb")
    package = place.brought(one(folder, "*.deb"))
    root = place.folder_of_user("root")
    place.run(["dpkg-deb", "-x", package, root])
    place.runs_a_program([root / "usr/bin/gristmill"])


def debian_installed(folder, place):
    """By dpkg itself, with a database of its own; what the package depends on is this system's."""
    if shutil.which("dpkg") is None or os.geteuid() != 0:
        raise NotHere("it needs dpkg, and root")
    root = place.folder / "root"
    for name in ("info", "updates", "triggers"):
        (root / "var/lib/dpkg" / name).mkdir(parents=True)
    (root / "var/lib/dpkg/status").touch()
    package = place.brought(one(folder, "*.deb"))
    dpkg = ["dpkg", f"--root={root}"]
    said([*dpkg, "--force-depends", "--install", package], place.folder)
    if "install ok installed" not in said([*dpkg, "--status", "gristmill"], place.folder):
        raise Failed("dpkg doesn't know it as installed")
    if said([*dpkg, "--verify", "gristmill"], place.folder).strip():
        raise Failed("dpkg finds other files than the package has")
    place.runs_a_program([root / "usr/bin/gristmill"])
    said([*dpkg, "--purge", "gristmill"], place.folder)
    if (root / "usr/bin/gristmill").exists():
        raise Failed("it is still there after it was removed")


def bundle(folder, place):
    """As a client does it: unpacked, the manifest's command started, asked over its standard streams."""
    unpacked = place.folder / "bundle"
    with zipfile.ZipFile(one(folder, "*.mcpb")) as archive:
        for entry in archive.infolist():
            path = Path(archive.extract(entry, unpacked))
            path.chmod(stat.S_IMODE(entry.external_attr >> 16))
    manifest = json.loads((unpacked / "manifest.json").read_text())
    config = manifest["server"]["mcp_config"]
    words = [word.replace("${__dirname}", str(unpacked)) for word in (config["command"], *config["args"])]
    requests = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "release", "version": "1"},
            },
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        {
            "jsonrpc": "2.0",
            "id": 3,
            "method": "tools/call",
            "params": {"name": "execute_code", "arguments": {"code": PROGRAM}},
        },
    ]
    answers = exchanged([*place.as_user, *words], requests, place)
    told = answers[1]["result"]["serverInfo"]
    if (told["name"], told["version"]) != (manifest["name"], manifest["version"]):
        raise Failed(f"the server is {told}")
    offered = {tool["name"] for tool in answers[2]["result"]["tools"]}
    if not offered >= {tool["name"] for tool in manifest["tools"]}:
        raise Failed(f"the manifest names other tools than {sorted(offered)}")
    if ANSWER not in json.dumps(answers[3]["result"]["content"]):
        raise Failed(f"{PROGRAM} is {answers[3]['result']}")


def image(folder, product):
    if not container_image.is_available() or not (folder / container_image.file_name(product)).is_file():
        raise NotHere("docker isn't here, or the release has no image")
    said(["docker", "load", "--input", folder / container_image.file_name(product)], folder)
    confined = ["--rm", "--init", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
    run = ["docker", "run", *confined, "--tmpfs", "/tmp:mode=1777", container_image.name(product)]
    answer = said([*run, "run", "-c", PROGRAM], folder).strip()
    if answer != ANSWER:
        raise Failed(f"{PROGRAM} is {answer!r}")


def exchanged(command, requests, place):
    """Answers by their ids. The server's input stays open until the last one is there."""
    wanted = {request["id"] for request in requests if "id" in request}
    answers = {}
    with subprocess.Popen(
        [str(word) for word in command],
        cwd=place.home,
        env=place.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            for request in requests:
                server.stdin.write(json.dumps(request) + "\n")
                server.stdin.flush()
                while request.get("id") not in {None, *answers}:
                    line = server.stdout.readline()
                    if not line:
                        raise Failed(f"the server ended: {server.stderr.read()[-500:]}")
                    message = json.loads(line)
                    if message.get("id") in wanted and "method" not in message:
                        answers[message["id"]] = message
            server.stdin.close()
            server.wait(timeout=SECONDS_MAX)
        finally:
            server.kill()
    broken = [answer for answer in answers.values() if "result" not in answer]
    if broken:
        raise Failed(f"the server answered {broken}")
    return answers


def said(command, cwd, environment=None):
    command = [str(word) for word in command]
    try:
        ran = subprocess.run(
            command,
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failed(str(error)) from error
    if ran.returncode != 0:
        raise Failed(f"{' '.join(command)[-200:]} ended with code {ran.returncode}: {ran.stderr.strip()[-500:]}")
    return ran.stdout
