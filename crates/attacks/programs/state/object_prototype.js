// attack: pollute what every object inherits, for the next program
// expect: ok
// forbid: PWNED
// twice: yes
if ({}.planted || [].planted || (() => {}).planted) console.log("PW" + "NED: inherited from the last program");
Object.prototype.planted = true;
Object.defineProperty(Object.prototype, "status", { value: "admin", writable: true, configurable: true, enumerable: false });
const merge = (into, from) => {
  for (const key of Object.keys(from)) {
    if (from[key] !== null && typeof from[key] === "object") merge((into[key] ??= {}), from[key]);
    else into[key] = from[key];
  }
};
merge({}, JSON.parse('{"__proto__": {"merged": 1}, "constructor": {"prototype": {"built": 2}}}'));
export default "polluted";
