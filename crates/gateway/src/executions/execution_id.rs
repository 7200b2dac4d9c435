//! The name of one execution: unguessable, and short enough for a model to repeat.

use std::fmt;

/// 32 letters that are not mistaken for each other.
const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// 100 bits: nobody finds another's by trying.
const LENGTH: usize = 20;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExecutionId(String);

impl ExecutionId {
    /// A new one.
    pub fn new() -> Result<Self, getrandom::Error> {
        let mut random = [0_u8; LENGTH];
        getrandom::fill(&mut random)?;
        let letters = random.iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)]));
        Ok(Self(letters.collect()))
    }

    /// One that somebody wrote. Whether there is such an execution is another question.
    pub fn read(text: &str) -> Option<Self> {
        let fits = text.len() == LENGTH && text.bytes().all(|byte| LETTERS.contains(&byte));
        fits.then(|| Self(text.to_owned()))
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ExecutionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_and_anything_else_does_not() {
        let id = ExecutionId::new().unwrap();
        assert_eq!(ExecutionId::read(id.as_str()), Some(id.clone()));
        assert_ne!(ExecutionId::new().unwrap(), id);
        for wrong in ["", "short", "ABCDEFGHIJKMNPQRSTUV", "aaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaa1"] {
            assert_eq!(ExecutionId::read(wrong), None, "{wrong}");
        }
    }
}
