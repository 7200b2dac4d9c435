# Another program, in another process. It calls no tool: what it needs is in the session.
rows = json.loads(read_file("sales.json"))
assert len(rows) == state["rows"]
state["runs"] += ["report"]

totals = {}
for row in rows:
    totals[row["region"]] = totals.get(row["region"], 0) + int(row["cents"])
for region, cents in sorted(totals.items()):
    print(f"{region:<6} {cents / 100:>10,.2f}")
result = f"programs of this session so far: {', '.join(state['runs'])}"
