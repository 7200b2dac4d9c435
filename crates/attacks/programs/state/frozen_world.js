// attack: freeze everything, so that the next program can change nothing
// expect: ok | error | limit:memory
// forbid: PWNED
// twice: yes
if (Object.isFrozen(Array.prototype) || Object.isFrozen(Object.prototype)) console.log("PW" + "NED: the world is frozen");
for (const name of ["Object", "Array", "Map", "Set", "Promise", "String", "Error", "Function"]) {
  Object.freeze(globalThis[name]);
  Object.freeze(globalThis[name].prototype);
}
Object.freeze(console);
export default "frozen";
