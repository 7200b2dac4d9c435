// attack: write, rename and remove in the trees that are not the program's
// expect: ok
// forbid: PWNED
import fs from "node:fs";

const before = JSON.stringify(fs.readdirSync("/servers", { recursive: true }));
for (const tree of ["/servers", "/skills", "/results", "/", "/workspace/../servers"]) {
  const ways = [() => fs.writeFileSync(`${tree}/planted.ts`, "x"), () => fs.mkdirSync(`${tree}/planted`), () => fs.rmSync(tree, { recursive: true, force: true }), () => fs.renameSync(tree, "/workspace/taken"), () => fs.renameSync("/workspace", `${tree}/workspace`), () => fs.appendFileSync(`${tree}/test/echo.ts`, "x"), () => fs.truncateSync(`${tree}/test/echo.ts`, 0)];
  for (const way of ways) {
    try {
      way();
    } catch {}
  }
}
if (JSON.stringify(fs.readdirSync("/servers", { recursive: true })) !== before) console.log("PW" + "NED: the tree of servers changed");
for (const tree of ["/servers", "/skills"]) if (fs.existsSync(`${tree}/planted.ts`) || fs.existsSync(`${tree}/planted`)) console.log("PW" + "NED:", tree);
export default "tried";
