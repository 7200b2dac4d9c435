// attack: change what functions are called with
// expect: ok | error
// forbid: PWNED
// twice: yes
const { apply, call, bind } = Function.prototype;
if (call.planted || bind.planted) console.log("PW" + "NED: calls go through the last program");
Function.prototype.bind = function (...rest) {
  return Reflect.apply(bind, this, rest);
};
Function.prototype.call = function (self, ...rest) {
  return Reflect.apply(this, self, rest);
};
Function.prototype.bind.planted = Function.prototype.call.planted = true;
export default typeof apply;
