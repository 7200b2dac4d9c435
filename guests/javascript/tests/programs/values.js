//# numbers and their text
console.log((0.1 + 0.2).toFixed(2), 1 / 3, -0, [-0], 1e21, 123456789012345680000, 0xff, 1_000_000);
console.log(Number("12px"), parseInt("12px"), parseFloat("3.5e2abc"), Number(""), Number(null), Number([7]));
console.log((255).toString(16), (255).toString(2).padStart(10, "0"), Number.MAX_SAFE_INTEGER, Number.EPSILON > 0);
console.log(Math.round(2.5), Math.round(-2.5), Math.trunc(-4.7), Math.sign(-3), Math.hypot(3, 4), Math.max(), Math.cbrt(27));
//# strings as models use them
const text = "The quick brown fox";
console.log(text.split(" ").map((word) => word[0].toUpperCase() + word.slice(1).toLowerCase()).join(" "));
console.log(text.replaceAll("o", "0"), text.at(-1), text.includes("quick"), text.indexOf("z"), [...text].reverse().join(""));
console.log("a-b-c".split("-", 2), "  pad ".trim() + "|", "x".padStart(3, "ab"), "ha".repeat(3), "abc".localeCompare("abd"));
console.log("naïve café".normalize("NFD").replace(/[\u0300-\u036f]/g, ""), "ß".toUpperCase(), "İ".length, "👍🏽".length, [..."👍🏽"].length);
//# template literals and tags
const tag = (strings, ...values) => strings.raw.join("|") + values.join(",");
console.log(tag`a${1}b${2}c\n`, `multi
line`, String.raw`\n${1}`);
//# arrays
const rows = [{ n: 3, k: "c" }, { n: 1, k: "a" }, { n: 2, k: "b" }];
console.log(rows.toSorted((a, b) => a.n - b.n).map((row) => row.k), rows.length, rows.findLast((row) => row.n < 3));
console.log([3, 1, 10, 2].sort(), [3, 1, 10, 2].sort((a, b) => a - b), [1, [2, [3, [4]]]].flat(Infinity), [1, 2, 3].with(1, 9));
console.log(Array.from({ length: 5 }, (_, i) => i * i), Array(3), [1, , 3], [undefined, null], new Array(3).fill(0), [...[..."ab"].entries()]);
console.log([1, 2, 3, 4].reduce((a, b) => a + b, 0), [1, 2, 3].includes(NaN), [NaN].includes(NaN), [NaN].indexOf(NaN), [1, 2, 3].copyWithin(0, 1));
//# objects
const { a, ...rest } = { a: 1, b: 2, c: { d: 3 } };
console.log(a, rest, { ...rest, b: 5 }, Object.entries(rest), Object.fromEntries([["x", 1]]), rest?.c?.d ?? "none", rest.z?.y);
console.log(Object.assign({}, { q: 1 }), Object.keys("ab"));
console.log({ "a-b": 1, 2: "two", [Symbol("s")]: 3, get x() { return 1; }, set x(v) {}, fn() {}, arrow: () => {}, async as() {}, *gen() {} });
//# classes
class Animal {
  #secret = 1;
  static count = 0;
  constructor(name) { this.name = name; Animal.count++; }
  get loud() { return this.name.toUpperCase(); }
  speak() { return `${this.name} makes a sound`; }
  toString() { return `Animal(${this.name})`; }
}
class Dog extends Animal {
  speak() { return `${super.speak()}: woof`; }
}
const dog = new Dog("Rex");
console.log(dog, dog.speak(), dog.loud, `${dog}`, Animal.count, dog instanceof Animal, Dog, Animal, [dog], { dog });
//# maps and sets
const map = new Map([["a", 1], ["b", { c: 2 }]]);
map.set(1, [1]).delete("a");
console.log(map, map.size, [...map.keys()], new Set([1, 1, "x", [2]]), new Map(), new Set(), new WeakMap(), map.entries().next());
console.log(new Set([1, 2, 3]).intersection?.call(new Set([1, 2, 3]), new Set([2, 3, 4])) ?? new Set([2, 3]), Map.groupBy?.([1, 2], (n) => n % 2 === 0) ?? new Map([[false, [1]], [true, [2]]]));
//# destructuring and defaults
const f = ({ x = 1, y: { z = 2 } = {} } = {}, [p, , q = 3, ...r] = [10, 20], ...more) => [x, z, p, q, r, more];
console.log(f(), f({ x: 5, y: { z: 6 } }, [1, 2, 3, 4, 5], 7, 8));
let m = 1, n = 2;
[m, n] = [n, m];
console.log(m, n);
//# generators and iterators
function* fib() { let [a, b] = [0, 1]; while (true) { yield a; [a, b] = [b, a + b]; } }
const first = []; for (const n of fib()) { if (first.length === 8) break; first.push(n); } console.log(first);
const it = { *[Symbol.iterator]() { yield 1; yield* [2, 3]; return 4; } };
console.log([...it], Math.max(...it), Array.from(it, (v) => v * 2), fib(), it);
for (const [i, v] of ["x", "y"].entries()) console.log(i, v);
//# async iteration
async function* pages() { for (let i = 1; i <= 3; i++) { await null; yield { page: i }; } }
const all = [];
for await (const page of pages()) all.push(page);
console.log(all);
//# regular expressions
const log = "2024-01-15 ERROR [db] timeout after 30s; 2024-01-16 WARN [api] slow";
const pattern = /(?<date>\d{4}-\d{2}-\d{2}) (?<level>[A-Z]+) \[(?<part>\w+)\]/g;
console.log([...log.matchAll(pattern)].map((found) => ({ ...found.groups })), log.match(/\d+s/)[0], log.match(/nope/), log.search(/WARN/));
console.log("John Smith".replace(/(\w+)\s(\w+)/, "$2, $1"), "a1b2".replace(/\d/g, (d) => d * 2), /^\p{Lu}/u.test("Éa"), "x,y;z".split(/[,;]/), /a.c/s.test("a\nc"));
console.log("abc".match(/b/), /(?<=\$)\d+/.exec("cost $42")[0], "aBc".replace(/b/i, "-"));
//# dates
const date = new Date("2024-03-15T14:30:05.123Z");
console.log(date.toISOString(), date.getTime(), date.getUTCDay(), JSON.stringify({ date }), new Date(2024, 0, 31).toISOString(), date);
console.log(new Date("2024-02-30T00:00:00Z").toString() === "Invalid Date" || new Date("2024-02-30T00:00:00Z").toISOString(), new Date("nope"), isNaN(new Date("nope")), Date.UTC(2020, 1, 29));
const next = new Date(date); next.setUTCDate(next.getUTCDate() + 20);
console.log(next.toISOString().slice(0, 10), Math.round((next - date) / 86400000), new Date(0).toUTCString(), new Date("2024-01-01") < date);
//# bigint
console.log(2n ** 64n, BigInt("12345678901234567890") * 2n, 7n / 2n, typeof 1n, [1n], { big: 10n }, BigInt.asUintN(8, 257n), 5n > 4, 0n === 0);
//# json
console.log(JSON.stringify({ a: [1, { b: undefined, c: () => 1, d: NaN }], e: new Date(0), f: new Map([[1, 2]]), g: null }), JSON.stringify([undefined, function () {}, Symbol("x")]));
console.log(JSON.stringify({ a: 1, b: [1, 2] }, null, 2), JSON.parse('{"a":[1,2,{"b":null}]}', (key, value) => (typeof value === "number" ? value + 1 : value)));
console.log(JSON.stringify({ a: 1, b: 2, c: 3 }, ["a", "c"]), JSON.stringify("\u2028\ud800\n"), JSON.stringify({ toJSON() { return "custom"; } }));
try { JSON.parse("{bad"); } catch (error) { console.log(error.name, error instanceof SyntaxError); }
//# errors as values
class ValidationError extends Error {
  constructor(field, message) { super(message); this.name = "ValidationError"; this.field = field; }
}
try {
  throw new ValidationError("email", "bad address");
} catch (error) {
  console.log(error.name, error.message, error.field, `${error}`, error instanceof ValidationError, error instanceof Error);
} finally {
  console.log("finally");
}
const wrapped = new Error("outer", { cause: new TypeError("inner") });
console.log(wrapped.cause.message, [new Error("x")].length, Object.prototype.toString.call(wrapped));
try { null.length; } catch (error) { console.log(error.constructor.name); }
try { undefinedName; } catch (error) { console.log(error.name); }
try { (void 0)(); } catch (error) { console.log(error.name); }
try { new Array(-1); } catch (error) { console.log(error.name); }
//# symbols, proxies, getters
const handler = { get: (target, key) => (key in target ? target[key] : `no ${String(key)}`) };
const proxy = new Proxy({ a: 1 }, handler);
console.log(proxy.a, proxy.b, Symbol("x").toString(), Symbol.for("k") === Symbol.for("k"), typeof Symbol.iterator);
const frozen = Object.freeze({ a: 1 });
try { frozen.a = 2; } catch (error) { console.log(error.name); }
console.log(frozen, Object.isFrozen(frozen), Reflect.ownKeys({ b: 1, a: 2, 1: 3 }), Object.getOwnPropertyNames("ab"));
//# typed arrays
const bytes = new Uint8Array([1, 2, 255, 256]);
console.log(bytes, new Float64Array(2), new Uint8Array(bytes.buffer, 1, 2), bytes.subarray(1), new DataView(bytes.buffer).getUint16(0), new ArrayBuffer(4), Int16Array.from([1, 2]));
console.log(Array.from(bytes), bytes.map((b) => b / 2), [...bytes.entries()], bytes.buffer.byteLength, new BigInt64Array(1));
//# labels, switch, loops
outer: for (let i = 0; i < 3; i++) { for (let j = 0; j < 3; j++) { if (j === 1) continue outer; if (i === 2) break outer; console.log(i, j); } }
const kind = (value) => { switch (typeof value) { case "number": return "n"; case "string": return "s"; default: return "?"; } };
console.log(["a", 1, null].map(kind)); let i = 0; do { i++; } while (i < 5); console.log(i); for (const key in { x: 1, y: 2 }) console.log(key);
//# closures and currying
const compose = (...fns) => (x) => fns.reduceRight((value, fn) => fn(value), x);
const memo = (fn, cache = {}) => (n) => (cache[n] ??= fn(n));
const fact = memo((n) => (n < 2 ? 1 : n * fact(n - 1)));
console.log(compose((x) => x + 1, (x) => x * 2)(5), fact(20), [1, 2, 3].map(Number.call, Number), (function () { return arguments.length; })(1, 2));
//# optional things and logical assignment
const config = { retries: 0, name: "" }; config.retries ||= 3; config.name ??= "x"; config.timeout ??= 5;
console.log(config, config.missing?.(), config?.["name"], null ?? "d", 0 || "e", "" ?? "f");
//# deep recursion within reason
const depth = (n) => (n === 0 ? 0 : 1 + depth(n - 1));
console.log(depth(5000));
let caught = ""; const forever = () => forever() + 1; try { forever(); } catch (error) { caught = `${error.name}: ${error.message}`; } console.log(caught);
