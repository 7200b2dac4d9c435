// attack: make, append and rename files where the host would see them
// expect: ok
// forbid: PWNED
import fs from "node:fs";

fs.writeFileSync("mine.txt", "x");
const folder = "@@CANARY@@".replace(/\/[^/]*$/, "");
for (const target of [`${folder}/guest-@@NONCE@@`, `${folder}/planted-@@NONCE@@`, "/planted-@@NONCE@@", "/tmp/planted-@@NONCE@@", "../planted-@@NONCE@@", "/tmp/../planted-@@NONCE@@", "@@OTHER_WORKSPACE@@/planted-@@NONCE@@"]) {
  for (const way of [() => writeFile(target, "x"), () => fs.appendFileSync(target, "x"), () => fs.mkdirSync(target, { recursive: true }), () => fs.renameSync("mine.txt", target), () => fs.copyFileSync("mine.txt", target)]) {
    try {
      way();
    } catch {}
  }
}
// Its own /tmp is another folder than the host's: what counts is what the host sees.
export default "written";
