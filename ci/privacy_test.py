"""Plants 1,000 values in a server's answers, and looks for them wherever they must not be.

    python3 ci/privacy_test.py [--minutes N] [--mode boundary|output] [--seed N] [--binary FILE]

Clients over stdio and HTTP, of both eras, run programs that print, return, raise, store, send and lose the values,
while the gateways are killed with -9 and started again on the same data folder. Then every byte of the data folder,
of what the gateways wrote to stderr, of what the clients received, and of `history`, `show`, `audit export`, `logs`
and `results` is searched for the values: as they are, and in JSON, base64, percent-encoding and hex. What went from
one server to another must have arrived as it is. Ends with code 1 if a value is found, or one hasn't arrived. First,
a short run with privacy off must find values, so that a search that finds nothing isn't taken for proof. `--minutes`
is for each mode. The binary is --binary or GRISTMILL_BIN, or the one that `cargo build -p gristmill-cli --bin gristmill` has made. Needs Linux.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import real_servers

sys.path.insert(0, str(Path(__file__).resolve().parent / "privacy-test"))

from mixed_programs import ACTIVITIES, KEPT_FROM, SILENT, Caller, run_together
from people_gateway import Http, PeopleHome, Stdio, Trouble
from planted import people, repository
from searched import Found, Needles, pieces, table_rows

# Long enough for each activity to have its turn.
CONTROL_SECONDS = 60
ROUND_SECONDS = (4, 12)
SHOWN_MAX = 60
# Where a program's own files, `state` and large values, and outputs of analyses are: with `output` they are as they
# were written.
KEPT_PLACES = ("data: sessions", "data: results", "data: gristmill.db, table session_values")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--mode", choices=["boundary", "output"], help="only this one")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--binary", help="the gristmill to test")
    parser.add_argument("--keep", action="store_true", help="leave the folders where they are")
    arguments = parser.parse_args()
    if not sys.platform.startswith("linux"):
        print("NOT CHECKED: the privacy test reads /proc")
        return
    if arguments.binary:
        os.environ["GRISTMILL_BIN"] = arguments.binary
    gristmill = real_servers.binary()
    engine = real_servers.engine(gristmill)
    print(f"seed {arguments.seed}", flush=True)
    problems = []
    for mode in ["off", *([arguments.mode] if arguments.mode else ["boundary", "output"])]:
        test = PrivacyTest(gristmill, engine, mode, arguments.seed)
        try:
            problems += test.run(CONTROL_SECONDS if mode == "off" else arguments.minutes * 60)
        finally:
            test.end(arguments.keep)
    if problems:
        print("\n".join(f"problem: {problem}" for problem in problems))
        raise SystemExit(f"error: {len(problems)} problems (seed {arguments.seed})")


class PrivacyTest:
    def __init__(self, gristmill, engine, mode, seed):
        self.mode, self.chance = mode, random.Random(f"{seed} {mode}")
        self.people = people(seed)
        self.needles = Needles(self.people)
        self.home = PeopleHome(gristmill, engine, mode, seed)
        self.tokens = [None, None, self.home.token("first"), self.home.token("second")]
        self.callers = [Caller(number, mode, self.people, self.needles, seed) for number in range(len(self.tokens))]
        self.gateways, self.rounds, self.kills = [], 0, 0
        self.found = Found()

    def run(self, seconds):
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            # Killed in any case: at least once, and at last they end by themselves.
            self.round(min(self.chance.uniform(*ROUND_SECONDS), max(left, 1)), is_last=left <= ROUND_SECONDS[1])
        self.search()
        self.report()
        return self.control() if self.mode == "off" else self.judge()

    # The run

    def round(self, seconds, is_last):
        stdio = Stdio(self.home, self.rounds, is_older=self.rounds % 2 == 1)
        self.gateways = [stdio]
        http = Http(self.home, self.rounds)
        self.gateways.append(http)
        own = (self.home.data / "local-token").read_text().strip()
        clients = [stdio, stdio, http.client(self.tokens[2]), http.client(own if self.rounds % 2 else self.tokens[3])]
        killed = [] if is_last else self.chance.choice([[stdio], [http], [stdio, http]])
        run_together(self.callers, clients, seconds, lambda: self.kill(killed))
        for path in ("/metrics", "/health", "/"):
            if http not in killed:
                clients[2].get(path)
        for gateway in self.gateways:
            if gateway not in killed:
                gateway.stop()
        self.home.wait_until_gone()
        self.rounds += 1

    def kill(self, gateways):
        for gateway in gateways:
            gateway.kill()
            self.kills += 1

    def end(self, keep):
        for gateway in self.gateways:
            if gateway.process.poll() is None:
                gateway.kill()
        if keep:
            print(f"kept: {self.home.folder}")
        else:
            self.home.remove()

    # The search

    def search(self):
        # The data first, WAL and all: commands would tidy it up.
        for path in sorted(self.home.data.rglob("*")):
            # A name is read by whoever lists the folder.
            self.look(self.place(path), str(path.relative_to(self.home.data)).encode())
            if path.is_file() and not path.is_symlink():
                for piece in pieces(path):
                    self.look(self.place(path), piece)
        for path in sorted(self.home.heard.iterdir()):
            self.look(path.name.rpartition("-")[0].replace("-", ", ", 1), path.read_bytes())
        self.commands()
        for name, data in table_rows(self.home.data / "gristmill.db"):
            self.look(f"data: gristmill.db, table {name}", data)

    def place(self, path):
        return f"data: {path.relative_to(self.home.data).parts[0]}"

    def commands(self):
        listed = json.loads(self.command("history", "history", "--limit", "10000", "--json"))
        executions = listed if isinstance(listed, list) else next(iter(listed.values()))
        ids = [one["id"] for one in executions]
        self.chance.shuffle(ids)
        for at, one in enumerate(ids[:SHOWN_MAX]):
            self.command("show", "show", one, *(["--json"] if at % 2 else []))
        self.command("audit export", "audit", "export")
        self.command("logs", "logs", "-n", "100000")
        self.command("stats", "stats")
        self.command("vault list", "privacy", "vault", "list")
        self.command("approvals", "approvals")
        results = json.loads(self.command("results list", "results", "list", "--json"))
        results = results if isinstance(results, list) else next(iter(results.values()))
        for one in results[:10]:
            self.command("results show", "results", "show", one["handle"])

    def command(self, place, *words):
        said = self.home.command(*words)
        self.look(f"command: {place}", said.encode())
        return said

    def look(self, place, data):
        self.found.add(place, self.needles.find(data))

    # The verdict

    def report(self):
        asked = {}
        for caller in self.callers:
            for name, statuses in caller.statuses.items():
                counts = asked.setdefault(name, {})
                for status, count in statuses.items():
                    counts[status] = counts.get(status, 0) + count
        print(f"\n{self.mode}: {self.rounds} rounds, {self.kills} kills", flush=True)
        for name, counts in asked.items():
            print(f"  {name:<26}{', '.join(f'{status} {count}' for status, count in sorted(counts.items()))}")
        print(self.found.table(self.needles.kinds, f"values found, of {len(self.needles.kinds)}, with {self.mode}:"), flush=True)

    def control(self):
        """With privacy off, values must be found, or the search is worth nothing."""
        problems = []
        places = ("client, stdio", "client, http", "command: history", "command: show", "data: gristmill.db",
                  "data: sessions", "data: results", "data: gristmill.db, table executions")  # fmt: skip
        for place in places:
            if not self.found.places.get(place):
                problems.append(f"privacy is off, and nothing is found in {place!r}: the search isn't any good")
        carried = {name for caller in self.callers for name in caller.carried}
        for activity in ACTIVITIES:
            if activity.__name__ not in carried | SILENT:
                problems.append(f"privacy is off, and no answer of {activity.__name__} has a value: it tests nothing")
        return problems + self.arrivals() + self.troubles()

    def judge(self):
        problems = []
        kept = {value for person in self.people[KEPT_FROM:] for value in person.values()}
        for place, values in self.found.places.items():
            if self.mode == "output" and place in (*KEPT_PLACES, "data: gristmill.db", "data: gristmill.db-wal"):
                # As the program wrote them, which docs/privacy.md says.
                values = values - kept
            if values:
                shown = ", ".join(sorted(values)[:3])
                problems.append(f"{self.mode}: {len(values)} values in {place}: {shown}")
        for caller in self.callers:
            for name, (params, answer, values) in caller.examples.items():
                asked = json.dumps(params)[:1500]
                problems.append(f"{self.mode}: {name} was answered with {values[:3]}: {asked}\n  {around(answer, values[0])}")
        return problems + self.arrivals() + self.troubles()

    def arrivals(self):
        """Each message that was acknowledged has the values themselves, and none that was refused was sent."""
        lines = map(json.loads, self.home.arrived.read_text().splitlines())
        arrived = {line["mark"]: line for line in lines}
        problems, count = [], 0
        for caller in self.callers:
            for mark, (number, kind) in caller.sent.items():
                person, got = self.people[number], arrived.get(mark, {})
                body = repository(person) if kind == "url_credentials" else person[kind]
                count += 1
                if got.get("to") != person["email"] or body not in got.get("body", ""):
                    problems.append(f"{self.mode}: a {kind} of {number} hasn't arrived: {got}")
            for mark, code in caller.refused.items():
                if code != "GM-3305" or mark in arrived:
                    problems.append(f"{self.mode}: wasn't refused: {mark} ({code}): {arrived.get(mark)}")
        refused = sum(len(caller.refused) for caller in self.callers)
        print(f"{count} messages arrived with their values, {refused} were refused", flush=True)
        return problems if count else [*problems, f"{self.mode}: nothing was sent from one server to the other"]

    def troubles(self):
        return [f"{self.mode}: caller {caller.number}: {one}" for caller in self.callers for one in caller.problems]


def around(answer, value):
    text = json.dumps(answer, ensure_ascii=False)
    at = max(text.find(value), 0)
    return text[max(at - 300, 0) : at + 200]


if __name__ == "__main__":
    try:
        main()
    except (Trouble, subprocess.TimeoutExpired) as problem:
        raise SystemExit(f"error: {problem}") from problem
