// attack: loop for ever
// expect: limit:wall_time | limit:cpu_time
// forbid: PWNED
// timeout_ms: 700
const end = Date.now() + 20_000;
while (Date.now() < end) {
  try {
    throw 1;
  } catch {
    continue;
  } finally {
    void 0;
  }
}
console.log("PW" + "NED: ran to the end");
