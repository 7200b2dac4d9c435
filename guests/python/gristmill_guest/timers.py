"""threading.Timer without threads: a timer runs while the program waits, or at its end.

`time.sleep`, a lock that is held, `Timer.join` and the end of the program run what is due, in order of time. A timer
that is cancelled before that never runs, so one that guards against a slow step costs nothing.
"""

import time

from gristmill_guest import loop

_sleep = time.sleep
_monotonic = time.monotonic


def start(timer):
    """Takes a timer that is started; it runs `interval` seconds from now at the earliest."""
    waiting = loop.current().timers
    waiting.append((_monotonic() + timer.interval, timer))
    # Two that are due at once keep their order.
    waiting.sort(key=lambda entry: entry[0])


def run_next(until=None):
    """Waits for the next timer and runs it; False if there is none, or none before `until`."""
    waiting = _waiting()
    while waiting and waiting[0][1].finished.is_set():
        del waiting[0]
    if not waiting or (until is not None and waiting[0][0] > until):
        return False
    due, timer = waiting.pop(0)
    left = due - _monotonic()
    if left > 0:
        _sleep(left)
    timer.interval = 0
    timer.run_in_place()
    timer.finished.set()
    return True


def run_left(timer):
    """Runs those that are due before the timer, and the timer."""
    while any(entry[1] is timer for entry in _waiting()) and run_next():
        pass


def run_all():
    """Runs what is left at the end of a program; daemons end with it."""
    waiting = _waiting()
    while waiting:
        waiting[:] = [entry for entry in waiting if not entry[1].daemon]
        if not run_next():
            return


def sleep(seconds, /):
    """time.sleep, which lets timers run meanwhile."""
    if not _waiting():
        return _sleep(seconds)
    until = _monotonic() + seconds
    while run_next(until):
        pass
    return _sleep(max(0, until - _monotonic()) if seconds >= 0 else seconds)


def _waiting():
    state = loop.current()
    return state.timers if state is not None else []


def install():
    sleep.__module__ = "time"
    time.sleep = sleep
