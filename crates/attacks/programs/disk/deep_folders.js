// attack: folders in folders until no path reaches them
// expect: ok | error | limit:workspace_files
// forbid: PWNED
// timeout_ms: 8000
import fs from "node:fs";

let depth = 0;
let path = "d";
try {
  for (; depth < 20_000; depth++) {
    fs.mkdirSync(path);
    process.chdir(path);
    path = "d";
  }
} catch (error) {
  console.log(depth, error.code);
}
process.chdir("/workspace");
try {
  fs.rmSync("d", { recursive: true });
} catch (error) {
  console.log(error.name);
}
try {
  fs.cpSync("/workspace", "/workspace/self", { recursive: true });
} catch (error) {
  console.log(error.name);
}
export default depth < 20_000;
