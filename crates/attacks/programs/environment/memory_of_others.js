// attack: look into memory that was not cleared
// expect: ok
// forbid: SECRET-91bc
// forbid: PWNED
// timeout_ms: 10000
const needle = ["SECRET", "91" + "bc"].join("-");
let dirty = 0;
for (let round = 0; round < 40; round++) {
  for (const bytes of [new Uint8Array(1 << 18), Buffer.alloc(1 << 16), new Uint8Array(new ArrayBuffer(16, { maxByteLength: 1 << 18 }))]) {
    if (bytes.buffer.resizable) bytes.buffer.resize(1 << 18);
    if (bytes.some((byte) => byte !== 0)) dirty++;
  }
  const unsafe = Buffer.allocUnsafe(1 << 18).toString("latin1");
  if (unsafe.includes(needle)) console.log("PW" + "NED: a secret in old memory");
}
if (dirty) console.log("PW" + "NED: memory that was not cleared,", dirty);
export default dirty;
