"""What callers ask for: programs and analyses of many kinds, each with what its answer must be.

A kind is one of two groups: `good` ones must succeed with exactly their result, and their times are what is
stated. The others may fail in their own way only.
"""

import random
from dataclasses import dataclass

# In the gateway's environment and in a file beside its data: no answer may ever hold it.
CANARY = "load-test-canary-8d1f6a"

# Failures that say that the gateway is full, which it may be: they are counted, and tried again.
BUSY = {"GM-2001"}

TIMED_OUT, MEMORY, OUTPUT = "GM-1201", "GM-1203", "GM-1204"


@dataclass
class Request:
    kind: str
    tool: str
    arguments: dict
    # What its result must be.
    result: object = None
    # Codes of which its error must be one; none for those that succeed.
    codes: tuple = ()
    # Whether it may just as well succeed.
    may_succeed: bool = False
    # Whether the caller hangs up before there is an answer.
    hangs_up: bool = False

    @property
    def is_good(self):
        return not self.codes and not self.may_succeed and not self.hangs_up


@dataclass
class Caller:
    """One thread's own: its session counts how many programs it has seen."""

    number: int
    chance: random.Random
    counted: int = 0

    def next_request(self):
        kinds = list(KINDS)
        make = self.chance.choices(kinds, [KINDS[kind] for kind in kinds])[0]
        return make(self)


def execute(kind, code, result=None, **options):
    arguments = {"code": code}
    for name in ("session", "timeout_s", "max_output_tokens"):
        if name in options:
            arguments[name] = options.pop(name)
    return Request(kind, "execute_code", arguments, result, **options)


# Good ones


def calls(caller):
    number = caller.chance.randrange(1000)
    code = f"""
import asyncio
from servers.calculator import evaluate
found = await asyncio.gather(evaluate(expression="{number} * 2"), evaluate(expression="{number} + 1"))
result = [one["value"] for one in found]
"""
    return execute("good: tool calls", code, [number * 2, number + 1])


def slow_call(caller):
    number = caller.chance.randrange(1000)
    code = f'result = int(await callMCPTool("slow.slow", {{"number": {number}}}))'
    return execute("good: call of a slow server", code, number + 1)


def state(caller):
    caller.counted += 1
    code = 'state["seen"] = state.get("seen", 0) + 1\nresult = state["seen"]'
    return execute("good: session state", code, caller.counted, session=f"load-{caller.number}")


def stored(caller):
    count = 2_000 + caller.chance.randrange(1000)
    # Far more than its answer shows: the whole goes under a handle.
    request = execute("good: stored result", f"result = list(range({count}))", max_output_tokens=200)
    request.result = StoredList(count)
    return request


def analysis(caller):
    count = 50 + caller.chance.randrange(200)
    rows = [{"group": at % 3, "value": at} for at in range(count)]
    steps = [{"aggregate": {"metrics": [{"field": "value", "function": "sum", "as": "total"}]}}]
    arguments = {"data": rows, "steps": steps}
    return Request("good: analysis", "execute_analysis", arguments, [{"total": sum(range(count))}])


class StoredList:
    """Equal to what an answer shows of a long list: its first items, and a handle."""

    def __init__(self, count):
        self.count = count

    def __eq__(self, shown):
        return isinstance(shown, list) and shown[:3] == [0, 1, 2] and shown[-1] == self.count - 1

    def __repr__(self):
        return f"the beginning and the end of {self.count} numbers"


# Failing ones


def failing(caller):
    code, error = caller.chance.choice(
        [
            ("result = 1 +", "GM-1101"),
            ("raise ValueError('on purpose')", "GM-1102"),
            ("result = {}['missing']", "GM-1102"),
            ("def deep(n): return deep(n + 1)\ndeep(0)", "GM-1107"),
            ("result = await callMCPTool('nowhere.nothing', {})", "GM-1401"),
        ]
    )
    return execute("failing", code, codes=(error,))


def looping(caller):
    code = caller.chance.choice(
        ["while True: pass", "import time\nwhile True: time.sleep(10)", "sum(iter(int, 1))"]
    )
    return execute("looping", code, codes=(TIMED_OUT,), timeout_s=1)


def flooding(caller):
    to_stderr = "import sys\nwhile True: sys.stderr.write('y' * 9999)"
    code = caller.chance.choice(["while True: print('x' * 10000)", to_stderr])
    return execute("flooding output", code, codes=(OUTPUT, TIMED_OUT), timeout_s=3)


def memory(caller):
    code = "held = []\nwhile True: held.append(bytearray(16 << 20))"
    return execute("filling memory", code, codes=(MEMORY, TIMED_OUT), timeout_s=5)


HOSTILE = [
    "import os\nresult = os.fork()",
    "import subprocess\nresult = subprocess.run(['/bin/cat', '/etc/passwd'], capture_output=True).stdout.decode()",
    "import socket\nsocket.create_connection(('127.0.0.1', 22))\nresult = 'connected'",
    "result = open('/etc/passwd').read()",
    "result = open('/proc/self/environ').read()",
    "import os\nresult = dict(os.environ)",
    "import os\nos.kill(1, 9)\nresult = 'killed'",
    "import os\nresult = os.listdir('/proc')",
    "import os\nos.symlink('/etc', 'out')\nresult = os.listdir('out')",
    "import ctypes\nresult = ctypes.CDLL(None).getpid()",
    "result = open('/workspace/../../../etc/hostname').read()",
    "for number in range(100000): open(f'file-{number}', 'w').write('x' * 100)",
    "import os\nfor _ in range(5000):\n    os.mkdir('d')\n    os.chdir('d')",
    "result = ().__class__.__base__.__subclasses__()[0].__init__.__globals__",
]


def hostile(caller):
    code = caller.chance.choice(HOSTILE)
    # What they do inside is their own matter; that nothing of the outside comes back is not.
    return execute("hostile", code, may_succeed=True, codes=("GM-",), timeout_s=3)


def hanging_up(caller):
    request = execute("caller hangs up", "import time\ntime.sleep(2)\nresult = 1", timeout_s=5)
    request.hangs_up = True
    return request


# Over servers that fail


def hanging_server(caller):
    return execute("call of a server that hangs", 'await callMCPTool("hang.hang", {})', codes=("GM-",), timeout_s=5)


def crashing_server(caller):
    return execute("call of a server that crashes", 'await callMCPTool("crash.crash", {})', codes=("GM-",), timeout_s=5)


def flooding_server(caller):
    number = caller.chance.randrange(1000)
    code = f'result = int(await callMCPTool("flood.flood", {{"number": {number}}}))'
    request = execute("call of a server that floods", code, number + 1, codes=("GM-",), timeout_s=10)
    request.may_succeed = True
    return request


# How often each is asked for.
KINDS = {
    calls: 14,
    slow_call: 5,
    state: 10,
    stored: 8,
    analysis: 6,
    failing: 10,
    looping: 4,
    flooding: 4,
    memory: 3,
    hostile: 10,
    hanging_up: 3,
    hanging_server: 3,
    crashing_server: 3,
    flooding_server: 3,
}
