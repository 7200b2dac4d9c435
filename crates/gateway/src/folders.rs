//! Where things are on this machine: caches and scratch space.

use std::env;
use std::path::PathBuf;

/// No place could be found.
#[derive(Debug, thiserror::Error)]
#[error("no folder for {what}: set {variable}, or HOME")]
pub struct FolderError {
    what: &'static str,
    variable: &'static str,
}

/// The folders of this user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folders {
    /// What can be made again: compiled engines.
    pub cache: PathBuf,
    /// What lasts only as long as the gateway: throw-away workspaces.
    pub scratch: PathBuf,
}

impl Folders {
    /// By the platform's convention; `GRISTMILL_CACHE_DIR` and `GRISTMILL_SCRATCH_DIR` come first.
    pub fn from_environment() -> Result<Self, FolderError> {
        let variable = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = variable("HOME");
        let cache = variable("GRISTMILL_CACHE_DIR")
            .or_else(|| variable("XDG_CACHE_HOME").map(|base| base.join("gristmill")))
            .or_else(|| {
                let below =
                    if cfg!(target_os = "macos") { "Library/Caches/gristmill" } else { ".cache/gristmill" };
                home.as_ref().map(|home| home.join(below))
            })
            .ok_or(FolderError { what: "caches", variable: "GRISTMILL_CACHE_DIR" })?;
        let user = rustix::process::geteuid().as_raw();
        let scratch = variable("GRISTMILL_SCRATCH_DIR")
            .unwrap_or_else(|| env::temp_dir().join(format!("gristmill-{user}")));
        // The workers have another working folder, so a relative path would mean another place there.
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        Ok(Self { cache: absolute(cache), scratch: absolute(scratch) })
    }
}
