"""Class hierarchies and small lists: variables kept equal, scaled and added by constraints, in the manner of DeltaBlue."""


class Variable:
    def __init__(self, name, value):
        self.name, self.value = name, value
        self.readers, self.writer, self.mark = [], None, 0


class Constraint:
    def __init__(self, strength, output, inputs):
        self.strength, self.output, self.inputs = strength, output, inputs

    def is_satisfied(self):
        return self.output.writer is self

    def add(self):
        current = self.output.writer
        if current is not None and current.strength >= self.strength:
            return False
        if current is not None:
            current.remove()
        self.output.writer = self
        for variable in self.inputs:
            variable.readers.append(self)
        return True

    def remove(self):
        self.output.writer = None
        for variable in self.inputs:
            variable.readers.remove(self)

    def execute(self):
        raise NotImplementedError


class Fixed(Constraint):
    def __init__(self, strength, output, value):
        super().__init__(strength, output, [])
        self.value = value

    def execute(self):
        self.output.value = self.value


class Equal(Constraint):
    def execute(self):
        self.output.value = self.inputs[0].value


class Scaled(Constraint):
    def __init__(self, strength, output, source, factor, offset):
        super().__init__(strength, output, [source])
        self.factor, self.offset = factor, offset

    def execute(self):
        self.output.value = (self.inputs[0].value * self.factor + self.offset) % 1_000_003


class Sum(Constraint):
    def execute(self):
        self.output.value = sum(variable.value for variable in self.inputs) % 1_000_003


class Planner:
    def __init__(self):
        self.mark = 0

    def plan(self, changed):
        """The constraints below a variable, each after those it reads from."""
        self.mark += 1
        found, waiting = [], [changed]
        while waiting:
            variable = waiting.pop()
            for constraint in variable.readers:
                if constraint.is_satisfied() and constraint.output.mark != self.mark:
                    constraint.output.mark = self.mark
                    found.append(constraint)
                    waiting.append(constraint.output)
        return found


def chain(length, planner, rounds):
    variables = [Variable(f"v{index}", index) for index in range(length)]
    for before, after in zip(variables, variables[1:]):
        Equal(2, after, [before]).add()
    total = 0
    for value in range(rounds):
        edit = Fixed(3, variables[0], value)
        edit.add()
        edit.execute()
        for constraint in planner.plan(variables[0]):
            constraint.execute()
        total += variables[-1].value
        edit.remove()
    return total


def projection(width, planner, rounds):
    sources = [Variable(f"s{index}", index) for index in range(width)]
    targets = [Variable(f"t{index}", 0) for index in range(width)]
    everything = Variable("all", 0)
    for index, (source, target) in enumerate(zip(sources, targets)):
        Equal(1, target, [source]).add()
        Scaled(2, target, source, index + 3, 7).add()
    Sum(2, everything, targets).add()
    total = 0
    for value in range(rounds):
        for source in sources[:: value % 7 + 5]:
            edit = Fixed(3, source, value)
            edit.add()
            edit.execute()
            for constraint in planner.plan(source):
                constraint.execute()
            edit.remove()
        total = (total * 3 + everything.value) % 1_000_003
    return total


def work():
    planner = Planner()
    return [chain(600, planner, 350), projection(120, planner, 550)]
