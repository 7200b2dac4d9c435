// attack: reject promises that nobody hears of, each with a large reason
// expect: error | limit:memory | limit:wall_time | limit:cpu_time
// forbid: PWNED
// memory_mb: 96
// timeout_ms: 6000
for (let n = 0; n < 200_000; n++) Promise.reject(new Error("r".repeat(1000)));
