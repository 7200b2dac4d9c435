// attack: throw what is no error, and errors that fail when they are looked at
// expect: error
// forbid: PWNED
const odd = new Proxy(new Error("x"), {
  get(target, key) {
    if (key === "message") return { toString() { throw new Error("no"); } };
    if (key === "name") return Symbol("name");
    if (key === "stack") throw null;
    return Reflect.get(target, key);
  },
  getPrototypeOf() {
    throw odd;
  },
});
setTimeout(() => { throw undefined; }, 0);
queueMicrotask(() => { throw null; });
Promise.reject(Symbol("x"));
Promise.reject(odd);
throw odd;
