tree = {"root": {"bin": {"sh": None}, "etc": {"hosts": None, "ssl": {"cert.pem": None}}, "tmp": {}}}


def render(node, prefix=""):
    entries = list(node.items())
    for i, (name, children) in enumerate(entries):
        last = i == len(entries) - 1
        print(prefix + ("└── " if last else "├── ") + name)
        if children:
            render(children, prefix + ("    " if last else "│   "))


def depth(node):
    return 1 + max((depth(c) for c in node.values() if c), default=0) if node else 0


render(tree)
print("depth", depth(tree))
