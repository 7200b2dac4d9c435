// attack: walk every object that can be reached, and look for a secret or for the host
// expect: ok
// forbid: SECRET-91bc
// forbid: PWNED
// timeout_ms: 10000
const needle = ["SECRET", "91" + "bc"].join("-");
const inside = ["startCall", "waitAny", "cancelCall", "readInto", "proxyTarget", "makeFolder"];
const seen = new Set();
const left = [globalThis, __gristmill, process, require, console, import.meta, (async () => {}).constructor, (function* () {}).constructor, (async function* () {}).constructor];
while (left.length && seen.size < 50_000) {
  const thing = left.pop();
  if (thing === null || !["object", "function"].includes(typeof thing) || seen.has(thing)) continue;
  seen.add(thing);
  let keys = [];
  try {
    keys = Reflect.ownKeys(thing);
    left.push(Object.getPrototypeOf(thing));
  } catch {}
  for (const key of keys.slice(0, 2000)) {
    try {
      const found = Object.getOwnPropertyDescriptor(thing, key);
      if (typeof found?.value === "string" && found.value.includes(needle) && found.value.length < 4000) console.log("PW" + "NED: at", String(key));
      if (typeof found?.value === "function" && inside.includes(key)) console.log("PW" + "NED: the host's", String(key));
      left.push(found?.value, found?.get, found?.set);
    } catch {}
  }
}
export default seen.size > 100;
