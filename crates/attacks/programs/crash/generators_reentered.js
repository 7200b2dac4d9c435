// attack: call generators and async functions from inside of themselves
// expect: ok | error | crash
// forbid: PWNED
// timeout_ms: 8000
let budget = 2000;
const tricks = ["next", "return", "throw"];
for (const one of tricks) {
  for (const two of tricks) {
    const generator = (function* () {
      try {
        try {
          generator[two](1);
        } catch {}
        yield* { [Symbol.iterator]: () => ({ next: () => generator[one](), return: () => ({}), throw: () => generator[two]() }) };
      } finally {
        try {
          yield generator[one]();
        } catch {}
      }
    })();
    for (let n = 0; n < 5; n++) {
      try {
        generator[n % 2 ? one : two](n);
      } catch {}
    }
    const later = (async function* () {
      try {
        yield* { [Symbol.asyncIterator]: () => ({ next: () => ({ then: (done) => done({ get done() { if (budget-- > 0) later[two]().catch(() => {}); return budget < 0; }, value: later }) }), return: () => Promise.reject(1) }) };
      } finally {
        later[one]().catch(() => {});
        await null;
      }
    })();
    const asked = Array.from({ length: 20 }, (_, n) => later[n % 2 ? one : two](n));
    await Promise.race([Promise.allSettled(asked), new Promise((done) => setTimeout(done, 5))]);
  }
}
export default "survived";
