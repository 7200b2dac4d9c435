// attack: catch every refusal and keep on asking
// expect: ok | error | limit:memory | limit:wall_time | limit:cpu_time | crash
// forbid: PWNED
// memory_mb: 128
// timeout_ms: 4000
const kept = [];
let refusals = 0;
let size = 1 << 24;
while (refusals < 2000 && kept.length < 100_000) {
  try {
    kept.push(new Uint8Array(size));
  } catch {
    refusals++;
    size = Math.max(64, size >> 1);
  }
}
const held = kept.reduce((sum, bytes) => sum + bytes.length, 0);
kept.length = 0;
console.log(held > 512 << 20 ? "PW" + "NED:" : "refused at", held >> 20, "MiB");
