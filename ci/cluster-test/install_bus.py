"""Prints where nats-server is, which is installed first if need be. Ends with code 1 where it can't be had."""

import contextlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import nats_bus

if __name__ == "__main__":
    try:
        with contextlib.redirect_stdout(sys.stderr):
            program = nats_bus.install()
    except nats_bus.NotHere as reason:
        raise SystemExit(f"The tests of clusters need nats-server: {reason}") from None
    print(program)
