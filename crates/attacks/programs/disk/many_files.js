// attack: make files and folders until the disk has no more names
// expect: error | limit:workspace_files | limit:wall_time
// forbid: PWNED
// timeout_ms: 20000
import fs from "node:fs";

for (let n = 0; n < 100_000; n++) {
  if (n % 2) fs.mkdirSync(`folder-${n}`);
  else fs.writeFileSync(`file-${n}`, "x");
}
console.log("PW" + "NED: made 100000");
