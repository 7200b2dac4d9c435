"""One user's folders, in which one gateway after another is killed."""

import json
import sqlite3
import time

from ledger import Loss
from own_home import OwnHome

# The supervisor of a killed gateway ends what it had started; on a busy machine not at once.
GONE_SECONDS_MAX = 10


class Home(OwnHome):
    failure = Loss

    def __init__(self, gristmill, engine):
        super().__init__(gristmill, engine, "gristmill-kill-")
        # Where programs must have run; in the gateway, if there are none.
        self.node_names = []
        self.config = self.folder / ".config" / "gristmill" / "gristmill.toml"

    def use_nodes(self, names, configuration):
        self.node_names = names
        self.config.parent.mkdir(parents=True)
        self.config.write_text(configuration)

    def json(self, *arguments):
        return json.loads(self.command(*arguments))

    def wait_until_gone(self):
        """Until no process of a killed gateway is left."""
        until = time.monotonic() + GONE_SECONDS_MAX
        while left := self.processes():
            if time.monotonic() > until:
                raise Loss(f"processes outlived their gateway by {GONE_SECONDS_MAX} s: {left}")
            time.sleep(0.01)

    def scratch_folders(self):
        """One for each gateway that runs, and for each that nobody has cleaned up after."""
        return sorted(path.name for path in self.scratch.glob("gateway-*"))

    def database(self, mode="ro"):
        return sqlite3.connect(f"file:{self.data / 'gristmill.db'}?mode={mode}", uri=True)

    def audit_events(self):
        database = self.database()
        try:
            return [json.loads(text) for (text,) in database.execute("SELECT event FROM audit_events")]
        finally:
            database.close()

    def session_id(self, name):
        database = self.database()
        try:
            [(handle,)] = database.execute("SELECT id FROM sessions WHERE name = ?", (name,)).fetchall()
        finally:
            database.close()
        return handle

    def session_folder(self, name):
        return self.data / "sessions" / self.session_id(name)
