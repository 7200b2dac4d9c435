//# url
const url = new URL("https://user:pa%20ss@example.com:8080/a/b/../c?q=1&q=2&x=%20y#frag");
console.log(url.href, url.origin, url.host, url.hostname, url.port, url.pathname, url.search, url.hash, url.username, url.password, url.protocol);
console.log(url.searchParams.getAll("q"), url.searchParams.get("x"), url.searchParams.get("none"), [...url.searchParams].length);
url.searchParams.append("n w", "a&b=c/d é"); url.searchParams.delete("q"); url.pathname = "/x y"; url.hash = ""; url.port = "443"; console.log(url.toString(), `${url}`, JSON.stringify({ url }));
//# relative urls
for (const [input, base] of [["../c", "http://h/a/b/d"], ["?q", "http://h/a?b"], ["#f", "http://h/a"], ["//other/x", "https://h/"], ["/abs", "http://h/a/b"], ["x", "http://h"], ["http://E.COM/%7Efoo/../bar", undefined], ["file:///a/./b", undefined], ["data:text/plain,hi", undefined], ["mailto:a@b.c", undefined], ["HTTPS://h:443/", undefined]]) console.log(new URL(input, base).href);
for (const bad of ["nope", "http://", "/rel", "http://a b/"]) { try { new URL(bad); console.log("ok"); } catch (error) { console.log(error.name, error.message, error.code); } }
console.log(URL.canParse("http://x"), URL.canParse("x"), new URL("http://h/?a=1") instanceof URL);
//# search params
const params = new URLSearchParams({ page: 2, q: "a b", sign: "+" }); params.set("page", "3"); params.append("tag", "x"); params.sort(); console.log(params.toString(), params.has("tag"), params.size, Object.fromEntries(params), new URLSearchParams("?a=1&b=%E2%82%AC&c"), new URLSearchParams([["k", "v"]]).get("k"), [...params.keys()]);
//# text encoder
const bytes = new TextEncoder().encode("héllo €𝄞"); console.log(bytes, new TextDecoder().decode(bytes), new TextDecoder("latin1").decode(Uint8Array.of(233, 65)), new TextDecoder().decode(Uint8Array.of(0xff, 65)), new TextDecoder("utf-16le").decode(Uint8Array.of(65, 0, 0xac, 0x20)));
try { new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.of(0xff)); } catch (error) { console.log(error.name); }
const stream = new TextDecoder(); console.log(stream.decode(bytes.slice(0, 8), { stream: true }) + stream.decode(bytes.slice(8)), btoa("hello"), atob("aGVsbG8="));
//# structured clone
const original = { d: new Date(0), m: new Map([["k", new Set([1])]]), a: [1, { b: 2 }], u: undefined, r: /x/g, n: null, t: new Uint8Array([1, 2]) }; original.self = original;
const copy = structuredClone(original); console.log(copy, copy !== original, copy.self === copy, copy.d instanceof Date); try { structuredClone({ f() {} }); } catch (error) { console.log(error.name); }
//# buffers
const buffer = Buffer.from("Hello, Wörld"); console.log(buffer.toString("base64"), buffer.toString("hex"), buffer.length, Buffer.byteLength("é"), Buffer.from("SGk=", "base64").toString(), Buffer.from("4869", "hex").toString("latin1"), Buffer.from("aGk_", "base64url"));
console.log(Buffer.concat([Buffer.from("a"), Buffer.from("b")]).toString(), buffer.slice(0, 5).toString(), buffer.indexOf("W"), buffer.includes("lo"), Buffer.isBuffer(buffer), buffer.equals(Buffer.from("Hello, Wörld")), Buffer.compare(Buffer.from("a"), Buffer.from("b")), buffer.subarray(7).toString());
const numbers = Buffer.alloc(12); numbers.writeUInt32BE(0xdeadbeef, 0); numbers.writeInt16LE(-2, 4); numbers.writeDoubleBE; numbers.writeFloatLE(1.5, 8); console.log(numbers, numbers.readUInt32BE(0), numbers.readInt16LE(4), numbers.readFloatLE(8), numbers.toJSON().data.length, JSON.stringify(Buffer.from("a")), Buffer.from("abc").fill("z").toString());
//# path
const path = require("node:path"); console.log(path.join("a", "..", "b", "./c.txt"), path.resolve("/a/b", "../c"), path.basename("/x/y.tar.gz", ".gz"), path.extname("f.test.js"), path.dirname("/a/b/c"), path.parse("/home/u/file.txt"), path.relative("/a/b/c", "/a/d"), path.normalize("/a//b/../c/"), path.isAbsolute("x"), path.sep, path.format({ dir: "/d", base: "f.x" }), path.extname(".env"), path.join(""), path.basename("/"));
//# assert
const assert = require("node:assert"); assert(true); assert.equal(1, "1"); assert.strictEqual(1, 1); assert.deepStrictEqual({ a: [1, new Map([[1, { b: 2 }]])] }, { a: [1, new Map([[1, { b: 2 }]])] }); assert.throws(() => { throw new TypeError("bad"); }, TypeError); assert.throws(() => { throw new Error("bad"); }, /bad/); await assert.rejects(Promise.reject(new Error("x")), { message: "x" });
for (const check of [() => assert.strictEqual(1, 2), () => assert.deepStrictEqual([1], ["1"]), () => assert.ok(0, "zero"), () => assert.notStrictEqual(1, 1), () => assert.match("a", /b/)]) { try { check(); console.log("passed"); } catch (error) { console.log(error.name, error.code, error.message === "zero"); } }
//# util
const util = require("node:util"); console.log(util.isDeepStrictEqual({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }), util.isDeepStrictEqual([1], ["1"]), util.types.isDate(new Date()), util.types.isPromise(Promise.resolve()), util.isDeepStrictEqual(new Set([1, { a: 1 }]), new Set([1, { a: 1 }])), util.format("%s %s", "a", { b: 1 }), util.inspect(new Map([[{ a: 1 }, "v"]])));
//# crypto
const crypto = require("node:crypto"); console.log(crypto.createHash("sha256").update("hello").digest("hex"), crypto.createHash("md5").update("hello").digest("hex"), crypto.createHash("sha1").update("a").update("b").digest("base64"), crypto.createHmac("sha256", "key").update("data").digest("hex"), crypto.createHash("sha256").update("é".repeat(100)).digest("hex").slice(0, 8));
console.log(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(globalThis.crypto.randomUUID()), globalThis.crypto.getRandomValues(new Uint8Array(4)).length, crypto.randomBytes(8).length, Buffer.from(await globalThis.crypto.subtle.digest("SHA-256", new TextEncoder().encode("x"))).toString("hex").slice(0, 8), crypto.randomInt(5) < 5);
//# numbers for people
console.log((1234567.891).toLocaleString(), (1234.5).toLocaleString("en-US", { style: "currency", currency: "USD" }), (0.256).toLocaleString("en-US", { style: "percent" }), (1e6).toLocaleString("en-US"), (1234.5).toLocaleString(undefined, { minimumFractionDigits: 2 }), (-5.678).toLocaleString("en-US", { maximumFractionDigits: 1 }), (12345678901234567890n).toLocaleString());
const money = new Intl.NumberFormat("en-US", { style: "currency", currency: "EUR" }); console.log(money.format(99.999), new Intl.NumberFormat().format(1e9), new Intl.NumberFormat("en-US", { notation: "compact" }).format(1234567), new Intl.NumberFormat("en-US", { notation: "compact" }).format(987), new Intl.NumberFormat("en-US", { minimumIntegerDigits: 2 }).format(5), (1e21).toLocaleString(), (NaN).toLocaleString(), (0.000001).toLocaleString(), (1.005).toLocaleString("en-US", { maximumFractionDigits: 2 }), new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3 }).format(123456), new Intl.NumberFormat("en-US", { style: "currency", currency: "JPY" }).format(-1234.5), (15.5).toLocaleString("en-US", { style: "percent", minimumFractionDigits: 1 }));
//# dates for people
const date = new Date(Date.UTC(2024, 2, 5, 14, 7, 9)); const utc = { timeZone: "UTC" };
console.log(date.toLocaleDateString("en-US", utc), date.toLocaleTimeString("en-US", utc), date.toLocaleString("en-US", utc), date.toLocaleDateString("en-US", { ...utc, weekday: "long", year: "numeric", month: "long", day: "numeric" }), date.toLocaleDateString("en-US", { ...utc, month: "short", day: "numeric" }), date.toLocaleDateString("en-US", { ...utc, year: "numeric", month: "2-digit", day: "2-digit" }), date.toLocaleTimeString("en-US", { ...utc, hour: "2-digit", minute: "2-digit" }), date.toLocaleTimeString("en-US", { ...utc, hour12: false }), date.toLocaleDateString("en-US", { ...utc, month: "long", year: "numeric" }), date.toLocaleDateString("en-US", { ...utc, weekday: "short" }));
console.log(new Intl.DateTimeFormat("en-US", utc).format(date), new Intl.DateTimeFormat("en-US", { ...utc, dateStyle: "medium", timeStyle: "short" }).format(date), new Intl.DateTimeFormat("en-US", { ...utc, dateStyle: "full" }).format(date), date.toLocaleString("en-US", { ...utc, month: "long" }), date.toLocaleString("en-US", { ...utc, hour: "numeric" }), date.toLocaleString("en-US", { ...utc, timeZoneName: "short" }), new Intl.PluralRules("en-US", { type: "ordinal" }).select(22), new Intl.ListFormat("en-US").format(["a", "b", "c"]), new Intl.RelativeTimeFormat("en-US", { numeric: "auto" }).format(-1, "day"));
//# sorting text as people do
console.log(["banana", "Apple", "cherry", "apple", "Äpfel", "Zebra", "zoo", "10", "9", "_x", "é", "e", "f"].sort((a, b) => a.localeCompare(b)), ["a10", "a9", "a1"].sort(new Intl.Collator("en-US", { numeric: true }).compare), "a".localeCompare("A"), "a".localeCompare("A", undefined, { sensitivity: "base" }), "résumé".localeCompare("resume"), ["b", "a b", "a-b", "ab"].sort((x, y) => x.localeCompare(y)));
//# query strings and os
const qs = require("node:querystring"); console.log(qs.parse("a=1&b=2&a=3").a, qs.stringify({ x: [1, 2], y: "z w" }).replace("+", "%20"), require("node:os").EOL === "\n", typeof process.argv, process.cwd().length > 0, typeof performance.now(), process.platform);
//# intl without new
const money = Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });
console.log([1234.5, -2].map(money.format), money instanceof Intl.NumberFormat, money.format === money.format, Object.keys(money));
console.log(Intl.DateTimeFormat("en-US", { timeZone: "UTC" }).format(new Date(0)), Intl.DateTimeFormat("en-US", { timeZone: "UTC" }).resolvedOptions().timeZone);
console.log(["b", "a", "C"].sort(Intl.Collator("en-US").compare), ["x10", "x9"].sort(new Intl.Collator("en-US", { numeric: true }).compare));
console.log(new Intl.PluralRules("en-US", { type: "ordinal" }).resolvedOptions().type, (1).toLocaleString.length, "a".localeCompare.length);
class Price extends Intl.NumberFormat { show(value) { return `<${this.format(value)}>`; } }
console.log(new Price("en-US").show(1e6), Intl.NumberFormat.name, Intl.NumberFormat.length, Intl.NumberFormat.prototype.constructor === Intl.NumberFormat);
