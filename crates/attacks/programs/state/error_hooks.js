// attack: be called for every stack trace of the next program
// expect: ok | error
// forbid: PWNED
// twice: yes
if (Error.prepareStackTrace?.planted || Error.prototype.planted) console.log("PW" + "NED: errors tell the last program");
Error.prepareStackTrace = (error) => `${error.name} at forged:1`;
Error.prepareStackTrace.planted = true;
Error.prototype.planted = true;
Error.stackTraceLimit = 0;
export default new Error("x").stack;
