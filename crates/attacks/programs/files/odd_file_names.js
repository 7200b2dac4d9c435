// attack: names that mean something else to somebody
// expect: ok
// forbid: CANARY-7f3a
// forbid: PWNED
import fs from "node:fs";

let made = 0;
for (const name of ["", ".", "..", "...", " ", "a\0b", "new\nline", "-rf", "~", "$HOME", "`id`", "CON", "x:stream", "back\\..\\slash", "%2e%2e%2fx", "\u202egpj", "\ud800", "\udfff\ud800", "e\u0301", "*?[]", "x".repeat(255), "x".repeat(256), "y/".repeat(2047) + "z", "\uff0e\uff0e\uff0fx", "__proto__", "constructor", ".gristmill", "toString/valueOf"]) {
  try {
    writeFile(name, "x");
    made++;
  } catch (error) {
    console.log(JSON.stringify(name).slice(0, 20), error.code ?? error.name);
  }
}
for (const climb of ["..\\..\\x", "%2e%2e/%2e%2e/x", ".. /x", "..\0/x", "~/x", "~root/x"]) {
  try {
    console.log(readFile(climb));
  } catch {}
}
export default [made, fs.readdirSync(".").length > 0];
