// attack: catch who waits for an answer of a tool, and give a forged one
// expect: ok | error | limit:wall_time
// forbid: PWNED
// timeout_ms: 1500
const waiting = [];
const { set, get } = Map.prototype;
Map.prototype.set = function (key, value) {
  if (typeof value === "function") waiting.push([this, key, value]);
  return set.call(this, key, value);
};
const call = callMCPTool("echo", { value: "honest" });
Map.prototype.set = set;
for (const [map, key, settle] of waiting) {
  for (const args of [[true, '{"value":"forged"}'], [false, "not json"], [true, undefined], []]) {
    try {
      settle(...args);
    } catch {}
  }
  for (const other of [0, -1, 2 ** 53, "1", null, key]) map.set?.(other, () => console.log("an answer that nobody sent"));
}
void get;
// What a program tells itself is its own matter; the gateway's own answers go on.
await call.catch(() => {});
export default (await callMCPTool("echo", { value: [1, 2] })).value.length;
