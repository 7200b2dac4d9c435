// attack: results that are something else each time they are looked at
// expect: ok | error | limit:result_depth | limit:result_bytes
// forbid: PWNED
let turns = 0;
const lying = new Proxy([], { get: (target, key) => (key === "length" ? ++turns : key === Symbol.iterator ? undefined : `${String(key)}`) });
export default [lying, { get a() { return turns++ % 2 ? { a: this } : "x"; } }, { toJSON: () => ({ toJSON: () => "twice" }) }, Object.create({ toJSON: () => undefined }), new (class extends Date { getTime() { return NaN; } toISOString() { return { x: 1 }; } })(), new (class extends Map { keys() { return [{ toString: null }]; } })([[1, 2]]), new (class extends Uint8Array { get length() { return 1e9; } })(4), Object.assign([1], { toJSON: () => "array" }), new (class extends String { valueOf() { return this; } })("x"), new (class extends Promise {})(() => {}), new Proxy(new Date(), {}), new Proxy(() => 1, {})];
