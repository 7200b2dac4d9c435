// attack: shrink and grow buffers below the views on them
// expect: ok | crash
// forbid: PWNED
// timeout_ms: 8000
const make = () => new ArrayBuffer(64, { maxByteLength: 1 << 20 });
for (let round = 0; round < 200; round++) {
  const buffer = make();
  const views = [new Uint8Array(buffer), new Uint8Array(buffer, 8), new Float64Array(buffer, 8, 4), new DataView(buffer, 4), new DataView(buffer, 4, 60)];
  const steps = [0, 1, 7, 9, 63, 65, 1 << 20, 5];
  for (const size of steps) {
    const acts = [() => views[0].fill({ valueOf: () => (buffer.resize(size), 1) }), () => views[1].set(views[0], { valueOf: () => (buffer.resize(size), 0) }), () => views[2].sort(() => (buffer.resize(size), 1)), () => views[3].setFloat64({ valueOf: () => (buffer.resize(size), 0) }, 1), () => views[4].getBigUint64(52), () => views[0].copyWithin(0, { valueOf: () => (buffer.resize(size), 1) }), () => buffer.slice({ valueOf: () => (buffer.resize(size), 0) }, 60), () => Buffer.from(buffer).write("x".repeat(100)), () => structuredClone(buffer, { transfer: [buffer] })];
    for (const act of acts) {
      try {
        act();
      } catch {}
    }
    for (const view of views) {
      try {
        if (view.byteLength > buffer.byteLength) console.log("PW" + "NED: a view is larger than its buffer");
      } catch {}
    }
  }
}
export default "survived";
