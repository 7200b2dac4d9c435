// attack: take a typed array's memory away while a builtin works on it
// expect: ok | crash
// forbid: PWNED
// timeout_ms: 8000
const sizes = [8, 64, 1024];
for (const size of sizes) {
  for (const Type of [Uint8Array, Int16Array, Float32Array, Float64Array, BigInt64Array]) {
    const zero = Type === BigInt64Array ? 1n : 1;
    const acts = [
      (t, cut) => t.fill({ valueOf: () => (cut(), zero) }), (t, cut) => t.set({ length: 4, get 0() { cut(); return zero; }, 1: zero, 2: zero, 3: zero }),
      (t, cut) => t.copyWithin({ valueOf: () => (cut(), 0) }, 2, 6), (t, cut) => t.sort(() => (cut(), -1)), (t, cut) => t.subarray({ valueOf: () => (cut(), 0) }),
      (t, cut) => t.slice(0, { valueOf: () => (cut(), 6) }), (t, cut) => t.includes(zero, { valueOf: () => (cut(), 0) }), (t, cut) => t.lastIndexOf(zero, { valueOf: () => (cut(), 5) }),
      (t, cut) => t.map(() => (cut(), zero)), (t, cut) => t.with({ valueOf: () => (cut(), 0) }, zero), (t, cut) => t.join({ toString: () => (cut(), ",") }),
      (t, cut) => Array.from(t, () => (cut(), zero)), (t, cut) => t.filter(() => (cut(), true)), (t, cut) => new Type(t).set(t, { valueOf: () => (cut(), 0) }), (t, cut) => t.toSorted(() => (cut(), 1)), (t, cut) => { for (const _ of t) cut(); },
    ];
    for (const act of acts) {
      const array = new Type(size);
      try {
        act(array, () => array.buffer.detached || array.buffer.transfer(0));
      } catch {}
      // Something else takes the place.
      const other = new Uint8Array(size).fill(7);
      try {
        array[0] = zero;
        if (array.length && array[array.length - 1] === 7 && other.length === 0) console.log("PW" + "NED");
      } catch {}
    }
  }
}
export default "survived";
