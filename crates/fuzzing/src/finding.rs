//! An input that breaks a promise, kept where it can be played again.

use std::io;
use std::path::{Path, PathBuf};

use crate::target::Target;

/// A broken promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What the target said.
    pub said: String,
    pub input: Vec<u8>,
}

impl Finding {
    /// Writes the input to a folder, under a name that follows from its content.
    ///
    /// # Errors
    /// As [`keep`].
    pub fn keep(&self, target: &Target, folder: &Path) -> io::Result<PathBuf> {
        keep(&self.input, target, folder)
    }
}

/// Writes an input to a folder, which is made if need be.
///
/// # Errors
/// The folder or the file can't be written.
pub fn keep(input: &[u8], target: &Target, folder: &Path) -> io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let name = input.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let path = folder.join(format!("{}-{name:016x}", target.name));
    std::fs::write(&path, input)?;
    Ok(path)
}
