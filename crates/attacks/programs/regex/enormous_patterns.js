// attack: patterns that are too large to compile, or become so
// expect: ok | error | limit:memory | limit:wall_time | limit:cpu_time | crash
// forbid: PWNED
// timeout_ms: 4000
const patterns = [Array.from({ length: 100_000 }, (_, n) => `w${n}`).join("|"), "(".repeat(50_000) + ")".repeat(50_000), "(?:a{1000}){1000}", "a{1,2147483647}", `[${Array.from({ length: 60_000 }, (_, n) => String.fromCharCode(n * 2 + 1).replace(/[\]\\^-]/, "")).join("")}]`, "(?:(?:(?:(?:x{99}){99}){99}){99}){99}", "\\p{L}|".repeat(5000), "(?=".repeat(20_000) + ")".repeat(20_000), Array.from({ length: 300 }, (_, n) => `(?<n${n}>x)?`).join("")];
for (const pattern of patterns) {
  for (const flags of ["", "u", "iv"]) {
    try {
      new RegExp(pattern, flags).test("x".repeat(1000));
    } catch (error) {
      console.log(error.name);
    }
  }
}
export default "tried";
