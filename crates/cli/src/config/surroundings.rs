//! What a configuration is read in: the environment, the current folder, the user's folders.
//!
//! Taken once at the start and handed on, so that tests can hold it still.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The world, as far as a configuration depends on it.
#[derive(Clone)]
pub struct Surroundings {
    /// Our environment.
    pub environment: BTreeMap<OsString, OsString>,
    /// Where we were started.
    pub current_folder: PathBuf,
    /// By whose convention folders are found.
    pub platform: Platform,
}

/// By whose convention folders are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// XDG.
    Unix,
    /// XDG where it is set, `~/Library` otherwise.
    MacOs,
}

/// The environment is full of secrets.
impl std::fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Surroundings({}, {:?})", self.current_folder.display(), self.platform)
    }
}

impl Surroundings {
    /// Of this process.
    pub fn of_this_process() -> std::io::Result<Self> {
        let platform = if cfg!(target_os = "macos") { Platform::MacOs } else { Platform::Unix };
        Ok(Self {
            environment: std::env::vars_os().collect(),
            current_folder: std::env::current_dir()?,
            platform,
        })
    }

    /// A variable that is set to something.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.environment.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// A variable that is an absolute path. XDG says to ignore relative ones.
    pub fn folder(&self, name: &str) -> Option<PathBuf> {
        self.variable(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// The user's home.
    pub fn home(&self) -> Option<PathBuf> {
        self.folder("HOME")
    }

    /// A path of a flag or a variable, as seen from where we were started.
    pub fn absolute(&self, path: &Path) -> PathBuf {
        self.current_folder.join(path)
    }

    /// Where the user's own file may be, best first.
    pub fn config_folders(&self) -> Vec<PathBuf> {
        if let Some(base) = self.folder("XDG_CONFIG_HOME") {
            return vec![base.join("gristmill")];
        }
        let Some(home) = self.home() else { return Vec::new() };
        let common = home.join(".config/gristmill");
        match self.platform {
            Platform::Unix => vec![common],
            Platform::MacOs => vec![home.join("Library/Application Support/gristmill"), common],
        }
    }

    /// Where what lasts is kept: approvals, tokens, pinned definitions.
    pub fn data_folder(&self) -> Option<PathBuf> {
        if let Some(folder) = self.variable("GRISTMILL_DATA_DIR") {
            return Some(self.absolute(Path::new(folder)));
        }
        if let Some(base) = self.folder("XDG_DATA_HOME") {
            return Some(base.join("gristmill"));
        }
        let home = self.home()?;
        Some(match self.platform {
            Platform::Unix => home.join(".local/share/gristmill"),
            Platform::MacOs => home.join("Library/Application Support/gristmill"),
        })
    }
}
