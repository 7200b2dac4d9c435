"""One program in the native engine, by `gristmill run`, and the same in plain CPython."""

import json
import subprocess
import tempfile
from pathlib import Path

from ordinary_user import as_ordinary_user, give_to_ordinary_user

FOLDER = Path(__file__).resolve().parent
# One thread for each program, as in the engine: sums come out the same to the last bit.
VARIABLES = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MPLBACKEND": "Agg",
}


class Jail:
    """A home in which the native engine is on. Used with `with`."""

    def __init__(self, gristmill, environment, limits):
        self._gristmill, self._limits = gristmill, limits
        self._home = tempfile.TemporaryDirectory(prefix="gristmill-native-")
        self.folder = Path(self._home.name)
        engine = {"python": environment.python, "path": [str(environment.packages)], "preload": ["numpy", "pandas"]}
        lines = [f"{key} = {json.dumps(value)}" for key, value in engine.items()]
        (self.folder / "gristmill.toml").write_text("\n".join(["[engines.native]", "enabled = true", *lines, ""]))
        give_to_ordinary_user(self.folder)

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self._home.cleanup()

    def run(self, path, seconds_max, context=None, before=()):
        """What a program told, and the words of its command; `before` stands before the command."""
        command = [*before, self._gristmill, "run", "--engine", "native", "--json", "--no-servers", "--privacy", "off"]
        command += [*self._limits, "--config", self.folder / "gristmill.toml"]
        command += [f"--context={name}={json.dumps(value)}" for name, value in (context or {}).items()]
        variables = {**VARIABLES, "HOME": str(self.folder), "TMPDIR": str(self.folder)}
        done = run([*command, path], self.folder, variables, seconds_max)
        try:
            report = json.loads(done.stdout)
        except ValueError:
            return {"no report": done.stderr}
        error = report["error"]
        return {
            "stdout": report["stdout"],
            "stderr": report["stderr"],
            "result": report["result"],
            "error": error and {"message": error["message"], "line": error["line"]},
        }


def outside(environment, path, seconds_max, context=None):
    with tempfile.TemporaryDirectory(prefix="gristmill-outside-") as work:
        give_to_ordinary_user(Path(work))
        command = [environment.python, "-I", "-B", FOLDER / "outside.py", environment.packages, path]
        variables = {**VARIABLES, "HOME": work, "TMPDIR": work}
        done = run([*command, json.dumps(context or {})], work, variables, seconds_max)
    try:
        told = json.loads(done.stdout)
    except ValueError:
        return {"no report": done.stderr}
    told["stderr"] = told["stderr"].replace(str(environment.packages), "/python/packages")
    return told


def run(command, folder, variables, seconds_max):
    return subprocess.run(
        as_ordinary_user(command),
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds_max,
    )
