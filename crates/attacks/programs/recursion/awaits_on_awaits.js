// attack: a chain of async functions that is far too long, and one without end
// expect: ok | error | limit:memory | limit:wall_time | limit:cpu_time
// forbid: PWNED
// timeout_ms: 3000
const later = async (n) => (n === 0 ? 0 : (await null, 1 + (await later(n - 1))));
console.log(await later(20_000));
const at_once = async (n) => (n === 0 ? 0 : 1 + (await at_once(n - 1)));
try {
  console.log(await at_once(1_000_000));
} catch (error) {
  console.log(error.name);
}
const endless = async () => await endless();
await endless().catch(() => {});
export default "survived";
