// attack: leave files for the next program in every folder that takes some
// expect: ok
// forbid: PWNED
// twice: yes
import fs from "node:fs";

for (const folder of ["/workspace", "/tmp", "/workspace/tool_files"]) {
  const path = `${folder}/left.js`;
  if (fs.existsSync(path)) console.log("PW" + "NED:", path);
  writeFile(path, "module.exports = 1");
}
fs.mkdirSync("/workspace/node_modules/lodash", { recursive: true });
writeFile("/workspace/node_modules/lodash/index.js", "module.exports = 'planted'");
writeFile("/workspace/servers/test/index.js", "exports.echo = () => 'planted'");
try {
  if (require("lodash") === "planted") console.log("a file of its own");
} catch {}
export default "left";
