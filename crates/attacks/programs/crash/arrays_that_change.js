// attack: change an array while a builtin walks over it
// expect: ok | crash | limit:memory
// forbid: PWNED
// timeout_ms: 8000
const fresh = () => Array.from({ length: 200 }, (_, at) => ({ at }));
const callbacks = ["map", "filter", "forEach", "some", "every", "reduce", "reduceRight", "find", "findLast", "flatMap", "sort", "toSorted"];
for (const name of callbacks) {
  for (const change of [(a) => (a.length = 0), (a) => a.splice(0, 150), (a) => a.push(...fresh()), (a) => Object.defineProperty(a, 5, { get: () => (a.length = 1) }), (a) => Object.freeze(a), (a) => Object.setPrototypeOf(a, null), (a) => (a[1e6] = 1)]) {
    const array = fresh();
    let turns = 0;
    try {
      array[name](() => {
        if (turns++ === 3) change(array);
        return turns % 3 ? 1 : -1;
      });
    } catch {}
  }
}
const lying = { length: 50_000, 0: 1, [Symbol.isConcatSpreadable]: true };
for (const act of [() => [].concat(lying), () => Array.prototype.splice.call(lying, 0, 1), () => Array.prototype.unshift.call(lying, 1), () => Array.prototype.toSpliced.call(lying, 0, 0, 1), () => Array.prototype.lastIndexOf.call({ length: 5, get 4() { return 1; } }, 1), () => new Array(2 ** 32 - 1).fill.length, () => [].flat.call([[[[]]]], Infinity), () => Array.prototype.copyWithin.call({ length: 10, get 3() { delete this[4]; } }, 0, 3)]) {
  try {
    act();
  } catch {}
}
export default "survived";
