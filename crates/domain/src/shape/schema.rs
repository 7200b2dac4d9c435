//! A shape that was found, as a value that a model reads: names and types, how often, with examples.

use serde_json::{Map, Value};

use super::fit::compact_bytes;
use super::found::Found;
use crate::quantity::{counted_grouped, grouped};

/// How much of a shape is shown.
#[derive(Clone, Copy)]
struct Look {
    examples: bool,
    fields_max: usize,
    levels_max: usize,
}

/// From all of it to next to nothing.
const LOOKS: [Look; 9] = [
    Look { examples: true, fields_max: 1000, levels_max: 20 },
    Look { examples: false, fields_max: 1000, levels_max: 20 },
    Look { examples: true, fields_max: 60, levels_max: 6 },
    Look { examples: false, fields_max: 60, levels_max: 6 },
    Look { examples: true, fields_max: 20, levels_max: 4 },
    Look { examples: false, fields_max: 20, levels_max: 4 },
    Look { examples: false, fields_max: 8, levels_max: 3 },
    Look { examples: false, fields_max: 3, levels_max: 2 },
    Look { examples: false, fields_max: 0, levels_max: 1 },
];

/// A shape in about `room` bytes.
pub(super) fn value(found: &Found, room: usize) -> Value {
    let mut made = Value::Null;
    for look in LOOKS {
        made = at_level(found, look, 0);
        if compact_bytes(&made) <= room {
            break;
        }
    }
    made
}

fn at_level(found: &Found, look: Look, level: usize) -> Value {
    let kinds = found.kinds();
    let shows_parts = level < look.levels_max;
    match (found.objects > 0, found.arrays > 0) {
        (false, false) => Value::String(scalar(found, look)),
        _ if !shows_parts => Value::String(found.kinds_counted()),
        (true, false) if kinds.len() == 1 => Value::Object(fields(found, look, level)),
        (false, true) if kinds.len() == 1 => array(found, look, level),
        (has_objects, has_arrays) => {
            let mut made = Map::new();
            made.insert("one of".to_owned(), Value::String(found.kinds_counted()));
            if has_objects {
                made.insert("object".to_owned(), Value::Object(fields(found, look, level + 1)));
            }
            if has_arrays {
                made.insert("array".to_owned(), array(found, look, level + 1));
            }
            Value::Object(made)
        }
    }
}

/// `integer, such as 7`.
fn scalar(found: &Found, look: Look) -> String {
    let kinds = found.kinds_counted();
    match &found.example {
        Some(example) if look.examples => format!("{kinds}, such as {example}"),
        Some(_) | None => kinds,
    }
}

fn array(found: &Found, look: Look, level: usize) -> Value {
    let mut words = match found.arrays {
        1 => counted_grouped(found.items, "item"),
        arrays => format!("{} in {}", counted_grouped(found.items, "item"), counted_grouped(arrays, "array")),
    };
    if found.items_seen < found.items {
        words.push_str(&format!(", of which the first {} were checked", grouped(found.items_seen as u64)));
    }
    let mut made = Map::new();
    made.insert("array of".to_owned(), Value::String(words));
    if let Some(of) = found.of.as_ref().filter(|of| of.seen() > 0) {
        made.insert("each".to_owned(), at_level(of, look, level + 1));
    }
    Value::Object(made)
}

/// The fields of objects; one that is not in all of them has a `?` and says in how many it is.
fn fields(found: &Found, look: Look, level: usize) -> Map<String, Value> {
    let mut made = Map::new();
    for field in found.fields.iter().take(look.fields_max) {
        let mut name = match field.count < found.objects {
            true => format!(
                "{}? (in {} of {})",
                field.name,
                grouped(field.count as u64),
                grouped(found.objects as u64)
            ),
            false => field.name.clone(),
        };
        while made.contains_key(&name) {
            name.push('…');
        }
        made.insert(name, at_level(&field.found, look, level + 1));
    }
    let missing = found.fields.len().saturating_sub(look.fields_max);
    if missing > 0 {
        let of = grouped(found.fields.len() as u64);
        made.insert(
            "…".to_owned(),
            Value::String(format!("{} of {of} fields not shown", grouped(missing as u64))),
        );
    }
    if found.further > 0 {
        let words = format!("{} under other names", counted_grouped(found.further, "more member"));
        made.insert("… …".to_owned(), Value::String(words));
    }
    made
}
