// attack: proxies that break their promises, and change while they are asked
// expect: ok | error | crash
// forbid: PWNED
// timeout_ms: 8000
const traps = Object.getOwnPropertyNames(Reflect).filter((name) => typeof Reflect[name] === "function");
const answers = [undefined, null, true, 0, "x", [], ["a", "a"], { value: 1, configurable: false }, Symbol.iterator, 100, () => 1];
for (const target of [{}, [], function () {}, class {}, new Map(), Object.freeze({ a: 1 }), new Date(), Promise.resolve(1)]) {
  for (const answer of answers) {
    const handler = {};
    for (const trap of traps) handler[trap] = () => answer;
    const proxy = new Proxy(target, handler);
    for (const act of [() => ({ ...proxy }), () => [...proxy], () => Object.keys(proxy), () => JSON.stringify(proxy), () => proxy.x, () => (proxy.x = 1), () => delete proxy.x, () => "x" in proxy, () => proxy(), () => new proxy(), () => proxy instanceof proxy, () => Object.freeze(proxy), () => Object.entries(proxy), () => structuredClone(proxy), () => console.log(proxy), () => `${proxy}`, () => Object.getOwnPropertyDescriptors(proxy), () => Array.from(proxy), () => require("util").inspect(proxy, { showProxy: true })]) {
      try {
        act();
      } catch {}
    }
  }
}
let { proxy, revoke } = Proxy.revocable([1, 2, 3], { get(target, key) { revoke(); return target[key]; } });
for (const act of [() => [].concat(proxy), () => Array.isArray(proxy), () => Object.prototype.toString.call(proxy), () => JSON.stringify({ proxy }), () => console.log(proxy)]) {
  try {
    act();
  } catch {}
}
export default proxy;
