// attack: groups, counters and timers of the console without end
// expect: ok | limit:output_bytes | limit:memory | limit:wall_time | limit:cpu_time
// forbid: PWNED
// timeout_ms: 4000
for (let n = 0; n < 50_000; n++) {
  console.group();
  console.count(`label ${n}`);
  console.time(`timer ${n}`);
  if (n % 1000 === 0) console.log("deep");
}
console.table(Array.from({ length: 2000 }, (_, n) => Object.fromEntries(Array.from({ length: 50 }, (_, m) => [`c${m}-${n}`, m]))));
export default "counted";
