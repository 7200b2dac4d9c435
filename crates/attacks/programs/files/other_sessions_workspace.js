// attack: read, list and write the workspace of another session
// expect: ok
// forbid: OTHER-55d1
// forbid: PWNED
import fs from "node:fs";

const other = "@@OTHER_WORKSPACE@@";
const name = other.split("/").at(-1);
for (const folder of [other, `../${name}`, `/workspace/../${name}`, `/${name}`, `../../${name}`, `/tmp/../${name}`]) {
  const ways = [() => readFile(`${folder}/other.txt`), () => fs.readdirSync(folder), () => fs.writeFileSync(`${folder}/planted-@@NONCE@@`, "x"), () => fs.renameSync(`${folder}/other.txt`, "mine.txt"), () => fs.rmSync(folder, { recursive: true })];
  for (const way of ways) {
    try {
      console.log("PW" + "NED:", folder, `${way()}`);
    } catch (error) {
      console.log(error.code);
    }
  }
}
export default "tried";
