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

/// The same in JavaScript, each ending in `export default` and its milliseconds without a semicolon: nothing else
/// runs in its process, so that its wall time is its CPU time but for what the machine does meanwhile.
pub const TYPESCRIPT: [(&str, &str); 4] = [
    (
        "JSON: 4 MB there and back",
        "
const rows = Array.from({ length: 40_000 }, (_, i) => ({ id: i, name: `row ${i}`, tags: ['a', 'b', `${i}`], value: i * 1.5 }));
const start = performance.now();
const back = JSON.parse(JSON.stringify(rows));
if (back.length !== rows.length) throw new Error('lost rows');
export default performance.now() - start",
    ),
    (
        "regex over 100,000 lines",
        "
const lines = Array.from({ length: 100_000 }, (_, i) => `2026-01-${String(i % 28 + 1).padStart(2, '0')} host${i % 7} GET /page/${i} ${200 + i % 5} ${i * 37 % 9000}ms`);
const pattern = /(\\d{4}-\\d\\d-\\d\\d) (\\w+) (GET|POST) (\\/\\S*) (\\d{3}) (\\d+)ms/;
const start = performance.now();
let total = 0;
for (const line of lines) { const match = pattern.exec(line); if (match) total += Number(match[6]); }
if (total === 0) throw new Error('nothing found');
export default performance.now() - start",
    ),
    (
        "a loop of 2,000,000 rounds",
        "
const start = performance.now();
let total = 0;
for (let i = 0; i < 2_000_000; i++) total += i * i % 7;
if (total === 0) throw new Error('nothing added');
export default performance.now() - start",
    ),
    (
        "group and sort 200,000 rows",
        "
const rows = Array.from({ length: 200_000 }, (_, i) => [(i * 7919) % 1000, (i * 104729) % 50_000]);
const start = performance.now();
const groups = new Map();
for (const [key, value] of rows) { const group = groups.get(key); if (group) group.push(value); else groups.set(key, [value]); }
const summary = [...groups].map(([key, values]) => [key, values.reduce((sum, value) => sum + value, 0), values.reduce((most, value) => Math.max(most, value))]).sort((one, other) => other[1] - one[1]);
rows.sort((one, other) => one[1] - other[1] || one[0] - other[0]);
if (summary.length !== 1000) throw new Error('lost groups');
export default performance.now() - start",
    ),
];
