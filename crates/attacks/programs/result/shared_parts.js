// attack: a small value that is enormous when it is written out
// expect: limit:result_bytes | limit:result_depth | limit:memory | limit:wall_time | limit:cpu_time | error
// forbid: PWNED
// timeout_ms: 6000
let value = ["x".repeat(100)];
for (let level = 0; level < 45; level++) value = [value, value, { value }];
export default value;
