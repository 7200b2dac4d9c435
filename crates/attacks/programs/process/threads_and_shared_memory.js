// attack: get a second thread, or memory that one could share
// expect: ok
// forbid: PWNED
const found = [];
for (const name of ["worker_threads", "node:worker_threads"]) {
  try {
    new (require(name).Worker)("while (true);", { eval: true });
    found.push(name);
  } catch {}
}
for (const make of [() => new Worker("data:text/javascript,1"), () => WebAssembly.instantiate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])), () => Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0, 20_000), () => new MessageChannel().port1.postMessage(1), () => structuredClone(new SharedArrayBuffer(8))]) {
  try {
    await make();
    found.push(`${make}`);
  } catch (error) {
    console.log(error.name);
  }
}
if (found.some((way) => /Worker|worker|WebAssembly/.test(way))) console.log("PW" + "NED:", found.join());
export default found.length;
