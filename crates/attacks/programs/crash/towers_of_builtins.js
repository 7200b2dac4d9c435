// attack: towers of bound functions, proxies, prototypes and errors, touched at the top
// expect: ok | error | crash | limit:memory
// forbid: PWNED
// timeout_ms: 8000
const deep = 12_000;
const tower = (bottom, floor) => {
  let top = bottom;
  for (let n = 0; n < deep; n++) top = floor(top);
  return top;
};
const towers = [
  [tower(() => 1, (f) => Object.defineProperty(f.bind(null, 1), "name", { value: "" })), (f) => f()],
  [tower({}, (p) => new Proxy(p, {})), (p) => p.x],
  [tower({}, (p) => new Proxy(p, {})), (p) => Object.isExtensible(p)],
  [tower([], (p) => new Proxy(p, {})), (p) => Array.isArray(p)],
  [tower({}, (p) => Object.create(p)), (p) => p.missing],
  [tower({}, (p) => ({ __proto__: p })), (p) => { for (const _ in p); }],
  [tower(new Error("x"), (cause) => new Error("y", { cause })), (e) => console.log(e)],
  [tower([], (a) => [a]), (a) => `${a}`],
  [tower([], (a) => [a]), (a) => a.flat(Infinity)],
  [tower({}, (o) => ({ o })), (o) => JSON.stringify(o)],
  [tower({}, (o) => ({ o })), (o) => structuredClone(o)],
  [tower({}, (o) => ({ o })), (o) => console.log(o)],
  [tower(Promise.resolve(1), (p) => p.then()), (p) => p],
  [tower(class {}, (C) => class extends C {}), (C) => new C()],
  [tower("", (s) => `${s}x`), (s) => s.length],
  [tower(() => 1, (f) => () => f()), (f) => f()],
];
for (const [top, touch] of towers) {
  try {
    await touch(top);
  } catch {}
}
export default "survived";
