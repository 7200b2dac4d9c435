// attack: make links, or names that would become some, and go through them
// expect: ok
// forbid: CANARY-7f3a
// forbid: PWNED
import fs from "node:fs";

const made = [];
for (const name of ["symlinkSync", "linkSync", "symlink", "link", "readlinkSync", "mkfifoSync", "openSync", "createReadStream", "createWriteStream"]) {
  try {
    const done = fs[name]("@@CANARY@@", "link");
    if (done !== undefined || fs.existsSync("link")) made.push(name);
  } catch {}
}
for (const name of ["symlink", "link", "open"]) {
  try {
    await fs.promises[name]("@@CANARY@@", "link", () => {});
    made.push(name);
  } catch {}
}
if (made.length) console.log("PW" + "NED:", made.join());
try {
  console.log("PW" + "NED:", fs.readFileSync("link", "utf8"));
} catch (error) {
  console.log(error.code);
}
export default made.length;
