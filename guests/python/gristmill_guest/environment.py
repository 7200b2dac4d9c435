"""A fresh process state for each run, whatever the image carries from its build.

The image is built once and forked many times, so everything that a normal Python
would draw at start-up (random seeds, start times, caches of names) is drawn here.
"""

import logging
import os
import random
import sys
import tempfile
import time
import uuid
import warnings

RECURSION_LIMIT = 1000
ENVIRONMENT = {"HOME": "/workspace", "LANG": "C.UTF-8", "PWD": "/workspace", "TMPDIR": "/tmp"}

# The key of a program's command line in its context. No variable can have this name.
ARGUMENTS = "sys.argv"

_seed = random.seed
_chdir = os.chdir
_filters = None


def remember():
    """Keeps the warning filters of the built image, to be restored in each run."""
    global _filters
    _filters = warnings.filters[:]


def refresh(filename):
    """Everything but the file system: also done by a warm-up."""
    sys.setrecursionlimit(RECURSION_LIMIT)
    sys.argv = [filename]
    set_variables()
    # The component keeps its own reference; a program that imports "app" means its own file.
    sys.modules.pop("app", None)
    _seed()
    _forget_names_and_times()
    if _filters is not None:
        warnings.filters[:] = _filters
        _invalidate_warning_caches()


def continue_as(filename):
    """What changes for the next program of an interpreter: its name, and a folder that is gone."""
    sys.argv = [filename]
    try:
        os.stat(os.getcwd())
    except OSError:
        enter_workspace()


def take_arguments(context):
    """Makes `sys.argv` of the command line in a context, if there is one."""
    if isinstance(context.get(ARGUMENTS), list):
        sys.argv = [str(argument) for argument in context.pop(ARGUMENTS)]


def enter_workspace():
    """Goes to the workspace. A host without one leaves the program at the root."""
    try:
        _chdir(ENVIRONMENT["HOME"])
    except OSError:
        return False
    return True


def set_variables():
    """Only our own variables: nothing of the machine that built the image."""
    os.environ.clear()
    os.environ.update(ENVIRONMENT)


def _forget_names_and_times():
    tempfile._name_sequence = None
    tempfile.tempdir = None
    uuid._node = None
    uuid._last_timestamp = None
    for name in ("_last_timestamp_v6", "_last_timestamp_v7"):
        if hasattr(uuid, name):
            setattr(uuid, name, None)
    if hasattr(logging, "_startTime"):
        now = time.time_ns() if type(logging._startTime) is int else time.time()
        logging._startTime = now


def _invalidate_warning_caches():
    changed = getattr(warnings, "_filters_mutated", None) or getattr(warnings, "_filters_mutated_lock_held", None)
    try:
        if changed is not None:
            changed()
    except RuntimeError:
        # Newer versions want their lock held; the caches then stay as the image left them.
        pass
