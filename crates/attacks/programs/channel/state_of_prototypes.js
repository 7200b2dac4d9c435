// attack: keys of the session's state that mean something to objects
// expect: ok | error
// forbid: PWNED
// twice: yes
for (const key of ["__proto__", "constructor", "prototype", "then", "toJSON", "get", "hasOwnProperty", "", "\0", "\ud800", "a".repeat(100_000), "planted"]) {
  try {
    if (state[key] === "planted" || state.get(key) === "planted") console.log("PW" + "NED: state of another program under", key);
    state[key] = "planted";
    state.set(key, "planted");
  } catch (error) {
    console.log(JSON.stringify(key).slice(0, 20), error.name);
  }
}
if ({}.planted || {}.then) console.log("PW" + "NED: state polluted every object");
for (const value of [() => 1, 1n << 80n, { toJSON() { throw new Error("x"); } }, "v".repeat(20_000_000)]) {
  try {
    state.value = value;
  } catch (error) {
    console.log(error.name);
  }
}
export default "tried";
