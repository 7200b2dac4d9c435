// attack: make promises, closures and timers until nothing is left
// expect: limit:memory | limit:wall_time | limit:cpu_time
// forbid: PWNED
// memory_mb: 96
// timeout_ms: 6000
const kept = [];
for (let n = 0; n < 20_000_000; n++) {
  const promise = new Promise((done) => kept.push(done, setTimeout(done, 1e9)));
  promise.then(() => n).finally(() => promise);
}
console.log("PW" + "NED: made them all");
