// attack: call tools with arguments that change while they are read
// expect: ok | error
// forbid: PWNED
// timeout_ms: 8000
const circle = { a: [] };
circle.a.push(circle);
let turns = 0;
const lies = [
  circle, { toJSON: () => circle }, { toJSON() { return { toJSON: this.toJSON }; } }, { get value() { return turns++ ? 1n : "x"; } },
  new Proxy({}, { ownKeys: () => ["value", "a"], getOwnPropertyDescriptor: () => ({ value: turns++, enumerable: true, configurable: true }) }),
  new Proxy([], { get: (target, key) => (key === "length" ? 100_000 : target[key]) }), new Map([[{}, 1]]), new Set([circle]), 10n ** 400n, Symbol("x"), () => 1, NaN, new Date(NaN), Promise.resolve(1), new Uint8Array(8), "\ud800", { "\ud800": "\udfff" }, new (class { #secret = 1; get value() { throw new Error("no"); } })(), Object.create(null), Array.from({ length: 300 }).reduce((inner) => [inner], 1),
];
for (const value of lies) {
  try {
    const answer = await callMCPTool("echo", { value });
    console.log(typeof value, JSON.stringify(answer).slice(0, 60));
  } catch (error) {
    console.log(typeof value, error?.name);
  }
}
for (const args of [[], "x", 5, null, new Proxy({}, { ownKeys() { throw new Error("x"); } })]) {
  try {
    await callMCPTool("echo", args);
  } catch (error) {
    console.log(error?.name);
  }
}
export default "tried";
