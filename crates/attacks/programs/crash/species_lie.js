// attack: let builtins write into what a constructor of the program gave them
// expect: ok | crash
// forbid: PWNED
const short = new Uint8Array(1);
class Lying extends Uint8Array {
  static get [Symbol.species]() {
    return function () { return Lying.give(); };
  }
}
const gifts = [() => short, () => new Uint8Array(0), () => new Float64Array(4), () => new Uint8Array(new ArrayBuffer(4).transfer(1)), () => ({}), () => new Proxy(new Uint8Array(64), {}), () => { throw new Error("x"); }, () => new BigInt64Array(64)];
for (const give of gifts) {
  Lying.give = give;
  const array = new Lying(64).fill(9);
  for (const act of [() => array.slice(0, 60), () => array.map((n) => n), () => array.filter(() => true), () => array.subarray(1, 50)]) {
    try {
      act();
    } catch {}
  }
}
class Odd extends Array {
  static get [Symbol.species]() {
    return function (length) { return Object.freeze(new Array(length)); };
  }
}
for (const act of [() => new Odd(5).fill(1).map((n) => n), () => new Odd(5).concat([1]), () => new Odd(5).splice(0, 3), () => new Odd(1, [2]).flat()]) {
  try {
    act();
  } catch {}
}
for (const act of [() => Promise.resolve.call(function (executor) { executor(() => {}, () => {}); }, 1), () => Promise.all.call(function (executor) { executor(1, 2); }, []), () => new ArrayBuffer(8).slice.call(new (class extends ArrayBuffer { static get [Symbol.species]() { return function () { return new ArrayBuffer(0); }; } })(8), 0, 8), () => RegExp.prototype[Symbol.split].call({ constructor: { [Symbol.species]: function () { return { exec: () => [] }; } }, flags: "" }, "abc")]) {
  try {
    await act();
  } catch {}
}
export default short.length;
