// attack: print objects that fail, lie or never end when somebody looks at them
// expect: ok | error | limit:wall_time | limit:cpu_time | limit:memory | limit:output_bytes
// forbid: PWNED
// timeout_ms: 4000
const custom = Symbol.for("nodejs.util.inspect.custom");
const things = [
  { get x() { throw new Error("no"); } }, { [Symbol.toStringTag]: {} }, { constructor: null }, { constructor: { name: Symbol("x") } }, { [custom]: () => { throw null; } }, { [custom]() { return this; } }, { [custom]: (_d, _o, inspect) => inspect({ [custom]: things?.[5] }) },
  new Proxy({}, { ownKeys: () => Array.from({ length: 100_000 }, (_, n) => `${n}`), getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }) }), Object.defineProperties(new Error("x"), { name: { value: {} }, message: { value: Symbol("m") }, stack: { value: 7 } }), Object.defineProperties(new Map(), { entries: { value: null }, size: { value: -1 } }), Object.setPrototypeOf(new Date(), null), Object.create(new Proxy({}, { getPrototypeOf() { throw 1; } })), Array(1e6), new Array(2 ** 32 - 1), "s".repeat(1e6), Object.defineProperty(() => 1, "name", { get() { throw 2; } }), new (class { static get name() { throw 3; } })(), new Uint8Array(1e6), { a: { b: { c: { d: { e: {} } } } } }, Symbol("\n\n"), new WeakRef({}), (function* () {})(), process, globalThis,
];
for (const thing of things) {
  for (const way of [(t) => console.log(t), (t) => console.table([t]), (t) => console.dir(t, { depth: Infinity }), (t) => console.log("%s %d %i %f %j %o %O %c", t, t, t, t, t, t, t, t), (t) => console.assert(false, t), (t) => console.group(t)]) {
    try {
      way(thing);
    } catch {}
  }
}
export default "printed";
