// attack: a comparison that never makes up its mind
// expect: limit:wall_time | limit:cpu_time
// forbid: PWNED
// timeout_ms: 1000
const end = Date.now() + 20_000;
const numbers = Array.from({ length: 100_000 }, (_, at) => at);
numbers.sort(() => {
  const until = Date.now() + 5;
  while (Date.now() < until);
  return Date.now() < end ? Math.random() - 0.5 : 0;
});
console.log("PW" + "NED: sorted");
