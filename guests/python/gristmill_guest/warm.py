"""Touches the memory that a run will touch, before a program arrives."""

import gc
import sys
import warnings

from gristmill_guest import host, loop, namespace, program, stdio, tools, trees

_warmed = False
_warn_unawaited_coroutine = warnings._warn_unawaited_coroutine

PROGRAM = """
async def one(n):
    await asyncio.sleep(0)
    return json.loads(json.dumps({"n": n, "a": [1.5, None, "x"]}))
rows = await asyncio.gather(one(1), callMCPTool("warm", a=[1, "b"]))
print("warm", len(rows))
result = {"rows": rows, "at": (1, {2})}
def fail(n):
    return n / 0
fail(1)
"""


class _WarmHost:
    """Answers the warm-up's one call without a host."""

    class Completion:
        id = 1
        ok = True
        payload = '{"answer": [1, 2, 3]}'

    def start_call(self, kind, payload):
        return 1

    def wait_any(self, timeout_us):
        return [self.Completion]

    def cancel_call(self, call_id):
        pass


def warm():
    """Runs a small program through the very path of `run`, and leaves no trace of it."""
    global _warmed
    kept = keep_state()
    live_host = host.use(_WarmHost())
    request = program.Request(PROGRAM, '{"given": [1]}', 10_000, 20)
    try:
        prepared = program.Prepared(program.DEFAULT_FILENAME, stdio.nowhere(), in_workspace=False)
        program.run_with(request, prepared)
    finally:
        host.use(live_host)
        restore_state(kept)
    if not _warmed:
        _warmed = True
        gc.collect()
        gc.freeze()


def keep_state():
    """What a run replaces in the process."""
    return sys.stdout, sys.stderr, sys.stdin, sys.argv, sys.modules.get("__main__")


def restore_state(kept):
    """Puts it back, and forgets the run."""
    sys.stdout, sys.stderr, sys.stdin, sys.argv, main = kept
    sys.__stdout__, sys.__stderr__, sys.__stdin__ = sys.stdout, sys.stderr, sys.stdin
    if main is not None:
        sys.modules["__main__"] = main
    namespace.forget_sources()
    sys.set_coroutine_origin_tracking_depth(0)
    warnings._warn_unawaited_coroutine = _warn_unawaited_coroutine
    tools.begin_run(program.DEFAULT_FILENAME)
    trees.begin_run()
    loop.begin(None)
