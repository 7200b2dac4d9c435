"""One user's folders, in which one gateway after another is killed."""

import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

from ledger import Loss
from world import listed, place

# The supervisor of a killed gateway ends what it had started; on a busy machine not at once.
GONE_SECONDS_MAX = 10
COMMAND_SECONDS_MAX = 60


class Home:
    def __init__(self, gristmill, engine):
        self.gristmill = gristmill
        self.folder = Path(tempfile.mkdtemp(prefix="gristmill-kill-")).resolve()
        self.data, self.scratch, self.work = (self.folder / name for name in ("data", "scratch", "work"))
        engines = self.folder / "cache" / "engines"
        for folder in (self.work, engines):
            folder.mkdir(parents=True)
        place(engine, engines / engine.name)
        self.variables = {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder),
            "GRISTMILL_CACHE_DIR": str(self.folder / "cache"),
            "GRISTMILL_DATA_DIR": str(self.data),
            "GRISTMILL_SCRATCH_DIR": str(self.scratch),
        }

    def remove(self):
        # Some folders are read-only on purpose.
        for folder, _, _ in os.walk(self.folder):
            os.chmod(folder, 0o700)
        shutil.rmtree(self.folder, ignore_errors=True)

    def command(self, *arguments):
        """A command that must work; what it printed."""
        done = subprocess.run(
            [self.gristmill, *arguments],
            cwd=self.work,
            env=self.variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS_MAX,
        )
        if done.returncode != 0:
            said = f"code {done.returncode}: {done.stderr}{done.stdout}"
            raise Loss(f"gristmill {' '.join(arguments)} ended with {said}")
        return done.stdout

    def json(self, *arguments):
        return json.loads(self.command(*arguments))

    def processes(self):
        """What runs with this home in its command line or environment: {pid: command line}."""
        return {pid: line for pid, line, where in listed() if str(self.folder) in where}

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

    def session_folder(self, name):
        database = self.database()
        try:
            [(handle,)] = database.execute("SELECT id FROM sessions WHERE name = ?", (name,)).fetchall()
        finally:
            database.close()
        return self.data / "sessions" / handle
