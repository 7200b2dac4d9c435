// attack: a proxy that says it is an array of four thousand million
// expect: limit:result_bytes | error | limit:wall_time
// forbid: PWNED
// timeout_ms: 3000
export default new Proxy([], { get: (target, key) => (key === "length" ? 2 ** 32 - 1 : key === "toJSON" ? undefined : 1) });
