//! Names that nobody finds by trying, short enough for a model to repeat: of executions, sessions and
//! results.

/// 32 letters that are not mistaken for each other.
const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// 100 bits: nobody finds another's by trying.
const LENGTH: usize = 20;

pub(crate) fn new() -> Result<String, getrandom::Error> {
    let mut random = [0_u8; LENGTH];
    getrandom::fill(&mut random)?;
    Ok(of(&random))
}

/// The one that belongs to these bytes, whose first ones must be as good as random.
pub(crate) fn of(bytes: &[u8]) -> String {
    bytes.iter().take(LENGTH).map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect()
}

/// Whether a text could be one.
pub(crate) fn fits(text: &str) -> bool {
    text.len() == LENGTH && text.bytes().all(|byte| LETTERS.contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_reads_back_and_anything_else_does_not() {
        let name = new().unwrap();
        assert!(fits(&name), "{name}");
        assert_ne!(new().unwrap(), name);
        for wrong in ["", "short", "ABCDEFGHIJKMNPQRSTUV", "aaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaa1"] {
            assert!(!fits(wrong), "{wrong}");
        }
    }
}
