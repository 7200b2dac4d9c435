// attack: one call after another without end, whatever they say
// expect: limit:tool_calls | limit:wall_time | limit:cpu_time | error
// forbid: PWNED
// timeout_ms: 4000
const end = Date.now() + 20_000;
let good = 0;
while (Date.now() < end) {
  try {
    await callMCPTool("echo", { value: 1 });
    good++;
  } catch {}
}
console.log("PW" + "NED: called for 20 seconds,", good);
