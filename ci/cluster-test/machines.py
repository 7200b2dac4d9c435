"""Machines of a cluster, each a process with a home of its own."""

import json
import re
import signal
import subprocess
import time

from own_home import OwnHome

START_SECONDS_MAX = 60
STOP_SECONDS_MAX = 60
PLACES = 8


class Trouble(Exception):
    """The test itself can't go on."""


class Machine(OwnHome):
    failure = Trouble
    command_seconds_max = 120

    def __init__(self, cluster, name, scheme, settings="", host=None):
        super().__init__(cluster.gristmill, cluster.engine, f"gristmill-cluster-{name}-")
        self.name, self.log = name, self.folder / "log.txt"
        config = self.folder / ".config" / "gristmill"
        config.mkdir(parents=True)
        table = cluster.bus.configuration(name, scheme, settings)
        (config / "gristmill.toml").write_text(f'policy = "trusting"\n\n{table}')
        self.process, self.was_killed = None, False
        # A network of its own, and what gets it into that.
        self.host = host
        self.prefix = host.prefix if host else []
        self.address = host.address if host else "127.0.0.1"

    def begin(self, *words):
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*self.prefix, self.gristmill, *words],
                cwd=self.work,
                env=self.variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def wait_for_word(self, pattern, since, seconds_max=START_SECONDS_MAX):
        """Until it has said that it runs."""
        until = time.monotonic() + seconds_max
        while time.monotonic() < until:
            if found := re.search(pattern, self.log.read_text(errors="replace")[since:]):
                return found
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise Trouble(f"{self.name} doesn't start: {self.said()}")

    def said(self):
        return self.log.read_text(errors="replace")[-3000:] if self.log.exists() else ""

    def doctor(self):
        """What `gristmill doctor` says of the cluster; how else this machine is doesn't matter here."""
        done = self.tried("doctor", "--no-servers", "--json")
        try:
            return json.loads(done.stdout)["cluster"]
        except (ValueError, KeyError) as error:
            raise Trouble(f"doctor at {self.name} ended with {done.returncode}: {done.stderr}") from error

    def has_ended(self):
        return self.process is None or self.process.poll() is not None

    def kill(self):
        self.was_killed = True
        self.process.kill()
        self.process.wait()

    def stop(self):
        """As an administrator does. Its exit code."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.kill()
            return f"none within {STOP_SECONDS_MAX} s"

    def end_now(self):
        if not self.has_ended():
            # One that was stopped dies all the same.
            self.process.kill()
            self.process.wait()


    def pause(self):
        """The process alone: what it has started goes on, and isn't heard."""
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)


class Node(Machine):
    def __init__(self, cluster, name, scheme, host=None):
        super().__init__(cluster, name, scheme, host=host)

    def start(self):
        since = self.log.stat().st_size if self.log.exists() else 0
        self.begin("worker-node", "--places", str(PLACES))
        self.wait_for_word(r"node \S+ of cluster", since)
