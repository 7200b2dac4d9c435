// attack: read the gateway's environment
// expect: ok
// forbid: SECRET-91bc
// forbid: PWNED
const name = "@@SECRET_ENV@@";
const seen = [process.env[name], process.env[name.toLowerCase()], { ...process.env }[name], Reflect.get(process.env, name), Object.fromEntries(Object.entries(process.env))[name], globalThis[name], globalThis.process?.parent?.env, import.meta.env, import.meta.url];
console.log(JSON.stringify(process.env), JSON.stringify(seen), process.argv, process.execPath, process.title);
for (const way of [() => require("node:os").userInfo(), () => Deno.env.get(name), () => Bun.env[name], () => require("dotenv").config(), () => require("process").env[name] || null.x, () => require("fs").readFileSync("/proc/self/environ", "utf8")]) {
  try {
    console.log(JSON.stringify(way()));
  } catch (error) {
    console.log(error.name);
  }
}
export default Object.keys(process.env);
