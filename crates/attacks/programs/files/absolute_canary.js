// attack: open a file of the host by its absolute path, in every way that there is
// expect: ok
// forbid: CANARY-7f3a
// forbid: PWNED
import fs from "node:fs";
import { readFile as later } from "node:fs/promises";

const path = "@@CANARY@@";
const ways = {
  helper: () => readFile(path),
  base64: () => readFile(path, "base64"),
  sync: () => fs.readFileSync(path, "utf8"),
  promise: () => later(path, "utf8"),
  url: () => fs.readFileSync(new URL(`file://${path}`), "utf8"),
  "url with a host": () => fs.readFileSync(new URL(`file://localhost${path}`), "utf8"),
  bytes: () => fs.readFileSync(Buffer.from(path), "utf8"),
  slashes: () => fs.readFileSync(path.replaceAll("/", "//./"), "utf8"),
  encoded: () => fs.readFileSync(new URL(`file:///workspace/${path.replaceAll("/", "%2f")}`), "utf8"),
  require: () => JSON.stringify(require(path)),
  import: () => import(path).then(JSON.stringify),
  result: () => readResult(`../..${path}`),
  skill: () => import(`skills/../../..${path}`).then(JSON.stringify),
  server: () => import(`./servers/../..${path}`).then(JSON.stringify),
  analysis: () => analyze({ file: path, steps: [] }).then(JSON.stringify),
  resource: () => readResource(`file://${path}`),
  list: () => listDirectory(path.replace(/\/[^/]*$/, "")).join(),
  callback: () => new Promise((done, fail) => fs.readFile(path, "utf8", (error, text) => (error ? fail(error) : done(text)))),
};
for (const [name, way] of Object.entries(ways)) {
  try {
    console.log("PW" + "NED:", name, await way());
  } catch (error) {
    console.log(name, error.name);
  }
}
export default "tried";
