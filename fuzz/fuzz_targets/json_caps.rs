//! Any bytes, measured and then parsed: what passes the caps is safe for a parser that has no limit
//! of its own, and is no deeper and no larger than the caps say.
#![no_main]

use gristmill_protocol::{JSON_DEPTH_MAX, JsonCaps};
use libfuzzer_sys::fuzz_target;
use serde::Deserialize;
use serde_json::Value;

const CAPS: JsonCaps = JsonCaps { bytes_max: 64 * 1024, depth_max: JSON_DEPTH_MAX, values_max: 1024 };

fuzz_target!(|text: &[u8]| {
    if CAPS.check(text).is_err() {
        return;
    }
    let mut parser = serde_json::Deserializer::from_slice(text);
    parser.disable_recursion_limit();
    let Ok(value) = Value::deserialize(&mut parser) else { return };
    assert!(depth(&value) <= CAPS.depth_max, "deeper than the cap");
    assert!(values(&value) <= CAPS.values_max, "more values than the cap");
});

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

fn values(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(values).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(values).sum::<usize>(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    }
}
