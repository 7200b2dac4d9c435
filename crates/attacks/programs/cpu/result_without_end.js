// attack: a result whose members take for ever to be read
// expect: limit:wall_time | limit:cpu_time | ok | limit:result_bytes
// forbid: PWNED
// timeout_ms: 1500
const end = Date.now() + 20_000;
export default {
  *[Symbol.iterator]() {
    for (;;) yield 1;
  },
  next: () => 1,
  get slow() {
    while (Date.now() < end);
    return "PW" + "NED";
  },
};
