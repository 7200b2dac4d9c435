//! A text that is never shown.
//!
//! Walls: `Debug` and `Display` print a placeholder, it does not serialize by itself, comparing two
//! takes the same time whatever they hold, and the memory is wiped when it is dropped. The text is
//! taken out with `reveal` where it leaves for the place that it is meant for, and nowhere else.

use std::fmt;

use zeroize::Zeroizing;

/// A token, a password, a code.
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// From now on unseen.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// blake3's hashes compare in constant time.
impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        blake3::hash(self.0.as_bytes()) == blake3::hash(other.0.as_bytes())
    }
}

impl Eq for Secret {}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_shows_nothing_of_itself() {
        let secret = Secret::new("hunter2");
        assert_eq!(format!("{secret} {secret:?} {secret:#?}"), "(secret) (secret) (secret)");
        assert_eq!((secret.reveal(), secret == Secret::new("hunter2")), ("hunter2", true));
        assert_ne!(secret, Secret::new("hunter3"));
    }
}
