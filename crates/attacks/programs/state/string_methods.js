// attack: leave text methods behind that lie about paths and names
// expect: ok | error
// forbid: PWNED
// twice: yes
const { startsWith, includes } = String.prototype;
if (startsWith.planted || includes.planted) console.log("PW" + "NED: text lies for the last program");
String.prototype.startsWith = function (...rest) {
  return startsWith.apply(this, rest);
};
String.prototype.includes = function (...rest) {
  return includes.apply(this, rest);
};
String.prototype.startsWith.planted = String.prototype.includes.planted = true;
export default "abc".startsWith("a");
