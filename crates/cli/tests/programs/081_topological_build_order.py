from graphlib import CycleError, TopologicalSorter

needs = {"app": {"lib", "ui"}, "ui": {"lib", "icons"}, "lib": {"core"}, "icons": set(), "core": set()}
order = list(TopologicalSorter(needs).static_order())
position = {name: i for i, name in enumerate(order)}
valid = all(position[d] < position[n] for n, ds in needs.items() for d in ds)
waves = []
sorter = TopologicalSorter(needs)
sorter.prepare()
while sorter.is_active():
    ready = sorted(sorter.get_ready())
    waves.append(ready)
    sorter.done(*ready)
try:
    list(TopologicalSorter({"a": {"b"}, "b": {"a"}}).static_order())
    cycle = None
except CycleError as error:
    cycle = sorted(set(error.args[1]))
result = {"valid": valid, "waves": waves, "cycle": cycle}
