// attack: names that could reach another tool, server or file
// expect: ok
// forbid: PWNED
// forbid: CANARY-7f3a
const names = ["", ".", "..", "test.", ".echo", "test..echo", "test/../echo", "../test/echo", "echo\n", "echo\0", "shop.echo", "@@CANARY@@", "execute_code", "gristmill.execute_code", "__proto__", "constructor", "test.__proto__", "test.constructor", "hasOwnProperty", "*", "%s", 'echo","x":"', "e".repeat(1_000_000)];
for (const name of names) {
  for (const way of [() => callMCPTool(name, { value: "x", code: "1" }), () => tools[name].echo({ value: 1 }), () => tools.test[name]({ value: 1 }), () => import(`./servers/${name}`), () => describeTool(name)]) {
    try {
      const answer = JSON.stringify(await way()) ?? "";
      if (name.includes("execute_code")) console.log("PW" + "NED: the gateway called itself");
      console.log(JSON.stringify(name).slice(0, 30), answer.slice(0, 60));
    } catch (error) {
      console.log(JSON.stringify(name).slice(0, 30), error.name);
    }
  }
}
export default "tried";
