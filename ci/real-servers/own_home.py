"""One user's folders, the commands that are run in them, and the processes that come of that."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path


class OwnHome:
    """A home in a folder of its own, with the engine in its cache. Commands that fail raise `failure`."""

    failure = RuntimeError
    command_seconds_max = 60

    def __init__(self, gristmill, engine, prefix):
        self.gristmill = gristmill
        self.folder = Path(tempfile.mkdtemp(prefix=prefix)).resolve()
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
        done = self.tried(*arguments)
        if done.returncode != 0:
            said = f"code {done.returncode}: {done.stderr}{done.stdout}"
            raise self.failure(f"gristmill {' '.join(arguments)} ended with {said}")
        return done.stdout

    def tried(self, *arguments):
        """A command that may fail."""
        return subprocess.run(
            [self.gristmill, *arguments],
            cwd=self.work,
            env=self.variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=self.command_seconds_max,
        )

    def processes(self):
        """What runs with this home in its command line or environment: {pid: command line}."""
        return {pid: line for pid, line, where in listed() if str(self.folder) in where}


def place(source, target):
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def listed():
    """(pid, command line, command line and environment) of every process that can be seen."""
    if not Path("/proc/self/environ").exists():
        lines = subprocess.run(
            ["ps", "axeww", "-o", "pid=,command="], capture_output=True, text=True, timeout=10
        )
        for line in lines.stdout.splitlines():
            pid, _, command = line.strip().partition(" ")
            yield int(pid), command, command
        return
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            environment = (entry / "environ").read_bytes().decode(errors="replace")
        except OSError:
            continue
        # One that has ended and waits to be buried has neither.
        if line:
            yield int(entry.name), line, line + environment
