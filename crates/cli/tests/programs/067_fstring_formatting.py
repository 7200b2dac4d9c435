name, value, items = "width", 1234567.891, {"a": 1}
width, precision = 14, 2
print(f"{name!r:>10}|{name:^10}|{name:*<10}|")
print(f"{value:,.2f} {value:_.1f} {value:e} {value:>{width}.{precision}f}|")
print(f"{255:x} {255:#010b} {255:o} {-7:+d} {7: d} {0.8251:.1%}")
print(f"{items['a']} {[n * n for n in range(4)]} {'yes' if items else 'no'} {{literal}}")
print(f"{f'{name.upper():-^{len(name) + 4}}'}")
print(f"{value=:.1f} {len(items)=}")
print("%s has %d of %05.1f%%" % ("x", 3, 12.34), "{0}-{1:>4}-{0!r}".format("q", 5))
print("{user[name]} {n.real}".format(user={"name": "Ines"}, n=4))
