// attack: listen in on every promise of the next program
// expect: ok | error
// forbid: PWNED
// twice: yes
const own = Promise.prototype.then;
if (own.planted) console.log("PW" + "NED: promises go through the last program");
Promise.prototype.then = function then(...listeners) {
  return own.apply(this, listeners);
};
Promise.prototype.then.planted = true;
await null;
export default "listening";
