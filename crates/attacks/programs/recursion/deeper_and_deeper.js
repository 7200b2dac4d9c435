// attack: catch the end of the stack, and go on from there
// expect: ok | error | limit:wall_time | limit:cpu_time | limit:memory | crash
// forbid: PWNED
// timeout_ms: 3000
let deepest = 0;
const again = (n) => {
  deepest = Math.max(deepest, n);
  try {
    again(n + 1);
  } catch {
    try {
      JSON.stringify([[[]]]);
      [3, 1, 2].sort(() => again(n + 1));
    } catch {}
  } finally {
    if (n > deepest - 12) again.call(null, n + 1);
  }
};
try {
  again(0);
} catch {}
export default deepest > 100;
