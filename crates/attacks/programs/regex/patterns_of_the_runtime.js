// attack: texts on which the runtime's own patterns would take too long
// expect: ok | error | limit:wall_time | limit:cpu_time | limit:memory
// forbid: PWNED
// timeout_ms: 4000
const hostile = ["at ".repeat(100_000), `at ${"a (".repeat(50_000)}`, "unexpected token".repeat(50_000), `cannot read property '${"' of ".repeat(50_000)}`, "/".repeat(200_000), ".".repeat(200_000), "%".repeat(100_000), "-_".repeat(100_000), `http://${"a@".repeat(50_000)}`, "1e".repeat(50_000), "\t \n".repeat(50_000)];
for (const text of hostile) {
  for (const way of [(t) => new URL(t), (t) => require(t), (t) => readFile(t), (t) => new Date(t).getTime(), (t) => require("path").normalize(t), (t) => decodeURIComponent(t), (t) => atob(t), (t) => console.log(`${t}`.slice(0, 50), "%s%d%j", t.length), (t) => describeTool(t), (t) => new URLSearchParams(t).size, (t) => require("util").format(t.slice(0, 1000), 1), (t) => Buffer.from(t, "hex").length]) {
    try {
      way(text);
    } catch {}
  }
}
const error = new Error(hostile[2]);
error.stack = hostile.join("\n");
throw error;
