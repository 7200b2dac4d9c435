"""Objects with methods: an operating system's scheduler, tasks with queues and priorities, in the manner of Richards."""


class Packet:
    def __init__(self, target, kind, data):
        self.target, self.kind, self.data = target, kind, data
        self.next = None


class Queue:
    def __init__(self):
        self.first = self.last = None

    def push(self, packet):
        packet.next = None
        if self.last is None:
            self.first = packet
        else:
            self.last.next = packet
        self.last = packet

    def pop(self):
        packet = self.first
        if packet is not None:
            self.first = packet.next
            if self.first is None:
                self.last = None
        return packet


class Task:
    def __init__(self, system, number, priority):
        self.system, self.number, self.priority = system, number, priority
        self.queue = Queue()
        self.waiting, self.runs = False, 0

    def is_ready(self):
        return not self.waiting or self.queue.first is not None

    def run(self):
        self.runs += 1
        packet = self.queue.pop()
        self.waiting = False
        self.step(packet)

    def step(self, packet):
        raise NotImplementedError


class Idle(Task):
    def __init__(self, system, number, rounds):
        super().__init__(system, number, 0)
        self.rounds, self.bits = rounds, 1

    def step(self, packet):
        self.rounds -= 1
        if self.rounds == 0:
            self.system.is_over = True
        elif self.bits & 1:
            self.bits = (self.bits >> 1) ^ 0xD008
            self.system.send(Packet(2, "work", self.bits & 0xFF))
        else:
            self.bits >>= 1
            self.system.send(Packet(3, "work", self.bits & 0xFF))


class Worker(Task):
    def __init__(self, system, number, priority, device):
        super().__init__(system, number, priority)
        self.device, self.total = device, 0

    def step(self, packet):
        if packet is None:
            self.waiting = True
        elif packet.kind == "work":
            self.total = (self.total * 31 + packet.data) % 65_521
            self.system.send(Packet(self.device, "write", self.total))
        else:
            self.total ^= packet.data


class Device(Task):
    def __init__(self, system, number, priority):
        super().__init__(system, number, priority)
        self.written = 0

    def step(self, packet):
        if packet is None:
            self.waiting = True
            return
        self.written += 1
        packet.target, packet.kind = packet.data % 2 + 2, "done"
        self.system.send(packet)


class System:
    def __init__(self, rounds):
        self.is_over, self.sent = False, 0
        self.tasks = [
            Idle(self, 1, rounds),
            Worker(self, 2, 20, 4),
            Worker(self, 3, 30, 5),
            Device(self, 4, 40),
            Device(self, 5, 50),
        ]
        self.by_priority = sorted(self.tasks, key=lambda task: -task.priority)

    def send(self, packet):
        self.sent += 1
        self.tasks[packet.target - 1].queue.push(packet)

    def run(self):
        while not self.is_over:
            for task in self.by_priority:
                if task.is_ready():
                    task.run()
                    break


def work():
    system = System(20_000)
    system.run()
    return [system.sent, [task.runs for task in system.tasks], [task.total for task in system.tasks[1:3]]]
