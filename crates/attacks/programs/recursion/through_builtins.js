// attack: recursion through builtins, which look at the stack less often
// expect: ok | error | crash
// forbid: PWNED
// timeout_ms: 10000
const ways = [
  function sort() { [1, 2].sort(sort); }, function map() { [1].map(map); }, function replace() { return "a".replace(/a/, replace); }, function revive() { JSON.parse("[1]", revive); },
  function getter() { const o = { get x() { return getter(); } }; return o.x; }, function text() { return `${{ toString: text }}`; }, function json() { return JSON.stringify({ toJSON: json }); }, function apply() { return Reflect.apply(apply, null, []); },
  function construct() { return Reflect.construct(construct, []); }, function proxy() { return new Proxy({}, { get: proxy }).x; }, function iterate() { return [...{ [Symbol.iterator]: iterate }]; }, function compare() { return { valueOf: compare } < 1; },
  function evaluate() { globalThis.evaluate = evaluate; return (0, eval)("evaluate()"); }, function bound() { return bound.bind()(); }, function from() { return Array.from([1], from); }, function instance() { return {} instanceof { [Symbol.hasInstance]: instance }; },
  function inspect() { return require("util").inspect({ [Symbol.for("nodejs.util.inspect.custom")]: inspect }); }, function clone() { return structuredClone({ get x() { return clone(); } }); }, function equal() { require("assert").deepEqual({ get x() { return equal(); } }, { x: 1 }); }, function load() { globalThis.load = load; writeFile("load.js", "load()"); return require("./load.js"); },
  function call() { return callMCPTool("echo", { get value() { return call(); } }); }, function generator() { return [...(function* () { yield* generator(); })()]; }, function fill() { new Uint8Array(1).fill({ valueOf: fill }); }, function group() { Object.groupBy([1], group); },
];
for (const way of ways) {
  try {
    way();
  } catch (error) {
    if (!(error instanceof Error)) console.log(way.name, typeof error);
  }
}
export default "survived";
