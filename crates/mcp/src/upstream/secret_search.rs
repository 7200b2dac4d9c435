//! Finds any of many secrets in a text, in one pass, however many there are.

use std::borrow::Cow;
use std::collections::HashMap;

/// Shorter values would be found by chance. In bytes it is at least as much.
pub(super) const SECRET_CHARS_MIN: usize = 6;

/// All spellings of one server's secrets together: a login that is renewed every hour, with tokens of
/// 2 KB, comes to that after a year. What is kept in memory for a server is at most twice this.
const SPELLINGS_BYTES_MAX: usize = 16 * 1024 * 1024;

/// How much of a secret is looked for first.
type Start = [u8; SECRET_CHARS_MIN];

/// Secrets by how they start.
pub(super) struct SecretSearch {
    by_start: HashMap<Start, Vec<Needle>>,
    /// Which first two bytes any of them has: most places in a text are none of these.
    pairs: Vec<bool>,
    bytes: usize,
    bytes_max: usize,
}

struct Needle {
    /// What to look for.
    secret: String,
    /// What to put in its place.
    shown: String,
}

/// There is no room for another secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoRoom;

impl Default for SecretSearch {
    fn default() -> Self {
        Self::within(SPELLINGS_BYTES_MAX)
    }
}

impl SecretSearch {
    pub fn within(bytes_max: usize) -> Self {
        Self { by_start: HashMap::new(), pairs: Vec::new(), bytes: 0, bytes_max }
    }

    pub fn is_empty(&self) -> bool {
        self.by_start.is_empty()
    }

    /// One more. What is known already takes no room.
    pub fn add(&mut self, secret: String, shown: &str) -> Result<(), NoRoom> {
        let Some(start) = secret.as_bytes().first_chunk::<SECRET_CHARS_MIN>().copied() else { return Ok(()) };
        let alike = self.by_start.entry(start).or_default();
        if alike.iter().any(|known| known.secret == secret) {
            return Ok(());
        }
        let bytes = self.bytes + secret.len() + shown.len();
        if bytes > self.bytes_max {
            return Err(NoRoom);
        }
        self.bytes = bytes;
        alike.push(Needle { secret, shown: shown.to_owned() });
        // The longest first: one secret may be the beginning of another.
        alike.sort_by_key(|needle| std::cmp::Reverse(needle.secret.len()));
        self.pairs.resize(1 << 16, false);
        self.pairs[pair(start[0], start[1])] = true;
        Ok(())
    }

    /// The text with each secret replaced. Secrets that overlap are replaced together, so that nothing is
    /// left of either.
    pub fn replaced<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.replaced_in_bytes(text.as_bytes()) {
            None => Cow::Borrowed(text),
            // Secrets are whole characters, and so is what is left.
            Some(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// The same in bytes that needn't be text; `None` if there is no secret in them.
    pub fn replaced_in_bytes(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        if self.is_empty() {
            return None;
        }
        let mut made = Vec::new();
        let mut copied = 0;
        let mut found: Option<(usize, usize, &str)> = None;
        for (at, window) in bytes.windows(SECRET_CHARS_MIN).enumerate() {
            let Some(needle) = self.starting(&bytes[at..], window) else { continue };
            let end = at + needle.secret.len();
            found = match found {
                Some((from, until, shown)) if at < until => Some((from, until.max(end), shown)),
                before => {
                    copied = put(&mut made, bytes, copied, before);
                    Some((at, end, &needle.shown))
                }
            };
        }
        found?;
        copied = put(&mut made, bytes, copied, found);
        made.extend_from_slice(&bytes[copied..]);
        Some(made)
    }

    /// The longest secret that stands at the beginning of these bytes.
    fn starting(&self, bytes: &[u8], window: &[u8]) -> Option<&Needle> {
        if !self.pairs.get(pair(window[0], window[1])).copied().unwrap_or_default() {
            return None;
        }
        let alike = self.by_start.get(window)?;
        alike.iter().find(|needle| bytes.starts_with(needle.secret.as_bytes()))
    }
}

fn pair(first: u8, second: u8) -> usize {
    (usize::from(first) << 8) | usize::from(second)
}

/// Writes what is between the last secret and this one, and its name. Where the bytes go on.
fn put(made: &mut Vec<u8>, bytes: &[u8], copied: usize, found: Option<(usize, usize, &str)>) -> usize {
    let Some((from, until, shown)) = found else { return copied };
    made.extend_from_slice(&bytes[copied..from]);
    made.extend_from_slice(shown.as_bytes());
    until
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_that_overlap_or_contain_each_other_leave_nothing() {
        let mut search = SecretSearch::default();
        for (secret, shown) in
            [("abcdef", "[1]"), ("defghijkl", "[2]"), ("abcdef-longer", "[3]"), ("ünïcödé", "[4]")]
        {
            search.add(secret.to_owned(), shown).expect("room");
        }
        let check = |text: &str, expected: &str| assert_eq!(search.replaced(text), expected, "{text}");
        check("abcdef", "[1]");
        check("xabcdefghijklx", "x[1]x");
        check("abcdef-longer abcdefabcdef", "[3] [1][1]");
        check("äünïcödéß", "ä[4]ß");
        check("abcde ünïcöd", "abcde ünïcöd");
        let bytes = b"\xff\x00abcdefghijkl\xfe";
        assert_eq!(search.replaced_in_bytes(bytes).as_deref(), Some(&b"\xff\x00[1]\xfe"[..]));
        assert_eq!(search.replaced_in_bytes(b"\xff\x00abcde\xfe"), None);
    }

    #[test]
    fn what_is_known_takes_no_room_and_what_has_none_is_refused() {
        let mut search = SecretSearch::within(20);
        assert_eq!(search.add("0123456789".to_owned(), "[a]"), Ok(()));
        assert_eq!(search.add("0123456789".to_owned(), "[a]"), Ok(()));
        assert_eq!(search.add("abcdefgh".to_owned(), "[b]"), Err(NoRoom));
    }
}
