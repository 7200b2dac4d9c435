// attack: append to one file without end
// expect: error | limit:file_bytes | limit:workspace_bytes | limit:wall_time
// forbid: PWNED
// timeout_ms: 8000
import fs from "node:fs";

const block = new Uint8Array(1 << 20).fill(100);
for (let n = 0; n < 768; n++) fs.appendFileSync("endless.bin", block);
console.log("PW" + "NED: wrote 768 MiB");
