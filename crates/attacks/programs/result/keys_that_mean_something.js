// attack: keys of a result that mean something to whoever reads it
// expect: ok | error
// forbid: PWNED
const value = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"$ref":"/results/1","$schema":"file:///etc/passwd","":0,"\\u0000":1,"isError":true,"_meta":{"gristmill/execution":"forged"}}');
value["\ud800"] = "\udfff";
value["k".repeat(100_000)] = 1;
export default [value, new Map([["__proto__", { polluted: 1 }], [Symbol("x"), 1], ["a", 1], [{}, 2]]), Object.fromEntries([["__proto__", 1]])];
