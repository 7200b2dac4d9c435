// attack: change objects while JSON reads and makes them
// expect: ok | crash | limit:wall_time
// forbid: PWNED
// timeout_ms: 6000
const target = { a: [1, 2, { b: 3 }], c: "x".repeat(1000) };
for (const act of [
  () => JSON.stringify(target, function (key, value) { if (key === "a") { target.a.length = 0; delete target.c; target.d = target; } return value; }),
  () => JSON.stringify([1, 2, 3], { length: 2 ** 32, 0: "a" }),
  () => JSON.parse('{"a":[1,2,3],"b":{"c":1}}', function (key, value) { if (key === "0") { this.length = 0; Object.defineProperty(this, 1, { get: () => (this.length = 1e6) }); } return key === "b" ? new Proxy(this, {}) : value; }),
  () => JSON.parse("[".repeat(200_000)), () => JSON.parse("[".repeat(200_000) + "]".repeat(200_000)), () => JSON.parse('{"a":'.repeat(100_000) + "1" + "}".repeat(100_000)), () => JSON.parse(`"${"\\u0000".repeat(1_000_000)}"`), () => JSON.parse(`${"9".repeat(10_000)}`), () => JSON.parse("1e".padEnd(400, "9")), () => JSON.rawJSON("{".repeat(1000)), () => JSON.stringify(JSON.rawJSON("1")), () => JSON.stringify("\ud800".repeat(100_000)), () => JSON.stringify({ a: 1 }, null, "x".repeat(1e6)),
  // Ever deeper, and slower with each level: the deadline ends it.
  () => JSON.stringify({ toJSON() { return { toJSON: this.toJSON, x: [this] }; } }),
]) {
  try {
    act();
  } catch {}
}
export default "survived";
