// attack: keep what the next program puts into maps and sets
// expect: ok | error
// forbid: PWNED
// twice: yes
const own = Map.prototype.set;
if (own.planted) console.log("PW" + "NED: maps are the last program's, with", globalThis.kept?.length);
globalThis.kept = [];
Map.prototype.set = function set(key, value) {
  globalThis.kept[globalThis.kept.length] = [key, value];
  return own.call(this, key, value);
};
Map.prototype.set.planted = true;
export default new Map([[1, 2]]).size;
