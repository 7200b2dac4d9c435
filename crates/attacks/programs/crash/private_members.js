// attack: put private members on what is not of the class, twice and while it is made
// expect: ok | error | crash
// forbid: PWNED
class Giver {
  constructor(thing) {
    return thing;
  }
}
class Stamp extends Giver {
  #secret = Stamp.made();
  static made = () => 1;
  static has = (thing) => #secret in thing;
  static read = (thing) => thing.#secret;
  accessor() {
    return this.#secret;
  }
}
const things = [{}, [], () => 1, new Proxy({}, {}), globalThis, Object.freeze({}), __gristmill, console, state, tools, new Uint8Array(4), Promise.resolve(1), process.env];
for (const thing of things) {
  Stamp.made = () => {
    try {
      new Stamp(thing);
    } catch {}
    return 2;
  };
  for (let n = 0; n < 3; n++) {
    try {
      new Stamp(thing);
    } catch {}
    try {
      Stamp.read(thing);
      Stamp.has(thing);
    } catch {}
  }
}
class Late {
  static [(() => { try { new Late(); } catch { return "early"; } })()] = 1;
  static {
    this.prototype.constructor = null;
    Object.setPrototypeOf(this, null);
  }
}
try {
  new (class extends Late { constructor() { (() => super())(); super(); } })();
} catch {}
export default "survived";
