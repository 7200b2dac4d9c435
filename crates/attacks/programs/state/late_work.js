// attack: leave timers, intervals and promises behind that go on after the end
// expect: ok | error
// forbid: PWNED
// twice: yes
if (globalThis.begun !== undefined) console.log("PW" + "NED: work of the last program is here:", globalThis.ticks);
globalThis.begun = true;
globalThis.ticks = 0;
setInterval(() => globalThis.ticks++, 1);
const again = () => Promise.resolve().then(() => (globalThis.ticks++ < 1000 ? again() : undefined));
again();
new FinalizationRegistry(() => globalThis.ticks++).register({}, 0);
callMCPTool("echo", { value: "late" }).then(() => globalThis.ticks++);
export default "left";
