// attack: causes and parts of errors that lead back to themselves
// expect: error | limit:memory | limit:wall_time
// forbid: PWNED
// timeout_ms: 4000
const one = new Error("one");
const two = new AggregateError([one], "two", { cause: one });
one.cause = two;
two.errors = new Proxy([one], { get: (target, key) => (key === "length" ? 1e9 : (target[key] ?? two)) });
two.errors.every = () => true;
console.error(one);
throw two;
