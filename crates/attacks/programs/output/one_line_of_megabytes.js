// attack: hundreds of megabytes on standard error, in one line
// expect: ok | limit:output_bytes | limit:memory | limit:wall_time
// forbid: PWNED
// timeout_ms: 5000
const chunk = "y".repeat(1 << 20);
for (let n = 0; n < 400; n++) process.stderr.write(n === 200 ? "PW" + "NED" : chunk);
