// attack: double a text until nothing is left
// expect: limit:memory | error
// forbid: PWNED
// memory_mb: 128
// timeout_ms: 8000
let text = "x".repeat(1024);
const kept = [];
while (kept.length < 40) {
  text = `${text}${text}!`;
  kept.push(text.slice(1));
}
console.log("PW" + "NED:", text.length);
