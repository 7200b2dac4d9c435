// attack: give the file functions paths that change between the check and the use
// expect: ok
// forbid: CANARY-7f3a
// forbid: OTHER-55d1
// forbid: PWNED
import fs from "node:fs";

writeFile("notes.txt", "mine");
let turns = 0;
const shifting = { toString: () => (turns++ % 2 ? "@@CANARY@@" : "notes.txt"), valueOf: () => "@@CANARY@@", [Symbol.toPrimitive]: () => (turns++ % 2 ? "@@CANARY@@" : "notes.txt") };
class Lying extends URL {
  get pathname() {
    return turns++ % 2 ? "@@CANARY@@" : "/workspace/notes.txt";
  }
}
const bytes = new Uint8Array(9);
const shared = new Proxy(new Uint8Array(8), {});
const paths = [shifting, new Lying("file:///workspace/notes.txt"), new String("@@CANARY@@"), ["@@CANARY@@"], bytes, shared, new Proxy({}, { get: () => () => "@@CANARY@@" }), 0, 1, 3, -1, null, undefined, Symbol("x"), "notes.txt\0@@CANARY@@", "/workspace@@CANARY@@", "file://@@CANARY@@", "\uff0e\uff0e/x", "..%2f..%2f", "x".repeat(100_000), "a/".repeat(3000)];
const own = String.prototype.startsWith;
String.prototype.startsWith = () => true;
String.prototype.includes = () => false;
for (const path of paths) {
  for (const way of [readFile, listDirectory, fs.readFileSync, fs.statSync, fs.readdirSync, (p) => fs.copyFileSync(p, "copy"), require]) {
    try {
      console.log(typeof path, JSON.stringify(way(path) ?? null).slice(0, 100));
    } catch (error) {
      console.log(typeof path, error?.name);
    }
  }
}
String.prototype.startsWith = own;
export default "tried";
