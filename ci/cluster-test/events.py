"""What happens while programs run: machines are killed, stopped and started again, one after another."""

import time

from jobs import KIND_NAMES
from nodes import AWAY_SECONDS
from verdict import Recovery

NODE_KILLED, BUS_KILLED, NODE_STOPPED, GATEWAY_KILLED = (
    "a node killed",
    "a bus server killed",
    "a node stopped for 6 s",
    "a gateway killed",
)
NODE_CUT_OFF, BUS_CUT_OFF = "a node cut off for 6 s", "a bus server cut off for 6 s"
# Of each twelve.
SHARES = {NODE_KILLED: 4, BUS_KILLED: 3, NODE_STOPPED: 4, GATEWAY_KILLED: 1}
# Where every machine has a network of its own.
PARTITION_SHARES = {NODE_CUT_OFF: 8, BUS_CUT_OFF: 4}
STOPPED_SECONDS = 6
BEFORE_SECONDS = (0.5, 2.0)
WAIT_SECONDS_MAX = 30
EVENT_WIDTH = 47


def drawn(count, chance, shares=None):
    """As many as asked for, each dozen with all kinds."""
    dozen = [name for name, share in (shares or SHARES).items() for _ in range(share)]
    events = []
    while len(events) < count:
        chance.shuffle(dozen)
        events += dozen
    return events[:count]


class Events:
    kinds = KIND_NAMES

    def __init__(self, cluster, load, chance):
        self.cluster, self.load, self.chance = cluster, load, chance
        self.recoveries = []

    def run(self, count):
        shares = SHARES if self.cluster.network is None else PARTITION_SHARES
        for number, name in enumerate(drawn(count, self.chance, shares), 1):
            time.sleep(self.chance.uniform(*BEFORE_SECONDS))
            recovery = self.one(name)
            self.recoveries.append(recovery)
            print(f"{number:>3}  {shown(recovery)}", flush=True)

    def one(self, name):
        began = time.monotonic()
        with self.load.lock:
            caught = dict(self.load.under_way)
        which = HAPPEN[name](self)
        first = self.wait_for_answers(began)
        last = self.wait_for_caught(began, caught)
        return Recovery(f"{name} ({which})", first, last)

    def kill_node(self):
        return self.cluster.kill_one(self.chance)

    def kill_bus(self):
        number = self.chance.randrange(len(self.cluster.bus.ports))
        self.cluster.bus.kill(number)
        time.sleep(self.chance.uniform(*AWAY_SECONDS))
        self.cluster.bus.start(number)
        return f"nats-{number + 1}"

    def stop_node(self):
        node = self.chance.choice(self.cluster.nodes)
        self.cluster.lose_programs()
        node.pause()
        try:
            time.sleep(STOPPED_SECONDS)
        finally:
            node.go_on()
        return node.name

    def cut_node_off(self):
        node = self.chance.choice(self.cluster.nodes)
        self.cluster.lose_programs()
        self.cut_off(node.host)
        return node.name

    def cut_bus_off(self):
        """Whoever is connected there has to find out that nobody answers any more; that may take too long for a node."""
        number = self.chance.randrange(len(self.cluster.bus.hosts))
        self.cluster.lose_programs()
        self.cut_off(self.cluster.bus.hosts[number])
        return f"nats-{number + 1}"

    def cut_off(self, host, seconds=STOPPED_SECONDS):
        host.cut_off()
        try:
            time.sleep(seconds)
        finally:
            host.join_again()

    def kill_gateway(self):
        gateway = self.chance.choice(self.cluster.gateways)
        gateway.kill()
        time.sleep(self.chance.uniform(*AWAY_SECONDS))
        gateway.start()
        return gateway.name

    def wait_for_answers(self, began, sent_since=None):
        """{kind: seconds until a program that was sent after the event, or since then, was answered}"""
        sent_since = sent_since or began
        until = began + WAIT_SECONDS_MAX
        while True:
            with self.load.lock:
                after = [one for one in self.load.answers if one.sent >= sent_since and one.is_ok]
            first = {}
            for kind in self.kinds:
                seconds = [one.at - began for one in after if one.kind == kind]
                first[kind] = min(seconds, default=None)
            if None not in first.values() or time.monotonic() > until:
                return first
            time.sleep(0.05)

    def wait_for_caught(self, began, caught):
        """Seconds until the last program that was under way was answered."""
        until = began + WAIT_SECONDS_MAX
        while time.monotonic() < until:
            with self.load.lock:
                still = any(self.load.under_way.get(number) == sent for number, sent in caught.items())
                if not still:
                    sent = set(caught.values())
                    return max((one.at - began for one in self.load.answers if one.sent in sent), default=0.0)
            time.sleep(0.05)
        return time.monotonic() - began


HAPPEN = {
    NODE_KILLED: Events.kill_node,
    BUS_KILLED: Events.kill_bus,
    NODE_STOPPED: Events.stop_node,
    GATEWAY_KILLED: Events.kill_gateway,
    NODE_CUT_OFF: Events.cut_node_off,
    BUS_CUT_OFF: Events.cut_bus_off,
}


def shown(recovery):
    first = "  ".join(f"{seconds_shown(seconds):>5}" for seconds in recovery.first_seconds.values())
    return f"{recovery.event:<{EVENT_WIDTH}}{first}{seconds_shown(recovery.caught_seconds):>9}"


def seconds_shown(seconds):
    return "never" if seconds is None else f"{seconds:.1f}"


def heading(kinds=KIND_NAMES):
    names = "  ".join(f"{kind[:5]:>5}" for kind in kinds)
    return f"{'':<5}{'seconds to the first answer of':<{EVENT_WIDTH}}{names}{'caught':>9}"
