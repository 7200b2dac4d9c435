"""Three gateways that share one state over a bus that keeps it, each with a home and a booking server of its own."""

import json
import os
import shutil
import time
from dataclasses import dataclass
from datetime import datetime, timezone

from gateways import ClusterGateway
from machines import Trouble
from nodes import Nodes

GATEWAYS = 3
# Longer than it takes until one that is gone is missed, and another has begun.
LED_SECONDS_MAX = 20
# A gateway that was frozen or cut off has to find out that another one leads.
BACK_SECONDS_MAX = 15
# What it had started before ends soon after.
ENDED_SECONDS_MAX = 10
# Until one that stands by has what was acknowledged.
COPIED_SECONDS_MAX = 10


@dataclass
class Away:
    """When something was away, and for how long after that requests may get no answer."""

    began: float
    after_seconds: float
    ended: float | None = None

    def covers(self, sent, until):
        """Some of the time that a request took."""
        return self.began <= until and (self.ended is None or self.ended + self.after_seconds >= sent)


class SharingGateway(ClusterGateway):
    def __init__(self, cluster, name, scheme, settings, host=None):
        super().__init__(cluster, name, scheme, settings, host)
        # Connections to it hang.
        self.cluster, self.is_silent = cluster, False
        # That a server was added is on record there, and a folder with records of its own shares none.
        shutil.rmtree(self.data)

    def freeze(self):
        self.is_silent = True
        self.pause()

    def thaw(self):
        """What is wrong with how it comes back."""
        return self.begins_anew(self.go_on, "frozen")

    def cut_off(self):
        """It goes on running, and every packet is lost."""
        self.is_silent = True
        self.host.cut_off()

    def join_again(self):
        self.host.join_again()
        self.is_silent = False

    def join_again_overtaken(self):
        """What is wrong with how it comes back."""
        return self.begins_anew(self.host.join_again, "cut off")

    def begins_anew(self, go_on, what_it_was):
        """What is wrong with that: the same process, as one that stands by, at an address of its own."""
        since = self.log.stat().st_size
        go_on()
        try:
            self.wait_for_word(r"another gateway leads now; standing by again", since, BACK_SECONDS_MAX)
            self.port = self.listens(since, BACK_SECONDS_MAX)
        except Trouble:
            return [f"{self.name} doesn't stand by again after it was {what_it_was}: {self.said()[-500:]}"]
        self.is_silent = False
        return self.left_over()

    def left_over(self):
        """What it had started when it led, and still is there though it stands by."""
        pid, until = self.process.pid, time.monotonic() + ENDED_SECONDS_MAX
        while time.monotonic() < until:
            others = {one: line for one, line in self.processes().items() if one != pid}
            dead = unburied(pid)
            if not others and not dead:
                return []
            time.sleep(0.1)
        problems = [f"{self.name} stands by, and process {one} is left: {line}" for one, line in others.items()]
        if dead:
            problems.append(f"{self.name} stands by, and has {len(dead)} children that ended and aren't waited for")
        return problems

    def uncopied(self, results):
        """What its copy lacks of results that were acknowledged, by their files."""
        until = time.monotonic() + COPIED_SECONDS_MAX
        while lacks := [name for name in results if not any(self.data.glob(f"results/*/{name}"))]:
            if time.monotonic() > until:
                return [f"the copy of {self.name} lacks {lacks[0]} after {COPIED_SECONDS_MAX} s"]
            time.sleep(0.1)
        return []

    def terminate(self):
        self.port = None
        return self.stop()


class Sharing(Nodes):
    """The gateways and their bus, all started, and no nodes."""

    def __init__(self, gristmill, engine, nats_server, logs=None, network=None):
        self.logs, self.notes = logs, []
        names = [f"gateway-{number + 1}" for number in range(GATEWAYS)]
        super().__init__(gristmill, engine, nats_server, names, 0, network, keeps_state=True)
        self.away, self.tokens, self.gateways = [], {}, []
        self.journal = self.folder / "journal.jsonl"
        self.journal.touch()
        try:
            key = self.folder / "state.key"
            key.touch(mode=0o600)
            key.write_text(self.operator.command("cluster", "key"))
            settings = f'state_key = "${{file:{key}}}"'
            hosts = [network.host(name) if network else None for name in names]
            self.gateways += [
                self.keep(SharingGateway(self, name, self.schemes[at % 2], settings, hosts[at]))
                for at, name in enumerate(names)
            ]
            first, *others = self.gateways
            first.start()
            # It makes what the others find.
            self.leading()
            for gateway in others:
                gateway.start()
        except BaseException:
            self.remove()
            raise

    def leading(self):
        """The gateway that leads, once it's the only one."""
        until, status = time.monotonic() + LED_SECONDS_MAX, None
        while time.monotonic() < until:
            for gateway in self.gateways:
                if gateway.port and gateway.has_ended():
                    raise Trouble(f"{gateway.name} has ended: {gateway.said()[-1000:]}")
            status = self.status()
            leads = [one["name"] for one in status["gateways"] if one.get("state") == "leads"]
            if len(leads) == 1:
                return next(one for one in self.gateways if one.name == leads[0])
        raise Trouble(f"after {LED_SECONDS_MAX} s, not exactly one gateway leads: {json.dumps(status)}")

    def make_tokens(self, names):
        """Every gateway knows them soon after."""
        leading = self.leading()
        for name in names:
            self.tokens[name] = json.loads(leading.command("token", "new", name, "--json"))["token"]

    def remove(self):
        if self.logs is not None:
            self.keep_logs(self.logs)
        super().remove()

    def keep_logs(self, folder):
        """What everybody has said, for whoever looks for the reason of something."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "test.log").write_text("".join(self.notes))
        for machine in self.machines:
            for log in (machine.log, machine.data / "logs" / "gateway.log"):
                if log.exists():
                    shutil.copy(log, folder / f"{machine.name}-{log.name}")
        for log in self.folder.glob("nats-*.log"):
            shutil.copy(log, folder)

    def journal_entries(self):
        return [json.loads(line) for line in self.journal.read_text().splitlines()]

    def calls_by(self, gateway):
        """How many it has sent."""
        return sum(entry["by"] == gateway.name for entry in self.journal_entries())

    # What is away, and what happens

    def note(self, what):
        """With the time, as logs have it."""
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self.notes.append(f"{now} {what}\n")

    def goes_away(self, after_seconds):
        away = Away(time.monotonic(), after_seconds)
        self.away.append(away)
        return away

    def was_away(self, sent, until):
        return any(away.covers(sent, until) for away in self.away)


def unburied(pid):
    """Its children that have ended, and that it hasn't heard of."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                with open(f"/proc/{entry.name}/stat", errors="replace") as file:
                    state, parent = file.read().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            if state == "Z" and int(parent) == pid:
                found.append(int(entry.name))
    return found
