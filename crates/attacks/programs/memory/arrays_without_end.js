// attack: grow an array of small objects until it is refused
// expect: limit:memory
// forbid: PWNED
// memory_mb: 96
// timeout_ms: 15000
const kept = [];
for (let n = 0; n < 30_000_000; n++) kept.push({ n, text: `row ${n}`, inner: [n] });
console.log("PW" + "NED:", kept.length);
