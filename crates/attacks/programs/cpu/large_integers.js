// attack: integers whose digits take for ever
// expect: limit:wall_time | limit:cpu_time | limit:memory | error
// forbid: PWNED
// timeout_ms: 1500
let n = 3n;
for (let round = 0; round < 40; round++) n = n * n + 1n;
console.log("PW" + "NED: computed", n.toString().length);
