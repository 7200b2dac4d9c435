// attack: timers that set timers, so that the program never ends
// expect: limit:wall_time | limit:cpu_time
// forbid: PWNED
// timeout_ms: 1000
const end = Date.now() + 20_000;
const again = () => (Date.now() < end ? (setTimeout(again, 0), setImmediate(again)) : console.log("PW" + "NED: ran to the end"));
again();
await new Promise(() => {});
