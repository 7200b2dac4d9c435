// attack: wait for what never comes
// expect: error | limit:wall_time
// forbid: PWNED
// timeout_ms: 1000
await new Promise(() => {});
console.log("PW" + "NED: it came");
