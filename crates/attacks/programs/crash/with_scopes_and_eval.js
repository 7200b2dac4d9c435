// attack: scopes that change while names are looked up in them
// expect: ok | error | crash
// forbid: PWNED
const sloppy = (text) => (0, eval)(text);
for (const code of [
  "with (new Proxy({}, { has: () => true, get: (t, k) => (k === Symbol.unscopables ? undefined : globalThis[k]) })) { eval('var x = 1; delete x; x') }",
  "(function f(a, b = eval('var a = 5; a'), c = () => a) { arguments[0] = 9; delete arguments[0]; arguments.length = 1e9; return [...arguments].length })(1)",
  "(function () { eval('function g() {} var g; let h'); with ({ get g() { delete this.g; return 1 } }) g = g })()",
  "try { throw [1] } catch ([e]) { var e = 2; eval('var e = 3') }", "{ function q() {} q = 1; function q() {} } q",
  "(function () { 'use strict'; eval('var inner = 1'); return typeof inner })()", "var undefined; NaN = 1; delete globalThis.NaN", "(function f() { f = 1; return f })()",
  "label: { with ({ label: 1 }) { break label } }", "switch (1) { case eval('let z = 1; 1'): let z }", "for (let i = 0, f = () => i; i < 3; i++) { eval('var i2 = i') }",
]) {
  try {
    sloppy(code);
  } catch (error) {
    console.log(error.name);
  }
}
export default "survived";
