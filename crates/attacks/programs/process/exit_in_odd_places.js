// attack: end the program from where nobody expects it, again and again
// expect: ok | error
// forbid: PWNED
// timeout_ms: 3000
const leave = () => process.exit(0);
process.on("exit", () => console.log("PW" + "NED: ran after the end"));
setTimeout(leave, 1);
queueMicrotask(() => {
  try {
    leave();
  } catch {}
});
for (const code of [0, 1, -1, 1e9, NaN, "x", null, {}, Symbol.iterator]) {
  try {
    process.exit(code);
  } catch (error) {
    console.log(typeof code, error?.name);
  }
}
try {
  leave();
} finally {
  for (let n = 0; n < 1000; n++) Promise.resolve().then(leave, leave);
}
