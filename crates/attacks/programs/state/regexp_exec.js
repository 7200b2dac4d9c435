// attack: replace what every regular expression does
// expect: ok | error
// forbid: PWNED
// twice: yes
const own = RegExp.prototype.exec;
if (own.planted) console.log("PW" + "NED: regular expressions ask the last program");
RegExp.prototype.exec = function exec(text) {
  return own.call(this, text);
};
RegExp.prototype.exec.planted = true;
RegExp.prototype[Symbol.replace] = () => "forged";
export default /a/.test("a");
