// attack: modules that need each other without end, and modules of megabytes
// expect: ok | error | limit:memory | limit:wall_time
// forbid: PWNED
// timeout_ms: 8000
writeFile("one.js", "exports.two = require('./two.js')");
writeFile("two.js", "exports.one = require('./one.js')");
writeFile("large.json", `[${"1,".repeat(3_000_000)}1]`);
writeFile("deep.json", "[".repeat(500_000) + "]".repeat(500_000));
writeFile("lying.json", '{"__proto__": {"polluted": 1}}');
for (const spec of ["./one.js", "./large.json", "./deep.json", "./lying.json", "./", ".", "..", "/", "./one.js/../two.js", `./${"x/".repeat(2000)}`]) {
  try {
    console.log(spec.slice(0, 20), typeof require(spec));
  } catch (error) {
    console.log(spec.slice(0, 20), error.name);
  }
}
if ({}.polluted) console.log("PW" + "NED: a file polluted every object");
export default "tried";
