//# short and long objects
console.log({ a: 1, b: "two", c: [1, 2, 3], d: { e: { f: { g: 1 } } } });
console.log({ name: "a".repeat(30), other: "b".repeat(30), third: 1 }, { x: 1 });
console.log([{ id: 1, name: "one", tags: ["a", "b"] }, { id: 2, name: "two", tags: [] }]);
//# long arrays
console.log(Array.from({ length: 20 }, (_, i) => i), Array.from({ length: 120 }, (_, i) => i));
console.log(Array.from({ length: 10 }, (_, i) => "item " + i), Array.from({ length: 30 }, (_, i) => "x".repeat(i % 7)));
console.log(Array.from({ length: 8 }, (_, i) => ({ id: i })), [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10], [11, 12], [13, 14]]);
console.log([1.5, 22.25, 333.125, 4, 5, 6, 7, 8, -9], [true, false, null, undefined, "s", 1n, Symbol("q")]);
//# strings inside and outside
console.log("plain", ["it's", 'say "hi"', "both ' and \"", "new\nline", "tab\t", "\u0001", "emoji 🎉", "back\\slash"]);
console.log("%s is %d years and %i, %f %j %o %O %%", "Bob", 42.5, 42.9, "1.5", { a: 1 }, [1], { b: { c: {} } }, "extra", { d: 1 });
console.log("%c styled", "color: red", 100, "%d");
//# circular things
const loop = { name: "loop", list: [] }; loop.self = loop; loop.list.push(loop, { back: loop }); console.log(loop);
//# null prototypes, tags, boxed
const bare = Object.create(null); bare.x = 1; console.log(bare, Object.create({ inherited: 1 }), new Number(3), new String("abc"), new Boolean(false), Object(1n), Object(Symbol("b")));
class Tagged { get [Symbol.toStringTag]() { return "Tag"; } } console.log(new Tagged(), new (class {})(), new (class extends Map {})(), new (class Foo extends Array {})(3));
//# functions and classes
function named() {} const anonymous = (() => () => {})(); named.extra = 1;
console.log(named, anonymous, class {}, class A extends Map {}, Math.max, async function go() {}, function* gen() {}, [named, class B {}], { named });
//# custom inspect
const util = require("util");
class Money { constructor(n) { this.n = n; } [util.inspect.custom](depth, options, inspect) { return `Money<${inspect(this.n, options)}>`; } }
console.log(new Money(5), [new Money(6)], { price: new Money(7) }, util.inspect({ a: { b: { c: { d: 1 } } } }, { depth: 0 }), util.inspect("str"), util.inspect({ a: 1n, b: -0 }));
console.log(util.inspect({ a: { b: { c: { d: 1 } } } }, false, null), util.inspect([3, 1, 2], { compact: false }), util.inspect({ b: 1, a: 2 }, { sorted: true }), util.format("%s-%s", 1, "x", 2));
//# nested depth and mixed containers
console.log({ l1: { l2: { l3: { l4: 1 } }, a: [[[[1]]]] }, m: new Map([["k", new Map([["k2", { deep: { er: 1 } }]])]]), s: new Set([[1, [2, [3]]]]) });
//# tables
console.table([{ a: 1, b: "x" }, { a: 2, c: true }]); console.table([[1, 2], [3, 4]]); console.table({ r1: { v: 1 }, r2: { v: 2 } }); console.table([{ a: 1, b: 2 }], ["b"]); console.table(5); console.table(["p", "q"]);
//# groups, counts, dir, assert
console.group("outer"); console.log("in\nside"); console.group(); console.info({ a: 1 }); console.groupEnd(); console.groupEnd(); console.log("out");
console.count(); console.count("x"); console.count(); console.countReset(); console.count(); console.dir({ a: { b: { c: { d: 1 } } } }, { depth: 0 }); console.log(); console.debug("debug", -0, [-0]);
//# multi-line strings in objects
console.log({ text: "line one\nline two\nline three which is long enough to need more than eighty characters in all" }, ["a\nb"]);
//# typed arrays and buffers
console.log(Buffer.from("héllo"), Buffer.alloc(3), [Buffer.from("x")], new Uint8Array(0), Buffer.from([]), { b: Buffer.from("ab") });
//# sparse arrays and extra keys
const sparse = [1, , , 4]; sparse.extra = "e"; console.log(sparse, [, 1], Object.assign([1, 2], { k: 1 }), [undefined, , null], new Array(5));
//# getters, symbols and quoted keys
console.log({ get a() { return 1; }, set b(v) {}, get c() { return 1; }, set c(v) {}, "key with space": 1, "1a": 2, valid_key: 3, $d: 4, "": 5, [Symbol.iterator]: 6 });
//# dates, regexes, errors in lists
console.log([new Date(0), /x/gi, null, undefined], { d: new Date(1e12), r: /a\/b/, i: new Date(NaN) });
//# iterators and generators
console.log([1].values(), new Map([[1, 2]]).entries().toString(), (function* () {})(), [1, 2][Symbol.iterator]().toString());
//# long nested rows
const rows = Array.from({ length: 3 }, (_, i) => ({ id: i, customer: { name: "Customer " + i, email: "c" + i + "@example.com" }, items: [{ sku: "A" + i, price: 9.99 }, { sku: "B" + i, price: 19.5 }] }));
console.log(rows); console.log(JSON.stringify(rows[0])); console.log(rows.map((row) => row.customer));
