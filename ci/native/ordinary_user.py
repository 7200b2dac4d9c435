"""Programs with foreign packages never run natively as root: root runs them as nobody."""

import os
import shutil
import subprocess

NOBODY = 65534


def as_ordinary_user(command):
    """The command as whoever may run it."""
    if os.geteuid() != 0:
        return command
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *command]


def give_to_ordinary_user(folder):
    """Lets the user of `as_ordinary_user` write there."""
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY)


def can_reach(environment):
    """Whether that user can use an interpreter with its packages."""
    code = f"import sys; sys.path.append({str(environment.packages)!r}); import numpy"
    command = as_ordinary_user([environment.python, "-I", "-B", "-c", code])
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run(command, cwd="/", capture_output=True).returncode == 0
