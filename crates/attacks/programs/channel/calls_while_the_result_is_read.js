// attack: call tools, set timers and wait while the result is being read
// expect: ok | error | limit:tool_calls
// forbid: PWNED
// timeout_ms: 4000
const late = () => {
  for (let n = 0; n < 50; n++) callMCPTool("sleep", { ms: 20_000 });
  setInterval(late, 0);
  queueMicrotask(late);
  state.x = 1;
  return "read";
};
export default { toJSON: late, also: { get member() { return late(); } } };
