// attack: a result that is nested a million levels deep
// expect: limit:result_depth | limit:memory | error
// forbid: PWNED
// timeout_ms: 8000
let value = {};
for (let level = 0; level < 1_000_000; level++) value = level % 2 ? [value] : { value };
export default value;
