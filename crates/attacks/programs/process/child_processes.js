// attack: start another program
// expect: ok
// forbid: PWNED
for (const name of ["child_process", "node:child_process", "cluster", "execa", "shelljs", "cross-spawn", "node-pty", "ffi-napi"]) {
  try {
    const found = require(name);
    found.execSync?.("sleep 20 &");
    found.spawn?.("sleep", ["20"]);
    found.fork?.("x.js");
    console.log("PW" + "NED:", name);
  } catch (error) {
    console.log(name, error.name);
  }
}
for (const name of ["binding", "_linkedBinding", "dlopen", "kill", "abort", "reallyExit", "_kill", "setuid", "chroot", "getActiveResourcesInfo"]) {
  try {
    process[name]("spawn_sync", 0);
    console.log("PW" + "NED:", name);
  } catch (error) {
    console.log(name, error.name);
  }
}
for (const name of ["Deno", "Bun", "std", "os", "Worker", "SharedWorker", "ServiceWorker"]) {
  try {
    const found = globalThis[name];
    found?.exec?.(["sleep", "20"]);
    found?.spawn?.(["sleep", "20"]);
    if (found !== undefined) new found("x.js");
  } catch (error) {
    console.log(name, error.name);
  }
}
export default "tried";
