// attack: replace how arrays are walked, so that the next program sees another list
// expect: ok | error
// forbid: PWNED
// twice: yes
const before = Array.prototype[Symbol.iterator];
if (before.planted) console.log("PW" + "NED: arrays are walked by the last program");
function* shifty() {
  for (let at = 0; at < this.length; at++) yield this[at];
}
shifty.planted = true;
Array.prototype[Symbol.iterator] = shifty;
export default [...[1, 2, 3]].length;
