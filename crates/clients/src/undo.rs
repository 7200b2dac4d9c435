//! What an edit changed, as text, so that it can be taken back to the byte after others have
//! changed the rest of the file.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Longer ones are not kept; the entry is then taken out by its name.
const BYTES_MAX: usize = 256 << 10;

/// The one stretch of text that an edit changed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// What stood there before.
    before: String,
    /// What stands there now.
    after: String,
}

/// Servers that were moved away may hold secrets.
impl fmt::Debug for Undo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Undo({} bytes for {})", self.before.len(), self.after.len())
    }
}

impl Undo {
    /// From one text to another. `None` if it cannot be found again or is too long to keep.
    pub fn between(before: &str, after: &str) -> Option<Self> {
        let start = common(before.chars(), after.chars());
        let (before, after) = (&before[start..], &after[start..]);
        let end = common(before.chars().rev(), after.chars().rev());
        let (before, after) = (&before[..before.len() - end], &after[..after.len() - end]);
        let is_kept = !after.is_empty() && before.len() + after.len() <= BYTES_MAX;
        is_kept.then(|| Self { before: before.to_owned(), after: after.to_owned() })
    }

    /// Takes it back, if what was written stands there as it was written, once.
    pub fn apply(&self, text: &str) -> Option<String> {
        let mut places = text.match_indices(&self.after);
        let (at, _) = places.next()?;
        if places.next().is_some() {
            return None;
        }
        Some([&text[..at], &self.before, &text[at + self.after.len()..]].concat())
    }
}

/// The bytes that two texts have in common, in whole characters.
fn common(one: impl Iterator<Item = char>, other: impl Iterator<Item = char>) -> usize {
    one.zip(other).take_while(|(one, other)| one == other).map(|(one, _)| one.len_utf8()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_is_taken_back_from_a_text_that_went_on_changing() {
        let before = "{\n  \"a\": 1\n}\n";
        let after = "{\n  \"a\": 1,\n  \"ours\": {}\n}\n";
        let undo = Undo::between(before, after).expect("it changed");
        assert_eq!(undo.apply(after).as_deref(), Some(before));
        assert_eq!(
            undo.apply("{\n  \"z\": 0,\n  \"a\": 1,\n  \"ours\": {},\n  \"é\": 2\n}\n").as_deref(),
            Some("{\n  \"z\": 0,\n  \"a\": 1,\n  \"é\": 2\n}\n")
        );
    }

    #[test]
    fn what_is_not_there_once_is_not_taken_back() {
        let undo = Undo::between("ab", "aXb").expect("it changed");
        assert_eq!(undo.apply("ab"), None);
        assert_eq!(undo.apply("aXbX"), None);
        assert_eq!(Undo::between("ab", "ab"), None);
    }
}
