// attack: ask for more memory than there is, at once
// expect: ok
// forbid: PWNED
// memory_mb: 128
let held = 0;
for (const make of [() => new ArrayBuffer(1 << 30), () => new Uint8Array(2 ** 32 - 1), () => new Float64Array(1 << 28), () => Buffer.alloc(1 << 30), () => new ArrayBuffer(8, { maxByteLength: 2 ** 40 }), () => "x".repeat(2 ** 29), () => new Array(1 << 28).fill(0), () => structuredClone(new Uint8Array(1 << 29))]) {
  try {
    held += make().length ?? 1;
    if (held > 1 << 28) console.log("PW" + "NED:", held);
  } catch (error) {
    console.log(error.name);
  }
}
export default "refused";
