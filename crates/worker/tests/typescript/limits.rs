//! Limits: each ends in an error that says what happened, and none in a trap.

use gristmill_protocol::WorkerLimit;
use serde_json::json;

use crate::world::World;

/// Programs that recurse without end, each by other means.
const ENDLESS: &[&str] = &[
    "const f = () => f() + 1; f()",
    "const o = {get x() { return this.x }}; o.x",
    "const p = new Proxy({}, {get(target, key, receiver) { return receiver[key] }}); p.x",
    "class A { toString() { return `${this}` } } `${new A()}`",
    "const a = []; a[0] = a; a.flat(Infinity)",
    "JSON.parse(\"[\".repeat(500000))",
    "eval(\"(\".repeat(100000) + \"1\" + \")\".repeat(100000))",
    "const f = () => [1].map(f); f()",
    "const f = () => \"x\".replace(/x/, f); f()",
    "const f = () => [2, 1].sort(f); f()",
    "let text = \"\"; for (let i = 0; i < 50000; i++) text += \"{a:\"; new Function(text)",
    "const f = async () => { await f() }; await f()",
    "function* g() { yield* g() } g().next()",
    "const o = {toJSON() { return JSON.stringify(this) }}; JSON.stringify(o)",
    "Reflect.construct(class A { constructor() { new A() } }, [])",
    "const o = {valueOf() { return +this }}; +o",
];

#[test]
fn endless_recursion_is_a_range_error_that_can_be_caught() {
    let world = World::new();
    for program in ENDLESS {
        let ran = world.run(&format!("{program}\nreturn 1"));
        assert_eq!(ran.trap, None, "{program}");
        assert!(
            ["RangeError", "SyntaxError", "InternalError"].contains(&ran.error()["type"].as_str().unwrap()),
            "{program}: {:?}",
            ran.outcome
        );
        let ran = world.run(&format!("try {{ {program} }} catch (error) {{ return \"caught\" }}"));
        assert_eq!(ran.result(), "caught", "{program}");
    }
    let ran = world.run("\nconst f = () => f() + 1;\nf()");
    assert_eq!((&ran.error()["kind"], &ran.error()["line"]), (&json!("recursion"), &json!(2)));
}

#[test]
fn ordinary_recursion_goes_as_deep_as_in_node() {
    let ran = World::new().run("const depth = (n) => (n === 0 ? 0 : 1 + depth(n - 1)); return depth(8000)");
    assert_eq!(ran.result(), 8000);
}

#[test]
fn running_out_of_memory_is_an_error_that_can_be_caught() {
    let mut world = World::new();
    world.limits.memory_bytes = 64 << 20;
    let greedy = [
        "const all = []; for (;;) all.push(new Array(1000).fill({}))",
        "let text = \"x\"; for (;;) text += text + \"y\"",
        "new Uint8Array(1 << 30)",
        "const all = []; for (;;) all.push(new Uint8Array(1 << 20))",
        "const map = new Map(); for (let i = 0; ; i++) map.set(i, `value ${i}`)",
        "const all = []; for (;;) all.push(() => all)",
    ];
    for program in greedy {
        let ran = world.run(program);
        assert_eq!(ran.trap, None, "{program}");
        let kind = &ran.error()["kind"];
        assert!(kind == "memory" || kind == "exception", "{program}: {}", ran.outcome);
        let ran = world.run(&format!("try {{ {program} }} catch (error) {{ return \"caught\" }}"));
        assert_eq!(ran.outcome["result"], "caught", "{program}: {}", ran.outcome);
    }
    let ran = world.run(greedy[0]);
    assert_eq!(ran.error()["kind"], "memory");
    assert_eq!(ran.message(), "the program needs more memory than the sandbox has");
    assert_eq!(ran.limits_hit, [WorkerLimit::Memory]);
}

#[test]
fn a_result_is_held_to_its_limits() {
    let mut world = World::new();
    world.limits.result_bytes = 100;
    let ran = world.run("return \"x\".repeat(98)");
    assert_eq!(ran.result().as_str().unwrap().len(), 98);
    let ran = world.run("return {rows: [\"é\".repeat(60)]}");
    assert_eq!(ran.error()["kind"], "result_limit");
    assert_eq!(ran.error()["limit"], json!({"name": "result_bytes", "value": 100}));
    world.limits.result_depth = 3;
    assert_eq!(world.run("return [[[1]]]").result(), &json!([[[1]]]));
    let ran = world.run("return [[[[1]]]]");
    assert_eq!(ran.message(), "the result is nested deeper than 3 levels (at result[0][0][0])");
}

#[test]
fn a_large_result_leaves_in_parts() {
    let mut world = World::new();
    world.limits.result_bytes = 1000;
    world.limits.large_result_bytes = 20 << 20;
    let ran = world.run("return Array.from({length: 300000}, (_, i) => `rów ${i}`)");
    assert_eq!((&ran.outcome["stored_result"], &ran.outcome["has_result"]), (&json!(true), &json!(false)));
    let whole: Vec<String> = serde_json::from_str(&ran.large_result).unwrap();
    assert_eq!((whole.len(), whole[299_999].as_str()), (300_000, "rów 299999"));
}

#[test]
fn random_numbers_differ_from_process_to_process() {
    let world = World::new();
    let draw = || world.run("return [Math.random(), Math.random(), crypto.randomUUID()]").result().clone();
    let (one, other) = (draw(), draw());
    assert_ne!(one, other);
    assert!(one[0].as_f64().unwrap() < 1.0 && one[0] != one[1]);
}
