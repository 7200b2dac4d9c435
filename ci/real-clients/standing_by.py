"""Two gateways that share one state in place of each that serves over HTTP. One of them leads. Clients know only the
other one, which stands by and passes on what they send.
"""

import shutil
import tempfile
import time
from pathlib import Path

from agreement import copy_of, judge_copies
from nats_bus import Bus
from passed_on import LEADING, LEADS, STANDING_BY, STANDS_BY, connections, judge_connections, judge_pair
from served import HttpServer

# Until it's clear that nobody else leads.
LED_SECONDS_MAX = 20
# Until the one that stands by has what is there.
COPIED_SECONDS_MAX = 20


class Pairs:
    """Their bus. Each pair is a cluster of its own there, and none is used twice."""

    def __init__(self, nats_server, count):
        self.folder = Path(tempfile.mkdtemp(prefix="gristmill-pairs-")).resolve()
        self.clusters = [f"pair-{number + 1}" for number in range(count)]
        # By those that were as they must be to their end.
        self.passed_on, self.bus = [], None
        try:
            self.bus = Bus(
                nats_server, self.folder, [LEADING, STANDING_BY], [], keeps_state=True, clusters=self.clusters
            )
        except BaseException:
            self.remove()
            raise
        self.unused = iter(self.clusters)

    def serve(self, world, flags):
        return Pair(self, next(self.unused), world, flags)

    def remove(self):
        if self.bus is not None:
            self.bus.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


class Pair:
    """As an `HttpServer`: the one that stands by, for whoever uses it."""

    def __init__(self, pairs, cluster, world, flags):
        self.pairs, self.world, self.servers = pairs, world, []
        self.operator = world.folder / "operator.toml"
        self.operator.write_text(pairs.bus.configuration("operator", "tls", cluster=cluster))
        key = world.folder / "state.key"
        key.touch(mode=0o600)
        key.write_text(world.ok("cluster", "key").out)
        # A machine of its own has its own home, with the same in its configuration.
        home = world.folder / STANDING_BY
        shutil.copytree(world.home / ".config", home / ".config")
        for name, folder in ((LEADING, world.home), (STANDING_BY, home)):
            config = folder / ".config" / "gristmill" / "gristmill.toml"
            table = pairs.bus.configuration(name, "tls", f'state_key = "${{file:{key}}}"', cluster)
            config.write_text(f"{config.read_text()}\n{table}")
        variables = {"HOME": str(home), "GRISTMILL_DATA_DIR": str(home / "data")}
        try:
            self.leading = self.start(LEADING, flags, LEADS, GRISTMILL_LOG="info,http=debug")
            self.standing_by = self.start(STANDING_BY, flags, STANDS_BY, **variables)
            self.url, self.data = self.standing_by.url, self.standing_by.data
            # Of the state, too: clients of this machine find it there.
            self.wait_for("its own local-token", (self.data / "local-token").exists, COPIED_SECONDS_MAX)
        except BaseException:
            self.kill()
            raise

    def start(self, name, flags, says, **variables):
        server = HttpServer(self.world, flags, name, **variables)
        self.servers.append(server)
        self.wait_for(repr(says), lambda: says in server.log.read_text(), LED_SECONDS_MAX)
        return server

    def wait_for(self, what, condition, seconds):
        if not self.world.wait_for(condition, seconds):
            server = self.servers[-1]
            raise AssertionError(f"{server.name} hasn't got to {what} after {seconds} s: {server.log.read_text()}")

    def end(self):
        """Ends both, and looks whether each was to its end what it was in the beginning."""
        problems = self.disagreement()
        status = self.world.json("cluster", "status", "--json", "--config", self.operator)
        # The other way around, the one that stands by would take the lead.
        for server in reversed(self.servers):
            server.end()
        said = {server.name: server.log.read_text() for server in self.servers}
        logs = (self.leading.data / "logs").glob("gateway.log*")
        passed_on = sum(connections(log.read_text(errors="replace")) for log in logs)
        problems += judge_pair(said, status) + judge_connections(passed_on)
        if problems:
            raise AssertionError("; ".join(problems))
        self.pairs.passed_on.append(passed_on)

    def disagreement(self):
        """What of the state the one that stands by has otherwise, once nobody asks for anything."""
        until = time.monotonic() + COPIED_SECONDS_MAX
        while True:
            copies = {server.name: copy_of(server.data) for server in self.servers}
            problems = judge_copies(LEADING, copies)
            if not problems or time.monotonic() > until:
                return problems
            time.sleep(0.2)

    def kill(self):
        for server in self.servers:
            server.kill()
