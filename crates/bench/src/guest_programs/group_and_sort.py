"""Dictionaries and sorting: words counted, rows grouped, joined and put in order."""

from collections import Counter, defaultdict

WORDS = "the gateway calls a tool and the tool answers with a table of rows that nobody has time to read".split()


def work():
    words = [f"{WORDS[n * 7919 % 20]}{n * 104_729 % 97}" for n in range(60_000)]
    common = Counter(words).most_common(3)
    rows = [{"id": n, "group": n * 31 % 250, "amount": n * 7919 % 5_003} for n in range(40_000)]
    groups = defaultdict(list)
    for row in rows:
        groups[row["group"]].append(row["amount"])
    totals = {group: (sum(amounts), max(amounts)) for group, amounts in groups.items()}
    rows.sort(key=lambda row: (-row["amount"], row["id"]))
    joined = [(row["id"], totals[row["group"]][0]) for row in rows if row["amount"] % 3 == 0]
    joined.sort(key=lambda pair: pair[1])
    return [common, joined[:3], joined[-1], len(joined)]
