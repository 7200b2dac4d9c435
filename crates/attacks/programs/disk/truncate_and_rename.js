// attack: get around the quota by truncating, renaming, copying and removing
// expect: error | ok | limit:file_bytes | limit:workspace_bytes | limit:wall_time | limit:memory
// forbid: PWNED
// timeout_ms: 8000
import fs from "node:fs";

const block = new Uint8Array(8 << 20).fill(1);
fs.writeFileSync("a", block);
let written = 0;
try {
  for (let n = 0; n < 100; n++) {
    fs.copyFileSync("a", `b${n}`);
    fs.renameSync(`b${n}`, `c${n}`);
    fs.truncateSync(`c${n}`, 1);
    fs.truncateSync(`c${n}`, 16 << 20);
    fs.cpSync(".", "/tmp/copy", { recursive: true });
    fs.rmSync("a", { force: true });
    fs.writeFileSync("a", block);
  }
} catch (error) {
  console.log(error.code ?? error.name);
}
for (const folder of ["/workspace", "/tmp"]) for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) if (entry.isFile()) written += fs.statSync(`${entry.parentPath}/${entry.name}`).size;
if (written > 400 << 20) console.log("PW" + "NED: the folders hold", written);
export default written > 0;
