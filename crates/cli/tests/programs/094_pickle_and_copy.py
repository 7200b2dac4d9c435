import copy
import pickle
from dataclasses import dataclass, field


@dataclass
class Node:
    name: str
    children: list = field(default_factory=list)


root = Node("root", [Node("leaf")])
shallow, deep = copy.copy(root), copy.deepcopy(root)
root.children[0].name = "changed"
again = pickle.loads(pickle.dumps(root))
cycle = []
cycle.append(cycle)
twin = copy.deepcopy(cycle)
result = {
    "shallow": shallow.children[0].name,
    "deep": deep.children[0].name,
    "pickled": again,
    "equal": again == root,
    "identity": again is root,
    "cycle": twin[0] is twin and twin is not cycle,
}
