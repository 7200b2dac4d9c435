//! Inputs to begin with: small files in the project, and what longer runs have kept on this machine.

use std::io;
use std::path::{Path, PathBuf};

use crate::target::Target;

/// What the project brings: `crates/fuzzing/seeds/<target>/`.
pub fn seed_folder(target: &Target) -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    here.join("seeds").join(target.name)
}

/// What longer runs have kept: `<cache>/gristmill/fuzz/corpus/<target>/`.
pub fn corpus_folder(target: &Target) -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cache")))?;
    Some(cache.join("gristmill/fuzz/corpus").join(target.name))
}

/// The files of a folder, in the order of their names; none if it isn't there.
///
/// # Errors
/// A file or the folder can't be read.
pub fn seeds(folder: &Path) -> io::Result<Vec<Vec<u8>>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    paths.iter().map(std::fs::read).collect()
}
