// attack: catch what the runtime itself looks up, through accessors on what it inherits from
// expect: ok | error
// forbid: PWNED
const caught = [];
const names = ["startCall", "waitAny", "write", "evaluate", "list", "stat", "readText", "get", "set", "value", "then", "line", "kind", "ok", "error", "result", "filename", "limits", "settle", "handle", "encoding", "flag", "signal", "toJSON"];
for (const name of names) {
  try {
    Object.defineProperty(Object.prototype, name, {
      configurable: true,
      get() {
        if (this !== null && typeof this === "object") caught[caught.length] = this;
        return undefined;
      },
      set(value) {
        caught[caught.length] = value;
      },
    });
  } catch {}
}
for (const act of [() => readFile("/nowhere"), () => callMCPTool("echo", { value: 1 }), () => console.log({ a: [1] }), () => state.x, () => setTimeout(() => {}, 1), () => require("fs").statSync("."), () => new URL("http://a/b?c"), () => structuredClone({ a: 1 })]) {
  try {
    await act();
  } catch {}
}
for (const name of names) delete Object.prototype[name];
for (const thing of caught) {
  if (thing !== null && typeof thing === "object" && typeof thing.startCall === "function") console.log("PW" + "NED: the host is in reach");
}
export default "caught";
