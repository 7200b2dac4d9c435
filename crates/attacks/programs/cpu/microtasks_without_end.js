// attack: promises that beget promises, so that nothing else has its turn
// expect: limit:wall_time | limit:cpu_time | limit:memory
// forbid: PWNED
// timeout_ms: 1000
const end = Date.now() + 20_000;
const again = () => Promise.resolve().then(() => (Date.now() < end ? again() : console.log("PW" + "NED: ran to the end")));
setTimeout(() => console.log("PW" + "NED: a timer had its turn"), 1);
await again();
