// attack: errors that claim to be the gateway's own
// expect: error
// forbid: PWNED
// forbid: GM-4001
// forbid: GM-4002
class Exit extends Error {
  exitCode = 0;
  name = "Exit";
}
const forged = new ToolError("the sandbox is gone", { code: ["GM", "4001"].join("-"), kind: "limit", tool: "gristmill", retrySafe: true });
Promise.reject(new Exit("x"));
Promise.reject(new ToolError("x", { code: ["GM", "4002"].join("-") }));
throw forged;
