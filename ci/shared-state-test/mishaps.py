"""What happens to gateways that share a state, and to their bus: one thing after another, and what became of it."""

import time

from events import Events, drawn, shown
from nodes import AWAY_SECONDS
from tasks import KINDS
from verdict import Recovery

LEADER_KILLED, OTHER_KILLED, LEADER_FROZEN, LEADER_STOPPED, BUS_KILLED = (
    "the leader killed",
    "one that stands by killed",
    "the leader frozen for 6 s",
    "the leader stopped",
    "a bus server killed",
)
LEADER_CUT_OFF, OTHER_CUT_OFF, BUS_CUT_OFF = (
    "the leader cut off for 6 s",
    "one that stands by cut off",
    "a bus server cut off",
)
# Of each twelve.
SHARES = {LEADER_KILLED: 4, OTHER_KILLED: 2, LEADER_FROZEN: 2, LEADER_STOPPED: 2, BUS_KILLED: 2}
# Where every gateway and every bus server has a network of its own.
PARTITION_SHARES = {LEADER_CUT_OFF: 6, OTHER_CUT_OFF: 3, BUS_CUT_OFF: 3}
BEFORE_SECONDS = (0.5, 2.0)
# The leader, so that another one leads.
SILENT_SECONDS = 6
# After which the leader has sent what it may send.
CALLS_END_SECONDS = 2
# The others: too short to be noticed, or longer.
CUT_OFF_SECONDS = (0.5, 8.0)
# The bus itself takes up to 14 s until its state has a leader again.
BUS_FIRST_SECONDS_MAX, BUS_CAUGHT_SECONDS_MAX = 20, 30
# For so long after a gateway or a bus server is back, requests may get no answer.
GATEWAY_AFTER_SECONDS, BUS_AFTER_SECONDS = 1, 15
# Nothing is learned by more of them.
NEVER_MAX = 2


class Mishaps(Events):
    kinds = KINDS

    def __init__(self, cluster, load, chance):
        super().__init__(cluster, load, chance)
        self.problems = []

    def run(self, count):
        nevers, shares = 0, SHARES if self.cluster.network is None else PARTITION_SHARES
        for number, name in enumerate(drawn(count, self.chance, shares), 1):
            time.sleep(self.chance.uniform(*BEFORE_SECONDS))
            recovery = self.one(name)
            self.recoveries.append(recovery)
            print(f"{number:>3}  {shown(recovery)}", flush=True)
            nevers += None in recovery.first_seconds.values()
            if nevers == NEVER_MAX:
                self.problems.append(f"given up after {number} events of {count}: not everything was answered again")
                return

    def one(self, name):
        leader = self.cluster.leading()
        victim = self.chance.choice([one for one in self.cluster.gateways if one is not leader])
        victim = victim if name in (OTHER_KILLED, OTHER_CUT_OFF) else leader
        is_bus = name in (BUS_KILLED, BUS_CUT_OFF)
        away = self.cluster.goes_away(BUS_AFTER_SECONDS if is_bus else GATEWAY_AFTER_SECONDS)
        began = time.monotonic()
        self.cluster.note(f"{name}, {victim.name}")
        with self.load.lock:
            caught = dict(self.load.under_way)
        which, sent_since = HAPPEN[name](self, victim)
        first = self.wait_for_answers(began, sent_since)
        last = self.wait_for_caught(began, caught)
        away.ended = time.monotonic()
        self.cluster.note(f"it goes on: {first}, caught {last:.1f}")
        recovery = Recovery(f"{name} ({which})", first, last)
        if is_bus:
            # The next one may hit whoever has what this one lacks.
            self.cluster.bus.wait_until_whole()
            recovery.first_seconds_max, recovery.caught_seconds_max = BUS_FIRST_SECONDS_MAX, BUS_CAUGHT_SECONDS_MAX
        if self.cluster.network is not None:
            self.judge_standing_by()
        if name == OTHER_CUT_OFF and (now := self.cluster.leading()) is not leader:
            self.problems.append(f"{now.name} leads, and not {leader.name}, after {victim.name} was cut off")
        return recovery

    def kill(self, gateway):
        gateway.kill()
        self.start_again(gateway)
        return gateway.name, None

    def freeze(self, gateway):
        gateway.freeze()
        return self.is_overtaken(gateway, gateway.thaw)

    def cut_leader_off(self, gateway):
        gateway.cut_off()
        return self.is_overtaken(gateway, gateway.join_again_overtaken)

    def is_overtaken(self, gateway, comes_back):
        """One that leads, and that the others don't hear any more."""
        self.load.hang_up(gateway)
        try:
            time.sleep(CALLS_END_SECONDS)
            calls = self.cluster.calls_by(gateway)
            time.sleep(SILENT_SECONDS - CALLS_END_SECONDS)
            if more := self.cluster.calls_by(gateway) - calls:
                self.problems.append(f"{gateway.name} sent {more} calls while the others didn't hear it")
        finally:
            self.problems += comes_back()
        if self.cluster.leading() is gateway:
            self.problems.append(f"{gateway.name} leads after it was silent for {SILENT_SECONDS} s")
        return gateway.name, None

    def cut_other_off(self, gateway):
        seconds = self.chance.uniform(*CUT_OFF_SECONDS)
        gateway.cut_off()
        self.load.hang_up(gateway)
        try:
            time.sleep(seconds)
        finally:
            gateway.join_again()
        return f"{gateway.name}, {seconds:.1f} s", None

    def judge_standing_by(self):
        """Nothing is left of when they led, and what was acknowledged comes to them."""
        leader, results = self.cluster.leading(), self.load.newest_results()
        for gateway in self.cluster.gateways:
            if gateway is not leader:
                self.problems += gateway.left_over() + gateway.uncopied(results)

    def stop(self, gateway):
        """It may answer until it has ended; what comes after that counts."""
        code = gateway.terminate()
        ended = time.monotonic()
        if code != 0:
            self.problems.append(f"{gateway.name} ended with code {code}: {gateway.said()[-500:]}")
        self.start_again(gateway)
        return gateway.name, ended

    def kill_bus(self, _):
        number = self.chance.randrange(len(self.cluster.bus.ports))
        self.cluster.bus.kill(number)
        time.sleep(self.chance.uniform(*AWAY_SECONDS))
        self.cluster.bus.start(number)
        return f"nats-{number + 1}", None

    def cut_bus_off(self, _):
        """Whoever is connected there has to find out; one that leads may be overtaken by that."""
        number, seconds = self.chance.randrange(len(self.cluster.bus.hosts)), self.chance.uniform(*CUT_OFF_SECONDS)
        self.cut_off(self.cluster.bus.hosts[number], seconds)
        return f"nats-{number + 1}, {seconds:.1f} s", None

    def start_again(self, gateway):
        time.sleep(self.chance.uniform(*AWAY_SECONDS))
        gateway.start()


HAPPEN = {
    LEADER_KILLED: Mishaps.kill,
    OTHER_KILLED: Mishaps.kill,
    LEADER_FROZEN: Mishaps.freeze,
    LEADER_STOPPED: Mishaps.stop,
    BUS_KILLED: Mishaps.kill_bus,
    LEADER_CUT_OFF: Mishaps.cut_leader_off,
    OTHER_CUT_OFF: Mishaps.cut_other_off,
    BUS_CUT_OFF: Mishaps.cut_bus_off,
}
