// attack: climb out of the workspace with .. by every function that takes a path
// expect: ok
// forbid: CANARY-7f3a
// forbid: PWNED
import fs from "node:fs";

const target = "@@CANARY@@".replace(/^\/+/, "");
fs.mkdirSync("a/b", { recursive: true });
for (let depth = 1; depth < 14; depth++) {
  for (const start of ["", "./", "a/b/../../", "/workspace/", "/workspace/a/../", "/tmp/", "/servers/", "servers/", "/results/", "a/b/"]) {
    const path = start + "../".repeat(depth) + target;
    for (const way of [readFile, fs.readFileSync, (p) => fs.readFileSync(p, "latin1"), fs.realpathSync, fs.statSync, (p) => fs.copyFileSync(p, "copy")]) {
      try {
        console.log("PW" + "NED:", path, `${way(path)}`);
      } catch {}
    }
  }
}
export default "climbed";
