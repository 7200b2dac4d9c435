// attack: go on after the end by catching it
// expect: limit:wall_time | limit:cpu_time | limit:memory
// forbid: PWNED
// timeout_ms: 1000
const end = Date.now() + 20_000;
const hold = () => {
  while (Date.now() < end) {
    try {
      hold();
    } catch {
    } finally {
      if (Date.now() < end) continue;
    }
  }
};
process.on("SIGTERM", hold);
process.on("uncaughtException", hold);
globalThis.onunhandledrejection = hold;
hold();
console.log("PW" + "NED: nobody stopped it");
