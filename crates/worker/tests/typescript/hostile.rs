//! Hostile programs against the interpreter itself: none gets at the host, at the prelude's inside or at
//! anything outside of its folders, and none ends in a trap. Each returns true if it got nothing.

use crate::world::World;

/// Looking for the host and for what the prelude keeps to itself.
const REACHING: &[&str] = &[
    "return typeof host === \"undefined\" && typeof control === \"undefined\" && typeof calls === \"undefined\"",
    "return Object.getOwnPropertyNames(globalThis).every((name) => !/^(host|std|os|bjson|scriptArgs|load)$/.test(name))",
    "try { (function () { return arguments.callee.caller })(); return false } catch { return true }",
    "const seen = []; Error.prepareStackTrace = (_, sites) => { for (const site of sites) { try { seen.push(site.getFunction?.(), site.getThis?.()) } catch {} } return \"\" }; try { readFile(\"/nope\") } catch (error) { void error.stack } return seen.every((found) => found === undefined || found === null || typeof found !== \"object\" || !(\"startCall\" in found))",
    "return (new Function(\"return typeof host\"))() === \"undefined\"",
    "return (0, eval)(\"typeof host\") === \"undefined\"",
    "return Object.keys(__gristmill).every((key) => [\"module\", \"load\", \"meta\", \"default\", \"last\", \"result\"].includes(key))",
    "try { await import(\"std\"); return false } catch { return true }",
    "try { await import(\"os\"); return false } catch { return true }",
    "try { require(\"../../../../proc/self/environ\"); return false } catch { return true }",
    "return (() => {}).constructor(\"return this\")() === undefined || (() => {}).constructor(\"return typeof this.startCall\")() === \"undefined\"",
    "const leaked = []; const push = Array.prototype.push; Array.prototype.push = function (...all) { leaked.push?.call; push.apply(leaked, all); return push.apply(this, all) }; try { readFile(\"/x\") } catch {} Array.prototype.push = push; return leaked.every((value) => value === null || typeof value !== \"object\" || !(\"startCall\" in value))",
    "const found = []; Object.defineProperty(Object.prototype, \"startCall\", {get() { found.push(this); return undefined }, configurable: true}); try { state.x } catch {} delete Object.prototype.startCall; return found.every((value) => typeof value.waitAny !== \"function\")",
    "return [WebAssembly => typeof WebAssembly][0](globalThis.WebAssembly) === \"undefined\"",
    "return typeof SharedArrayBuffer === \"function\" && typeof Atomics === \"undefined\"",
    "return typeof gc === \"undefined\" && typeof print === \"undefined\" && typeof readline === \"undefined\"",
    "try { process.binding(\"fs\"); return false } catch { return true }",
    "return process.mainModule === undefined && process.dlopen === undefined && process.kill === undefined",
    "return Reflect.ownKeys(process.env).every((name) => [\"HOME\", \"LANG\", \"PWD\", \"TMPDIR\", \"TZ\"].includes(name))",
];

/// Paths that lead out of the folders, by every way that takes one.
const PATHS: &[&str] = &[
    "/etc/passwd",
    "../../etc/passwd",
    "/workspace/../../etc/passwd",
    "/proc/self/environ",
    "/proc/1/root/etc/passwd",
    "//etc/passwd",
    "/workspace/./../etc/passwd",
    "file:///etc/passwd",
    "/servers/../../etc/passwd",
    "/dev/mem",
    "/workspace/link",
    "/workspace/linked/passwd",
    "/results/../../etc/passwd",
    "....//....//etc/passwd",
    "/workspace/\u{0}/etc/passwd",
];

/// What engines of this kind had bugs with.
const BUGS: &[&str] = &[
    "const a = new Uint8Array(8); a.buffer.transfer?.(); try { return a[0] === undefined || a.length >= 0 } catch { return true }",
    "const a = [1, 2, 3]; a.sort(() => { a.length = 0; return -1 }); return a.length <= 3",
    "const a = Array.from({length: 100}, (_, i) => i); a.map((_, i) => { if (i === 1) a.length = 2; return i }); return true",
    "const b = new ArrayBuffer(16, {maxByteLength: 64}); const v = new DataView(b); b.resize?.(4); try { v.getFloat64(8); return false } catch { return true }",
    "const t = new Float64Array(4); try { t.fill({valueOf() { t.buffer.transfer?.(); return 1 }}) } catch {} return true",
    "const t = new Uint8Array(64); try { t.set({length: 4, get 0() { t.buffer.transfer?.(); return 1 }, 1: 2, 2: 3, 3: 4}) } catch {} return true",
    "const p = new Proxy([], {get(t, k) { if (k === \"length\") return 2 ** 32 - 1; return t[k] }}); try { Array.prototype.slice.call(p, 0, 5) } catch {} return true",
    "try { new Array(2 ** 32) } catch (error) { return error instanceof RangeError } return false",
    "try { \"x\".repeat(2 ** 31) } catch { return true } return false",
    "try { \"x\".padEnd(2 ** 30, \"yz\") } catch { return true } return true",
    "const r = /(?:a*)*b/; return r.test(\"aaaaaaaaaaaaaaaaaa\") === false",
    "try { new RegExp(\"(\".repeat(20000) + \")\".repeat(20000)) } catch { return true } return true",
    "try { new RegExp(\"[\" + \"\\\\u{10ffff}-\".repeat(5000) + \"]\", \"u\") } catch { return true } return true",
    "const r = /a/g; r.lastIndex = {valueOf() { r.compile(\"b\"); return 0 }}; r.exec(\"ab\"); return true",
    "let o = {}; for (let i = 0; i < 2000; i++) o = {o}; try { JSON.stringify(o) } catch {} return true",
    "const m = new Map(); m.set(1, 1); for (const [k] of m) { if (k > 5000) break; m.delete(k); m.set(k + 1, 1) } return true",
    "const s = new Set([1, 2, 3]); s.forEach((v) => { s.clear(); if (v < 3) s.add(v + 1) }); return true",
    "const w = new WeakRef({}); const f = new FinalizationRegistry(() => {}); for (let i = 0; i < 1000; i++) f.register({}, i); return w !== null",
    "class A { #x = 1; static has(o) { return #x in o } } return A.has({}) === false",
    "const g = (function* () { try { yield 1 } finally { g.return?.() } })(); g.next(); try { g.return() } catch {} return true",
    "async function* g() { yield* g2 } const g2 = {[Symbol.asyncIterator]() { return {next() { return {then(f) { f({done: true}) }} }} }}; for await (const x of g()) {} return true",
    "const d = new Date(8.64e15 + 1); return Number.isNaN(d.getTime())",
    "return BigInt.asUintN(2 ** 20, -1n).toString(16).length > 1000",
    "try { (2n ** (2n ** 40n)); return false } catch { return true }",
    "const o = {__proto__: null}; Object.setPrototypeOf(Object.prototype, null); return Object.getPrototypeOf(o) === null",
    "try { Object.setPrototypeOf(Object.prototype, {}); return false } catch { return true }",
    "const a = [, , 1]; Object.defineProperty(Array.prototype, 0, {get() { a.length = 1; return 7 }, configurable: true}); try { a.includes(9) } finally { delete Array.prototype[0] } return true",
    "let depth = 0; const p = new Proxy(function () {}, {apply() { if (depth++ < 100) return p() }}); p(); return depth === 101",
    "const all = Array.from({length: 20000}, () => Promise.resolve()); await Promise.all(all); return true",
    "let n = 0; const flood = () => { if (n++ < 50000) queueMicrotask(flood) }; flood(); await new Promise((done) => setTimeout(done, 1)); return n > 50000",
    "for (let i = 0; i < 300; i++) Promise.reject(i).catch(() => {}); return true",
    "const t = []; for (let i = 0; i < 5000; i++) t.push(setTimeout(() => {}, 1e9)); t.forEach(clearTimeout); return true",
    "Object.prototype.ok = false; Object.prototype.has_result = false; Array.prototype.toJSON = undefined; return true",
    "globalThis.JSON = null; globalThis.Object = null; globalThis.Promise = null; return true",
    "Object.freeze(globalThis); Object.freeze(Object.prototype); Object.freeze(Array.prototype); return true",
    "const proxies = new Proxy({}, {ownKeys() { return [\"a\"] }, getOwnPropertyDescriptor() { return {value: 1, enumerable: true, configurable: true} }}); console.log(proxies); return true",
    "console.log({get x() { throw new Error(\"no\") }, [Symbol.toStringTag]: {}, constructor: null}); return true",
    "console.log(new Proxy(new Map(), {})); return true",
];

#[test]
fn nothing_of_the_host_is_in_reach() {
    let world = World::new().answers(|_, _| Some(Ok(serde_json::json!([]))));
    for program in REACHING {
        assert_eq!(world.run(program).result(), true, "{program}");
    }
}

#[test]
fn no_path_leads_out_of_the_folders() {
    let world = World::new();
    std::os::unix::fs::symlink("/etc/passwd", world.path("workspace/link")).unwrap();
    std::os::unix::fs::symlink("/etc", world.path("workspace/linked")).unwrap();
    for path in PATHS {
        let path = serde_json::to_string(path).unwrap();
        let ran = world.run(&format!(
            "const fs = require(\"fs\"); const ways = [() => fs.readFileSync({path}, \"utf8\"), () => readFile({path}), () => fs.copyFileSync({path}, \"copy\"), () => require({path}), () => fs.writeFileSync({path}, \"x\"), () => fs.renameSync({path}, \"moved\")];\nconst got = []; for (const way of ways) {{ try {{ got.push(way()) }} catch {{}} }}\nreturn got.filter((text) => typeof text === \"string\" && text.includes(\"root:\")).length === 0"
        ));
        assert_eq!(ran.result(), true, "{path}");
        assert!(std::fs::read_to_string("/etc/passwd").unwrap().contains("root:"));
        assert!(!world.path("workspace/copy").exists(), "{path}");
    }
}

#[test]
fn what_engines_had_bugs_with_is_an_error_or_nothing() {
    let world = World::new();
    for program in BUGS {
        let ran = world.run(program);
        assert_eq!(ran.trap, None, "{program}");
        assert_eq!(ran.outcome["result"], true, "{program}: {}", ran.outcome);
    }
}

#[test]
fn what_one_program_pollutes_no_other_process_sees() {
    let world = World::new();
    world.run("Object.prototype.polluted = 1; Array.prototype.map = null; globalThis.left = 1; Math.random = () => 4");
    let ran = world.run("return [({}).polluted, typeof [].map, typeof left, Math.random() === 4]");
    assert_eq!(ran.result(), &serde_json::json!([null, "function", "undefined", false]));
}

#[test]
fn values_that_fail_whoever_looks_at_them_are_failures_of_the_program_alone() {
    let world = World::new();
    let revoked = "const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); ";
    for program in ["return proxy", "throw proxy", "setTimeout(() => { throw proxy }, 0)"] {
        let ran = world.run(&format!("{revoked}{program}"));
        assert_eq!(ran.error()["kind"], "exception", "{program}");
        assert_eq!(ran.outcome["damaged"], serde_json::Value::Null, "{program}");
    }
}

#[test]
fn a_program_that_breaks_its_own_report_did_not_run_out_of_memory() {
    let ran = World::new().run("Array.prototype.at = () => { throw 1 }; return 1");
    assert_eq!(ran.error()["kind"], "exception");
    assert_eq!(ran.outcome["damaged"], true);
}

#[test]
fn what_is_begun_while_a_result_is_read_does_not_reach_into_the_next_program() {
    let first = "return {toJSON() { queueMicrotask(() => { globalThis.late = callMCPTool(\"echo\", {}).catch(String) }); Promise.reject(new Error(\"late\")); return 1 }}";
    let ran = World::new().run_kept(&[first, "return await late"]);
    assert_eq!(ran[0].result(), 1);
    assert!(ran[1].result().as_str().unwrap().contains("is over"), "{:?}", ran[1].outcome);
}

#[test]
fn a_program_cannot_replace_what_the_next_one_imports_through() {
    let ran = World::new().run_kept(&[
        "for (const act of [() => (__gristmill.module = null), () => (globalThis.__gristmill = null), () => delete globalThis.__gristmill, () => (__gristmill.more = 1)]) { try { act() } catch { continue } return \"replaced\" }",
        "return typeof (await __gristmill.module(\"node:path\", 1)).join",
    ]);
    assert_eq!(ran[0].outcome["result"], serde_json::Value::Null);
    assert_eq!(ran[1].result(), "function");
}
