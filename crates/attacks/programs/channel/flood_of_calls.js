// attack: start calls without end, and wait for none
// expect: error | ok | limit:tool_calls | limit:wall_time | limit:cpu_time | limit:memory
// forbid: PWNED
// timeout_ms: 4000
for (let n = 0; n < 200_000; n++) callMCPTool("echo", { value: n }).catch(() => {});
export default "sent";
