// attack: replace what imports go through, for this program and the next
// expect: ok | error
// forbid: PWNED
// twice: yes
if (__gristmill.module.planted || __gristmill.planted || globalThis.__gristmill?.meta?.planted) console.log("PW" + "NED: imports go through the last program");
for (const act of [() => (__gristmill.module = Object.assign(() => ({ echo: () => "forged" }), { planted: true })), () => (__gristmill.planted = true), () => (globalThis.__gristmill = { module: null }), () => delete globalThis.__gristmill, () => Object.defineProperty(globalThis, "__gristmill", { value: null }), () => (__gristmill.meta.planted = true), () => Object.setPrototypeOf(__gristmill, { last: "forged" })]) {
  try {
    act();
  } catch (error) {
    console.log(error.name);
  }
}
export default "tried";
