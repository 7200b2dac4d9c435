// attack: a pattern that takes exponential time
// expect: limit:wall_time | limit:cpu_time
// forbid: PWNED
// timeout_ms: 1000
/^(\w+\s?)+$/.test(`${"word ".repeat(40)}!`);
/(a+)+$/.test(`${"a".repeat(60)}b`);
console.log("PW" + "NED: it came to an end");
