// attack: a result that is a promise of a promise of a promise, and never comes
// expect: ok | error | limit:wall_time | limit:cpu_time
// forbid: PWNED
// timeout_ms: 1500
let turns = 0;
const endless = { then: (done) => done(++turns < 100_000_000 ? endless : 1) };
export default (async () => endless)();
