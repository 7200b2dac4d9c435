//! The values that a session keeps beside its files: how much of them there may be, and a place for
//! them that goes with the gateway.

use std::collections::BTreeMap;

use gristmill_protocol::{JSON_DEPTH_MAX, JsonCaps};
use parking_lot::{Mutex, MutexGuard};

use crate::ports::{BoxFuture, StateFailure, StateValues};

/// A name for a value, not a value.
pub const KEY_BYTES_MAX: usize = 256;

/// One value as JSON. What is larger belongs into a file of the workspace.
pub const VALUE_BYTES_MAX: usize = 1024 * 1024;

/// Keys are listed whole.
pub const KEYS_MAX: usize = 1000;

/// Keys and values of one session together: a session is cheap to keep, and to move.
pub const ALL_BYTES_MAX: usize = 16 * 1024 * 1024;

/// One level less than a program reads: a value comes to it in a list.
const VALUE_DEPTH_MAX: usize = JSON_DEPTH_MAX - 1;

/// Python makes no whole number of a longer text.
const NUMBER_DIGITS_MAX: usize = 4_300;

/// What there is beside the value that is to be kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Others {
    pub count: usize,
    /// Their bytes, with those of their values.
    pub bytes: usize,
}

/// Whether a value may be put under a key. The error says which bound stands in the way.
pub fn check_room(key: &str, value: &str, others: Others) -> Result<(), StateFailure> {
    if key.is_empty() {
        return Err(StateFailure("a key of `state` can't be empty".to_owned()));
    }
    if key.len() > KEY_BYTES_MAX {
        return Err(StateFailure(format!(
            "a key of state has at most {KEY_BYTES_MAX} bytes, and this one {}: {}",
            key.len(),
            gristmill_domain::one_line(key, 40)
        )));
    }
    let shown = gristmill_domain::one_line(key, KEY_BYTES_MAX);
    if value.len() > VALUE_BYTES_MAX {
        return Err(StateFailure(format!(
            "state[{shown:?}] would be {} bytes of JSON; at most {VALUE_BYTES_MAX} are kept under a key: write it to a file in /workspace",
            value.len()
        )));
    }
    if others.count >= KEYS_MAX {
        return Err(StateFailure(format!(
            "state already has {KEYS_MAX} keys, the most it can hold; remove some before you add state[{shown:?}]"
        )));
    }
    if others.bytes + key.len() + value.len() > ALL_BYTES_MAX {
        return Err(StateFailure(format!(
            "state[{shown:?}] doesn't fit: all values together can take {ALL_BYTES_MAX} bytes; remove some, or use files in /workspace"
        )));
    }
    Ok(())
}

/// Whether a program can read a value that no program of ours wrote. It says nothing about whether
/// the value is JSON.
pub(crate) fn check_readable(key: &str, value: &str) -> Result<(), StateFailure> {
    let refused = |why: String| {
        let shown = gristmill_domain::one_line(key, KEY_BYTES_MAX);
        StateFailure(format!("no program can read state[{shown:?}]: {why}"))
    };
    let caps =
        JsonCaps { bytes_max: VALUE_BYTES_MAX, depth_max: VALUE_DEPTH_MAX, values_max: VALUE_BYTES_MAX + 1 };
    caps.check(value.as_bytes()).map_err(|error| refused(error.to_string()))?;
    match digits_in_a_row(value) > NUMBER_DIGITS_MAX {
        true => Err(refused(format!("it has a number of more than {NUMBER_DIGITS_MAX} digits"))),
        false => Ok(()),
    }
}

/// The most digits in a row that are not part of a text.
fn digits_in_a_row(json: &str) -> usize {
    let (mut most, mut row, mut in_text, mut escaped) = (0, 0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            _ => {}
        }
        row = if byte.is_ascii_digit() && !in_text { row + 1 } else { 0 };
        most = most.max(row);
    }
    most
}

/// State in memory: for programs without a session, and for gateways that keep nothing.
#[derive(Default)]
pub struct StateInMemory(Mutex<BTreeMap<String, String>>);

impl StateInMemory {
    /// Whether nothing was left in it.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Every key with its value, for whoever keeps them elsewhere.
    pub fn values(&self) -> Vec<(String, String)> {
        self.lock().iter().map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    fn put(&self, key: &str, value: String) -> Result<(), StateFailure> {
        let mut kept = self.lock();
        let others =
            kept.iter().filter(|(other, _)| *other != key).fold(Others::default(), |sum, (other, value)| {
                Others { count: sum.count + 1, bytes: sum.bytes + other.len() + value.len() }
            });
        check_room(key, &value, others)?;
        kept.insert(key.to_owned(), value);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.0.lock()
    }
}

impl StateValues for StateInMemory {
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<String>, StateFailure>> {
        Box::pin(async move { Ok(self.lock().get(key).cloned()) })
    }

    fn set<'a>(&'a self, key: &'a str, value: String) -> BoxFuture<'a, Result<(), StateFailure>> {
        Box::pin(async move { self.put(key, value) })
    }

    fn remove<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<bool, StateFailure>> {
        Box::pin(async move { Ok(self.lock().remove(key).is_some()) })
    }

    fn keys(&self) -> BoxFuture<'_, Result<Vec<String>, StateFailure>> {
        Box::pin(async move { Ok(self.lock().keys().cloned().collect()) })
    }

    fn clear(&self) -> BoxFuture<'_, Result<(), StateFailure>> {
        Box::pin(async move {
            self.lock().clear();
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_program_can_read_is_known_before_it_is_kept() {
        let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        let digits = |count: usize| format!("[\"\\\"\", -{}]", "7".repeat(count));
        let text = format!("\"\\\"{}\"", "7".repeat(5_000));
        for value in [nested(99), digits(4_300), text, "1.5e3".to_owned()] {
            assert_eq!(check_readable("k", &value), Ok(()), "{value}");
        }
        let refused = |value: String| check_readable("k", &value).unwrap_err().0;
        assert!(refused(nested(100)).contains("nested deeper than 99 levels"));
        assert!(refused(nested(100_000)).contains("nested deeper than 99 levels"));
        assert!(refused(digits(4_301)).contains("more than 4300 digits"));
    }

    #[test]
    fn each_bound_is_named_and_leaves_what_is_there() {
        let state = StateInMemory::default();
        let refused = |key: &str, value: String| state.put(key, value).unwrap_err().0;
        state.put("a", "1".to_owned()).unwrap();
        assert!(refused("", "1".to_owned()).contains("can't be empty"));
        assert!(refused(&"k".repeat(257), "1".to_owned()).contains("at most 256 bytes"));
        assert!(refused("a", "x".repeat(VALUE_BYTES_MAX + 1)).contains("at most 1048576 are kept"));
        for number in 1..KEYS_MAX {
            state.put(&number.to_string(), String::new()).unwrap();
        }
        assert!(refused("one more", String::new()).contains("1000 keys"));
        state.put("a", "2".to_owned()).unwrap();
        for number in 1..=15 {
            state.put(&number.to_string(), "x".repeat(VALUE_BYTES_MAX)).unwrap();
        }
        assert!(refused("16", "x".repeat(VALUE_BYTES_MAX)).contains("can take 16777216 bytes"));
        assert_eq!(
            (state.values().len(), state.values()[999].clone()),
            (1000, ("a".to_owned(), "2".to_owned()))
        );
    }
}
