//! A token as its owner holds it: `gmt_`, 256 random bits, and a checksum, so that a scanner for
//! leaked secrets can tell it from any other text.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

const PREFIX: &str = "gmt_";
const RANDOM_BYTES: usize = 32;
const CHECKSUM_BYTES: usize = 4;

/// `gmt_`, 43 characters for 32 bytes and 6 for 4.
const LENGTH: usize = PREFIX.len() + 43 + 6;

/// The text of a token. `Debug` shows nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenText(String);

impl TokenText {
    pub(super) fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; RANDOM_BYTES];
        getrandom::fill(&mut bytes)?;
        let body = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes));
        let checksum = checksum(&body);
        Ok(Self(body + &checksum))
    }

    /// What someone presented, if it can be a token at all.
    pub(super) fn read(presented: &str) -> Option<Self> {
        let shaped = presented.len() == LENGTH && presented.is_ascii() && presented.starts_with(PREFIX);
        if !shaped {
            return None;
        }
        let (body, sum) = presented.split_at(LENGTH - 6);
        (checksum(body) == sum).then(|| Self(presented.to_owned()))
    }

    /// The text itself: for its owner, once.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What is kept of it.
    pub(super) fn hash(&self) -> blake3::Hash {
        blake3::hash(self.0.as_bytes())
    }
}

fn checksum(body: &str) -> String {
    URL_SAFE_NO_PAD.encode(&blake3::hash(body.as_bytes()).as_bytes()[..CHECKSUM_BYTES])
}

impl fmt::Debug for TokenText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_one_shape_and_each_is_another() {
        let one = TokenText::random().expect("randomness");
        let other = TokenText::random().expect("randomness");
        assert_ne!(one.reveal(), other.reveal());
        assert_eq!((one.reveal().len(), &one.reveal()[..4]), (53, "gmt_"));
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        assert!(one.reveal().chars().all(plain), "{}", one.reveal());
        assert_eq!(TokenText::read(one.reveal()).as_ref(), Some(&one));
        assert_eq!(format!("{one:?}"), "(secret)");
    }

    #[test]
    fn what_is_cut_or_mistyped_is_no_token() {
        let token = TokenText::random().expect("randomness");
        let text = token.reveal();
        let last = if text.ends_with('A') { 'B' } else { 'A' };
        let changed = format!("{}{last}", &text[..52]);
        for wrong in ["", "gmt_", &text[..52], &text[4..], &format!("{text}A"), &changed, &"ä".repeat(26)] {
            assert_eq!(TokenText::read(wrong), None, "{wrong}");
        }
    }
}
