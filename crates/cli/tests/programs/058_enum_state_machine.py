from enum import Enum, Flag, auto


class State(Enum):
    DRAFT = "draft"
    SENT = "sent"
    PAID = "paid"
    VOID = "void"

    @property
    def final(self):
        return self in (State.PAID, State.VOID)


class Perm(Flag):
    READ = auto()
    WRITE = auto()
    ALL = READ | WRITE


MOVES = {State.DRAFT: {State.SENT, State.VOID}, State.SENT: {State.PAID, State.VOID}}


def move(state, target):
    if target not in MOVES.get(state, set()):
        raise ValueError(f"{state.value} -> {target.value}")
    return target


state = State.DRAFT
trail = [state]
for target in ("sent", "draft", "paid", "void"):
    try:
        state = move(state, State(target))
        trail.append(state)
    except ValueError as error:
        trail.append(f"refused {error}")
result = {
    "trail": trail, "final": state.final, "names": [s.name for s in State],
    "write": Perm.WRITE in Perm.ALL, "bits": Perm.ALL.value,
}
