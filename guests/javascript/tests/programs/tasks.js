//# group and sum orders
const orders = Array.from({ length: 200 }, (_, i) => ({ id: i, region: ["north", "south", "east"][i % 3], amount: (i * 37) % 101, date: `2024-0${1 + (i % 9)}-1${i % 10}` }));
const totals = orders.reduce((sums, { region, amount }) => { sums[region] = (sums[region] ?? 0) + amount; return sums; }, {});
const ranked = Object.entries(totals).sort(([, a], [, b]) => b - a).map(([region, total]) => ({ region, total, share: `${((100 * total) / orders.reduce((sum, order) => sum + order.amount, 0)).toFixed(1)}%` }));
console.log(totals, ranked); console.table(ranked);
//# parse csv by hand
const csv = 'name,age,city\n"Smith, J",42,"New ""York"""\nLee,37,Paris\n';
const parse = (text) => { const rows = [[]]; let cell = "", quoted = false; for (let i = 0; i < text.length; i++) { const c = text[i]; if (quoted) { if (c === '"' && text[i + 1] === '"') { cell += '"'; i++; } else if (c === '"') quoted = false; else cell += c; } else if (c === '"') quoted = true; else if (c === ",") { rows.at(-1).push(cell); cell = ""; } else if (c === "\n") { rows.at(-1).push(cell); cell = ""; rows.push([]); } else cell += c; } return rows.filter((row) => row.length); };
const [header, ...lines] = parse(csv); console.log(lines.map((line) => Object.fromEntries(line.map((value, i) => [header[i], value]))));
//# word counts
const words = "the cat and the dog and the bird".split(/\s+/); const counts = new Map(); for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
console.log([...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])), Object.fromEntries(counts), counts);
//# statistics
const data = [4, 8, 15, 16, 23, 42]; const mean = data.reduce((a, b) => a + b) / data.length; const variance = data.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (data.length - 1); const sorted = [...data].sort((a, b) => a - b);
console.log({ mean, median: (sorted[2] + sorted[3]) / 2, sd: Math.sqrt(variance), p90: sorted[Math.ceil(0.9 * sorted.length) - 1], min: Math.min(...data), max: Math.max(...data) });
//# dates by month
const stamps = ["2024-01-31", "2024-02-29", "2024-02-01", "2023-12-25"].map((d) => new Date(d)); const byMonth = {}; for (const d of stamps) (byMonth[d.toISOString().slice(0, 7)] ??= []).push(d.getUTCDate()); console.log(byMonth, stamps.sort((a, b) => a - b)[0].toISOString(), Math.floor((new Date("2024-03-01") - new Date("2024-02-01")) / 864e5));
//# a graph search
const graph = { a: ["b", "c"], b: ["d"], c: ["d", "e"], d: ["f"], e: ["f"], f: [] }; const bfs = (from, to) => { const queue = [[from]], seen = new Set([from]); while (queue.length) { const path = queue.shift(); if (path.at(-1) === to) return path; for (const next of graph[path.at(-1)]) if (!seen.has(next)) { seen.add(next); queue.push([...path, next]); } } }; console.log(bfs("a", "f"), bfs("f", "a"));
//# sieve and memo
const sieve = (n) => { const is = new Uint8Array(n + 1).fill(1); for (let p = 2; p * p <= n; p++) if (is[p]) for (let k = p * p; k <= n; k += p) is[k] = 0; return [...is.keys()].filter((k) => k > 1 && is[k]); }; console.log(sieve(60), sieve(1000).length);
//# flatten and diff objects
const flat = (o, pre = "") => Object.entries(o).reduce((all, [k, v]) => (v && typeof v === "object" ? { ...all, ...flat(v, `${pre}${k}.`) } : { ...all, [pre + k]: v }), {}); const one = flat({ a: { b: 1, c: [1, 2] }, d: null }), two = flat({ a: { b: 2, c: [1] }, e: 1 }); console.log(one, [...new Set([...Object.keys(one), ...Object.keys(two)])].filter((k) => one[k] !== two[k]));
//# matrix and transposition
const mat = [[1, 2, 3], [4, 5, 6]]; const t = mat[0].map((_, i) => mat.map((row) => row[i])); const mul = (a, b) => a.map((r) => b[0].map((_, j) => r.reduce((s, v, k) => s + v * b[k][j], 0))); console.log(t, mul(mat, t), mat.flat(), structuredClone(mat));
//# paginate with an async loop
const api = async (cursor = 0) => ({ items: [cursor, cursor + 1], next: cursor < 6 ? cursor + 2 : null }); const items = []; let cursor = 0; do { const page = await api(cursor); items.push(...page.items); cursor = page.next; } while (cursor !== null); console.log(items);
//# markdown table
const table = (rows) => { const keys = Object.keys(rows[0]); const line = (cells) => `| ${cells.join(" | ")} |`; return [line(keys), line(keys.map(() => "---")), ...rows.map((row) => line(keys.map((k) => row[k] ?? "")))].join("\n"); }; console.log(table([{ name: "a", n: 1 }, { name: "b" }]));
//# emails and links in text
const body = "Write to ann@example.com or bob.smith+x@mail.example.org, see https://x.org/a?b=1 and http://y.com."; console.log(body.match(/[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g), body.match(/https?:\/\/[^\s]+?(?=[.,]?(?:\s|$))/g), body.replace(/[\w.+-]+@[\w.-]+\w/g, (m) => m[0] + "***"));
//# levenshtein and fuzzy find
const lev = (a, b) => { const d = Array.from({ length: a.length + 1 }, (_, i) => [i, ...Array(b.length).fill(0)]); for (let j = 1; j <= b.length; j++) d[0][j] = j; for (let i = 1; i <= a.length; i++) for (let j = 1; j <= b.length; j++) d[i][j] = Math.min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)); return d[a.length][b.length]; }; console.log(lev("kitten", "sitting"), ["apple", "apply", "maple"].sort((x, y) => lev(x, "aple") - lev(y, "aple")));
//# an inventory class
class Inventory { #items = new Map(); add(sku, qty = 1, price = 0) { const item = this.#items.get(sku) ?? { qty: 0, price }; this.#items.set(sku, { qty: item.qty + qty, price: price || item.price }); return this; } get total() { return [...this.#items.values()].reduce((sum, { qty, price }) => sum + qty * price, 0); } *[Symbol.iterator]() { yield* this.#items; } toJSON() { return { total: this.total, items: Object.fromEntries(this) }; } } const stock = new Inventory().add("a", 2, 1.5).add("b", 1, 10).add("a"); console.log(stock.total, [...stock], JSON.stringify(stock), stock);
//# rounding money
const cents = (n) => Math.round((n + Number.EPSILON) * 100) / 100; console.log(cents(1.005), cents(10.075), (1.005).toFixed(2), [0.1, 0.2, 0.3].reduce((a, b) => a + b), (1234.5678).toFixed(1), +(0.1 + 0.2).toPrecision(10), (25).toString(36), Number((5.55).toFixed(1)));
//# deduplicate and partition
const people = [{ id: 1, n: "x" }, { id: 2, n: "y" }, { id: 1, n: "z" }]; console.log([...new Map(people.map((p) => [p.id, p])).values()], people.filter((p, i, all) => all.findIndex((q) => q.id === p.id) === i), people.reduce(([even, odd], p) => (p.id % 2 ? [even, [...odd, p]] : [[...even, p], odd]), [[], []]));
//# parse a log and summarize
const log = Array.from({ length: 12 }, (_, i) => `2024-05-0${1 + (i % 3)}T10:0${i % 10}:00Z ${["INFO", "WARN", "ERROR"][i % 3]} svc-${i % 2} took ${i * 13}ms`).join("\n"); const parsed = log.split("\n").map((line) => line.match(/^(\S+) (\w+) (\S+) took (\d+)ms$/)).map(([, at, level, service, ms]) => ({ at: new Date(at), level, service, ms: +ms })); const slow = parsed.filter((row) => row.ms > 80); console.log(slow.length, slow[0], parsed.filter((row) => row.level === "ERROR").length);
//# tree building
const flatNodes = [{ id: 1, parent: null }, { id: 2, parent: 1 }, { id: 3, parent: 1 }, { id: 4, parent: 2 }]; const build = (parent = null) => flatNodes.filter((node) => node.parent === parent).map((node) => ({ id: node.id, children: build(node.id) })); console.log(JSON.stringify(build()), build()); console.dir(build(), { depth: null });
//# roman numerals and binary search
const roman = (n) => [[1000, "M"], [900, "CM"], [500, "D"], [400, "CD"], [100, "C"], [90, "XC"], [50, "L"], [40, "XL"], [10, "X"], [9, "IX"], [5, "V"], [4, "IV"], [1, "I"]].reduce((text, [value, letters]) => { while (n >= value) { text += letters; n -= value; } return text; }, ""); const find = (list, x) => { let [lo, hi] = [0, list.length - 1]; while (lo <= hi) { const mid = (lo + hi) >> 1; if (list[mid] === x) return mid; list[mid] < x ? (lo = mid + 1) : (hi = mid - 1); } return -1; }; console.log([1994, 2024, 4, 9].map(roman), find([1, 3, 5, 7, 9], 7), find([1], 2));
//# state machine and events
const machine = { state: "idle", transitions: { idle: { start: "running" }, running: { pause: "paused", stop: "idle" }, paused: { resume: "running" } } }; const sendEvent = (event) => { const next = machine.transitions[machine.state][event]; if (!next) throw new Error(`no ${event} in ${machine.state}`); machine.state = next; return next; }; console.log(["start", "pause", "resume", "stop"].map(sendEvent)); try { sendEvent("pause"); } catch (error) { console.log(error.message); }
//# schedule overlaps
const meetings = [["09:00", "10:30"], ["10:00", "11:00"], ["13:00", "14:00"]].map(([from, to]) => [from, to].map((t) => t.split(":").reduce((h, m) => h * 60 + +m, 0))); const merged = meetings.sort((a, b) => a[0] - b[0]).reduce((all, [from, to]) => { const last = all.at(-1); if (last && from <= last[1]) last[1] = Math.max(last[1], to); else all.push([from, to]); return all; }, []); console.log(merged.map(([a, b]) => [a, b].map((m) => `${String(Math.floor(m / 60)).padStart(2, "0")}:${String(m % 60).padStart(2, "0")}`)));
//# permutations and combinations
const perms = (xs) => (xs.length < 2 ? [xs] : xs.flatMap((x, i) => perms([...xs.slice(0, i), ...xs.slice(i + 1)]).map((p) => [x, ...p]))); const combos = (xs, k) => (k === 0 ? [[]] : xs.flatMap((x, i) => combos(xs.slice(i + 1), k - 1).map((c) => [x, ...c]))); console.log(perms([1, 2, 3]), combos(["a", "b", "c", "d"], 2).map((c) => c.join("")), perms([1, 2, 3, 4]).length);
//# linear regression
const pts = [[1, 2], [2, 4.1], [3, 6.2], [4, 7.9]]; const nn = pts.length, sx = pts.reduce((s, [x]) => s + x, 0), sy = pts.reduce((s, [, y]) => s + y, 0), sxy = pts.reduce((s, [x, y]) => s + x * y, 0), sxx = pts.reduce((s, [x]) => s + x * x, 0); const slope = (nn * sxy - sx * sy) / (nn * sxx - sx * sx); console.log({ slope: +slope.toFixed(4), intercept: +((sy - slope * sx) / nn).toFixed(4) });
//# escape html and slugify
const esc = (s) => s.replace(/[&<>"']/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })[c]); const slug = (s) => s.toLowerCase().normalize("NFKD").replace(/[^\w\s-]/g, "").trim().replace(/[\s_-]+/g, "-"); console.log(esc(`<a href="x">it's & co</a>`), slug("  Héllo, Wörld! 2024 "), encodeURIComponent("a b&c=ü/"), decodeURIComponent("%E2%82%AC"), encodeURI("http://x/a b?q=ü"));
//# lru cache
class LRU { constructor(max) { this.max = max; this.map = new Map(); } get(k) { if (!this.map.has(k)) return undefined; const v = this.map.get(k); this.map.delete(k); this.map.set(k, v); return v; } set(k, v) { this.map.delete(k); this.map.set(k, v); if (this.map.size > this.max) this.map.delete(this.map.keys().next().value); } } const lru = new LRU(2); lru.set("a", 1); lru.set("b", 2); lru.get("a"); lru.set("c", 3); console.log(lru, lru.get("b"), [...lru.map.keys()]);
//# large loops stay correct
let sum = 0; for (let i = 0; i < 300000; i++) sum += i % 7; const big = Array.from({ length: 50000 }, (_, i) => (i * 7919) % 50021); console.log(sum, big.sort((a, b) => a - b).slice(0, 3), new Set(big).size, big.reduce((a, b) => a ^ b, 0), JSON.stringify(big).length);
