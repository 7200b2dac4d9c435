// attack: numbers, dates and texts at the edges of what fits
// expect: ok | crash | limit:memory | limit:wall_time | limit:cpu_time
// forbid: PWNED
// timeout_ms: 4000
const edges = [-1, 0, 2 ** 30, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53, 1e21, -(2 ** 31) - 1, NaN, Infinity, -Infinity, 0.1, "2147483648", 5e-324];
for (const n of edges) {
  for (const act of [() => "x".repeat(n), () => "x".padStart(n, "ab"), () => "abc".at(n), () => new Array(n), () => new Uint8Array(n), () => new ArrayBuffer(n), () => (1).toFixed(n), () => (1e21).toString(n), () => (255).toPrecision(n), () => [].concat(n).flat(n), () => BigInt(n) ** 3n, () => BigInt.asIntN(n, 5n), () => 1n << BigInt(n), () => new Date(n).toISOString(), () => new Date(n, n, n, n, n), () => String.fromCodePoint(n), () => "abc".substring(n, -n), () => new DataView(new ArrayBuffer(8)).getInt32(n), () => Atomics.add(new Int32Array(4), n, 1), () => setTimeout(() => {}, n), () => "a".localeCompare("b", n), () => (n).toLocaleString("en-US", { maximumFractionDigits: n }), () => Buffer.alloc(n), () => crypto.getRandomValues(new Uint8Array(n)), () => structuredClone(new Uint8Array(n)), () => "x".normalize(n), () => parseInt("z".repeat(100), n), () => Math.imul(n, n) + Math.clz32(n) + Math.fround(n)]) {
    try {
      act();
    } catch {}
  }
}
export default "survived";
