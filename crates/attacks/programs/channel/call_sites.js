// attack: get at the functions below the program through stack traces
// expect: ok | error
// forbid: PWNED
const seen = new Set();
Error.stackTraceLimit = 200;
Error.prepareStackTrace = (_error, sites) => {
  for (const site of sites) {
    for (const name of ["getFunction", "getThis", "getEvalOrigin", "getTypeName", "getScriptNameOrSourceURL"]) {
      try {
        seen.add(site[name]());
      } catch {}
    }
  }
  return "";
};
const provoke = [() => readFile("/nowhere"), () => callMCPTool(7), () => state.x, () => searchTools({ query: 7 }), () => require("nowhere"), () => new URL("::"), () => Buffer.from(7), () => structuredClone(() => {}), () => console.table({ get x() { throw new Error("x"); } })];
for (const act of provoke) {
  try {
    void act();
  } catch (error) {
    void error.stack;
  }
}
for (const found of seen) {
  if (found === null || (typeof found !== "object" && typeof found !== "function")) continue;
  for (const name of ["startCall", "waitAny", "proxyTarget"]) if (typeof found[name] === "function") console.log("PW" + "NED: the host's", name);
  if (/startCall|waitAny|cancelCall/.test(found.name ?? "")) console.log("PW" + "NED:", found.name);
}
Error.prepareStackTrace = undefined;
export default seen.size;
