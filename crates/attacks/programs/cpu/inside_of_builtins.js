// attack: stay inside of one builtin for longer than the deadline
// expect: limit:wall_time | limit:cpu_time | limit:memory
// forbid: PWNED
// timeout_ms: 1000
const text = "a".repeat(1 << 22);
text.indexOf(`${"a".repeat(1 << 21)}b`);
new Array(2 ** 32 - 1).includes(1);
new Array(2 ** 32 - 1).lastIndexOf(1);
Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1);
console.log("PW" + "NED: ran to the end");
