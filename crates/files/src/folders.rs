//! Where caches and scratch space of this user are.

use std::path::PathBuf;

use crate::surroundings::{Platform, Surroundings};

/// No place could be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FolderError {
    #[error("no cache folder: set GRISTMILL_CACHE_DIR, or HOME")]
    NoCache,
    #[error("no data folder: set GRISTMILL_DATA_DIR, or HOME")]
    NoData,
}

/// The folders of this user that may be emptied at any time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folders {
    /// What can be made again: compiled engines, trees of stubs.
    pub cache: PathBuf,
    /// What lasts only as long as the gateway: throw-away workspaces.
    pub scratch: PathBuf,
}

impl Folders {
    /// Of this process. It works from a current folder that was removed, too.
    pub fn from_environment() -> Result<Self, FolderError> {
        Self::of(&Surroundings::started_in(std::env::current_dir().unwrap_or_default()))
    }

    /// By the platform's convention; `GRISTMILL_CACHE_DIR` and `GRISTMILL_SCRATCH_DIR` come first.
    pub fn of(surroundings: &Surroundings) -> Result<Self, FolderError> {
        let variable = |name| surroundings.variable(name).map(PathBuf::from);
        let below_home = match surroundings.platform {
            Platform::Unix => ".cache/gristmill",
            Platform::MacOs => "Library/Caches/gristmill",
        };
        let cache = variable("GRISTMILL_CACHE_DIR")
            .or_else(|| variable("XDG_CACHE_HOME").map(|base| base.join("gristmill")))
            .or_else(|| variable("HOME").map(|home| home.join(below_home)))
            .ok_or(FolderError::NoCache)?;
        let scratch = variable("GRISTMILL_SCRATCH_DIR").unwrap_or_else(|| {
            let user = rustix::process::geteuid().as_raw();
            variable("TMPDIR").unwrap_or_else(std::env::temp_dir).join(format!("gristmill-{user}"))
        });
        // The workers have another working folder, so a relative path would mean another place there.
        let absolute = |path: PathBuf| {
            let path = surroundings.absolute(&path);
            std::path::absolute(&path).unwrap_or(path)
        };
        Ok(Self { cache: absolute(cache), scratch: absolute(scratch) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(platform: Platform, variables: &[(&str, &str)]) -> Result<Folders, FolderError> {
        let environment = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        Folders::of(&Surroundings { environment, current_folder: "/work".into(), platform })
    }

    #[test]
    fn the_cache_is_found_by_the_most_specific_variable() {
        let check = |platform, variables: &[(&str, &str)], expected: &str| {
            let found = folders(platform, variables).map(|folders| folders.cache);
            assert_eq!(found, Ok(PathBuf::from(expected)), "{variables:?}");
        };
        let (home, xdg) = (("HOME", "/home/ada"), ("XDG_CACHE_HOME", "/xdg"));
        check(Platform::Unix, &[home], "/home/ada/.cache/gristmill");
        check(Platform::MacOs, &[home], "/home/ada/Library/Caches/gristmill");
        check(Platform::MacOs, &[home, xdg], "/xdg/gristmill");
        check(Platform::Unix, &[home, xdg, ("GRISTMILL_CACHE_DIR", "./cache")], "/work/cache");
        check(Platform::Unix, &[home, ("XDG_CACHE_HOME", "")], "/home/ada/.cache/gristmill");
        assert_eq!(folders(Platform::Unix, &[]), Err(FolderError::NoCache));
    }

    #[test]
    fn scratch_space_is_each_users_own() {
        let home = ("HOME", "/home/ada");
        let found = |variables: &[(&str, &str)]| folders(Platform::Unix, variables).expect("a home").scratch;
        let user = rustix::process::geteuid().as_raw();
        assert_eq!(found(&[home, ("TMPDIR", "/t")]), PathBuf::from(format!("/t/gristmill-{user}")));
        assert_eq!(found(&[home, ("GRISTMILL_SCRATCH_DIR", "s")]), PathBuf::from("/work/s"));
    }
}
