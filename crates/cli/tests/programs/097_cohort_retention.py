from collections import defaultdict
from datetime import date

events = [
    ("u1", "2026-01-03"), ("u2", "2026-01-20"), ("u1", "2026-02-11"), ("u3", "2026-02-01"), ("u2", "2026-03-09"),
    ("u1", "2026-03-01"), ("u3", "2026-03-30"), ("u4", "2026-03-02"), ("u2", "2026-01-21"),
]
first = {}
active = defaultdict(set)
for user, day in sorted(events, key=lambda e: e[1]):
    d = date.fromisoformat(day)
    month = d.year * 12 + d.month
    first.setdefault(user, month)
    active[first[user], month - first[user]].add(user)

cohorts = sorted(set(first.values()))
for cohort in cohorts:
    size = len(active[cohort, 0])
    cells = [f"{len(active[cohort, k]) / size:>5.0%}" if (cohort, k) in active else "    -" for k in range(3)]
    print(f"{(cohort - 1) // 12}-{(cohort - 1) % 12 + 1:02d} n={size}", *cells)
