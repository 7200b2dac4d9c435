"""Standard output and error that lead to the gateway: the process's own descriptors lead nowhere."""

import io

from gristmill_guest import stdio
from gristmill_native import host

STDOUT, STDERR = 1, 2


class _ToGateway(io.RawIOBase):
    def __init__(self, number, name):
        self._number = number
        self.name = name

    def writable(self):
        return True

    def fileno(self):
        return self._number

    def write(self, data):
        data = bytes(data)
        host.output(self._number, data)
        return len(data)


def live():
    return stdio.Streams(
        stdio._stream(_ToGateway(STDOUT, "<stdout>")), stdio._stream(_ToGateway(STDERR, "<stderr>"))
    )


def install():
    stdio.live = live
