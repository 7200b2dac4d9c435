//! Why there is nothing under a path, and what there is instead.

use std::io;

/// Nothing was taken. The result itself is as it was.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    #[error("`{path}` isn't a path: {why}; write it as `rows[3].name`, and odd keys as `[\"a.b\"]`")]
    NotAPath {
        /// As it was written, shortened.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The object has no such key.
    #[error("{place} has no `{key}`{}", near_text(.near, .keys, .keys_total))]
    NoKey {
        /// The path of the object.
        place: String,
        /// What was looked for, shortened.
        key: String,
        /// The nearest keys, best first.
        near: Vec<String>,
        /// Some of its keys.
        keys: Vec<String>,
        /// How many it has.
        keys_total: u64,
    },
    /// The array or text is shorter.
    #[error("{place} has {}, so there is no {what} {asked}", range_text(.total, .unit))]
    OutOfRange {
        /// The path of the array, object or text.
        place: String,
        /// `index` or `offset`.
        what: &'static str,
        /// What was asked for.
        asked: u64,
        /// How many there are.
        total: u64,
        /// Of what: `item`, `member`, `character`.
        unit: &'static str,
    },
    /// An array has no keys.
    #[error("{place} is an array with {}, which has no `{key}`; say which item: `{example}`", range_text(.total, "item"))]
    NeedsIndex {
        /// The path of the array.
        place: String,
        /// What was looked for, shortened.
        key: String,
        /// How many items it has.
        total: u64,
        /// The same path with the first item in it.
        example: String,
    },
    /// Neither an array nor an object.
    #[error("{place} is {kind}, so it has no `{key}`; end the path before it")]
    HoldsNothing {
        /// The path of the value.
        place: String,
        /// `a text`, `a number`, `true`, `false`, `null`.
        kind: &'static str,
        /// What was looked for, shortened.
        key: String,
    },
    /// It ends too early, or is something else.
    #[error("the result can't be read as JSON at byte {at}; open it as a file in a program")]
    Damaged { at: u64 },
    #[error("the result can't be read: {0}")]
    Read(#[from] io::Error),
}

fn near_text(near: &[String], keys: &[String], total: &u64) -> String {
    let listed = |keys: &[String]| keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
    if let [first, ..] = near {
        return format!("; did you mean `{first}`?");
    }
    match *total {
        0 => "; it is empty".to_owned(),
        total if total > keys.len() as u64 => {
            format!("; it has {} and {} more", listed(keys), total - keys.len() as u64)
        }
        _ => format!("; it has {}", listed(keys)),
    }
}

fn range_text(total: &u64, unit: &str) -> String {
    match *total {
        0 => format!("no {unit}s"),
        1 => format!("1 {unit} (0)"),
        total => format!("{total} {unit}s (0 to {})", total - 1),
    }
}
