//! Four small things that programs do, each of which times itself (CPU milliseconds, in `result`).

/// One workload here and there.
pub struct Compared {
    pub name: &'static str,
    pub ours_ms: f64,
    /// `None` where there is no python3.
    pub native_ms: Option<f64>,
}

pub const ALL: [(&str, &str); 4] = [
    (
        "JSON: 4 MB there and back",
        "
import json, time
rows = [{'id': i, 'name': f'row {i}', 'tags': ['a', 'b', str(i)], 'value': i * 1.5} for i in range(40_000)]
start = time.process_time()
text = json.dumps(rows)
back = json.loads(text)
assert back == rows
result = (time.process_time() - start) * 1000
",
    ),
    (
        "regex over 100,000 lines",
        "
import re, time
lines = [f'2026-01-{i % 28 + 1:02d} host{i % 7} GET /page/{i} {200 + i % 5} {i * 37 % 9000}ms' for i in range(100_000)]
pattern = re.compile(r'(\\d{4}-\\d\\d-\\d\\d) (\\w+) (GET|POST) (/\\S*) (\\d{3}) (\\d+)ms')
start = time.process_time()
total = sum(int(match.group(6)) for match in map(pattern.match, lines) if match)
result = (time.process_time() - start) * 1000
",
    ),
    (
        "a loop of 2,000,000 rounds",
        "
import time
start = time.process_time()
total = 0
for i in range(2_000_000):
    total += i * i % 7
result = (time.process_time() - start) * 1000
",
    ),
    (
        "group and sort 200,000 rows",
        "
import time
from collections import defaultdict
rows = [((i * 7919) % 1000, (i * 104729) % 50_000) for i in range(200_000)]
start = time.process_time()
groups = defaultdict(list)
for key, value in rows:
    groups[key].append(value)
summary = sorted(((key, sum(values), max(values)) for key, values in groups.items()), key=lambda row: -row[1])
rows.sort(key=lambda row: (row[1], row[0]))
result = (time.process_time() - start) * 1000
",
    ),
];
