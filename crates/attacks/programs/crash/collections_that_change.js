// attack: clear and fill maps, sets and weak collections while they are walked
// expect: ok | crash | limit:memory
// forbid: PWNED
// timeout_ms: 8000
const map = new Map(Array.from({ length: 1000 }, (_, n) => [n, { n }]));
let turns = 0;
for (const [key] of map) {
  if (turns++ > 20_000) break;
  map.delete(key);
  if (turns % 7 === 0) map.clear();
  map.set(turns + 1000, {});
  map.set(turns + 5000, {});
}
const set = new Set([1, 2, 3]);
const other = { size: 3, has: () => (set.clear(), true), keys: () => ({ next: () => (set.add(turns++), { done: turns % 50 === 0, value: turns }) }) };
for (const name of ["union", "intersection", "difference", "symmetricDifference", "isSubsetOf", "isSupersetOf", "isDisjointFrom"]) {
  try {
    set[name]?.(other);
  } catch {}
}
set.forEach((value) => {
  if (turns++ < 60_000) set.delete(value) && set.add(value);
});
const weak = new WeakMap();
const registry = new FinalizationRegistry((held) => weak.set({}, held));
for (let n = 0; n < 20_000; n++) {
  const key = {};
  weak.set(key, { key, weak });
  registry.register(key, weak, key);
  if (n % 3 === 0) registry.unregister(key);
  new WeakRef(key).deref();
}
Map.groupBy(Array.from({ length: 100 }), () => (map.clear(), turns++));
export default map.size > 0;
