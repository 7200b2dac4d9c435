// attack: leave names and accessors in the global object
// expect: ok
// forbid: PWNED
// twice: yes
if (globalThis.planted !== undefined || globalThis.watched === "seen") console.log("PW" + "NED: a global outlived its program");
globalThis.planted = { by: "the last program" };
Object.defineProperty(globalThis, "watched", { get: () => "seen", configurable: true });
(0, eval)("var sloppy = 1; function left() {}");
export default typeof sloppy;
