// attack: get out of the program's function, and into what is around it
// expect: ok | error
// forbid: PWNED
const AsyncFunction = (async () => {}).constructor;
const found = [];
for (const name of ["host", "control", "calls", "run", "timers", "bridge", "liveHost", "begin", "finish", "encodeOutcome", "programNames", "std", "os"]) {
  for (const way of [(n) => (0, eval)(`typeof ${n}`), (n) => eval(`typeof ${n}`), (n) => new Function(`return typeof ${n}`)(), (n) => new AsyncFunction(`return typeof ${n}`)(), (n) => typeof globalThis[n]]) {
    try {
      if ((await way(name)) !== "undefined") found.push(name);
    } catch {}
  }
}
if (found.length) console.log("PW" + "NED:", found.join());
for (const text of ["}), globalThis.out = 1, (async () => {", "*/}\n})\n;globalThis.out = 1;(async () => {", "<!-- }) \n globalThis.out = 1", "\u2028})();globalThis.out = 1;(() => {"]) {
  for (const way of [(code) => new Function(code), (code) => new Function("a", `/*${code}*/`), (code) => new AsyncFunction(code), (code) => eval(code)]) {
    try {
      await way(text)?.();
    } catch {}
  }
}
writeFile("wrapped.js", "}), (globalThis.caller = new Error('x').stack), (function () {");
try {
  require("./wrapped.js");
} catch {}
if (/startCall|waitAny/.test(globalThis.caller ?? "")) console.log("PW" + "NED: inside of the host");
export default found.length;
