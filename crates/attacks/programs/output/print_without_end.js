// attack: print without end
// expect: limit:output_bytes | limit:wall_time | limit:cpu_time
// forbid: PWNED
// timeout_ms: 2000
const end = Date.now() + 20_000;
while (Date.now() < end) console.log("x".repeat(1000));
console.log("PW" + "NED: printed for 20 seconds");
