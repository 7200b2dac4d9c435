// attack: import code from an address, or out of one
// expect: ok
// forbid: PWNED
const code = "globalThis.ran = true; export default 1";
for (const spec of ["http://127.0.0.1:@@PORT@@/x.js", "https://127.0.0.1:@@PORT@@/x.js", "//127.0.0.1:@@PORT@@/x.js", "ftp://127.0.0.1:@@PORT@@/x", "npm:left-pad", "jsr:@std/fs", "bun:ffi", "deno:x", `data:text/javascript,${encodeURIComponent(code)}`, `data:text/javascript;base64,${btoa(code)}`, "blob:null/1", "file://@@CANARY@@", "std", "bjson", "qjs:std", "qjs:os", "gristmill:prelude", "program.ts", "@@CANARY@@", "./@@CANARY@@"]) {
  for (const load of [(s) => import(s), (s) => require(s), (s) => import(s, { with: { type: "json" } })]) {
    try {
      const found = await load(spec);
      console.log("PW" + "NED:", spec, Object.keys(found).slice(0, 5).join());
    } catch (error) {
      console.log(spec.slice(0, 12), error.name);
    }
  }
}
if (globalThis.ran) console.log("PW" + "NED: it ran");
export default "tried";
