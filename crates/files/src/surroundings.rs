//! What the user's folders depend on: the environment, the current folder and the platform.
//!
//! Taken once at the start and handed on, so that tests can hold it still.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// What this process sees of the machine around it.
#[derive(Clone)]
pub struct Surroundings {
    pub environment: BTreeMap<OsString, OsString>,
    /// Where we were started.
    pub current_folder: PathBuf,
    pub platform: Platform,
}

/// By whose convention folders are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    Unix,
    /// XDG where it is set, `~/Library` otherwise.
    MacOs,
}

/// The environment is full of secrets.
impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Surroundings({}, {:?})", self.current_folder.display(), self.platform)
    }
}

impl Surroundings {
    pub fn of_this_process() -> io::Result<Self> {
        Ok(Self::started_in(std::env::current_dir()?))
    }

    /// Of this process, as if it had been started in that folder.
    pub(crate) fn started_in(current_folder: PathBuf) -> Self {
        let platform = if cfg!(target_os = "macos") { Platform::MacOs } else { Platform::Unix };
        Self { environment: std::env::vars_os().collect(), current_folder, platform }
    }

    /// A variable that is set to something.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.environment.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// A variable that is an absolute path. XDG says to ignore relative ones.
    pub fn folder(&self, name: &str) -> Option<PathBuf> {
        self.variable(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    pub fn home(&self) -> Option<PathBuf> {
        self.folder("HOME")
    }

    /// A path of a flag or a variable, as seen from where we were started.
    pub fn absolute(&self, path: &Path) -> PathBuf {
        self.current_folder.join(path)
    }

    /// Where the user's own configuration may be, best first.
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

    /// Where what lasts is kept: approvals, tokens, the database.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn surroundings(platform: Platform, variables: &[(&str, &str)]) -> Surroundings {
        let environment = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        Surroundings { environment, current_folder: "/work".into(), platform }
    }

    #[test]
    fn the_data_folder_is_found_by_the_most_specific_variable() {
        let check = |platform, variables: &[(&str, &str)], expected: Option<&str>| {
            let found = surroundings(platform, variables).data_folder();
            assert_eq!(found, expected.map(PathBuf::from), "{variables:?}");
        };
        let home = ("HOME", "/home/ada");
        check(Platform::Unix, &[], None);
        check(Platform::Unix, &[("HOME", "ada")], None);
        check(Platform::Unix, &[home], Some("/home/ada/.local/share/gristmill"));
        check(Platform::MacOs, &[home], Some("/home/ada/Library/Application Support/gristmill"));
        check(Platform::MacOs, &[home, ("XDG_DATA_HOME", "/xdg")], Some("/xdg/gristmill"));
        check(Platform::Unix, &[home, ("XDG_DATA_HOME", "xdg")], Some("/home/ada/.local/share/gristmill"));
        check(Platform::Unix, &[home, ("GRISTMILL_DATA_DIR", "data")], Some("/work/data"));
        check(Platform::Unix, &[home, ("GRISTMILL_DATA_DIR", "/data")], Some("/data"));
        check(Platform::Unix, &[home, ("GRISTMILL_DATA_DIR", "")], Some("/home/ada/.local/share/gristmill"));
    }

    #[test]
    fn configuration_is_looked_for_in_both_places_of_a_mac() {
        let home = ("HOME", "/home/ada");
        let found = |platform, variables: &[(&str, &str)]| surroundings(platform, variables).config_folders();
        assert_eq!(found(Platform::Unix, &[home]), [PathBuf::from("/home/ada/.config/gristmill")]);
        assert_eq!(
            found(Platform::MacOs, &[home]),
            ["/home/ada/Library/Application Support/gristmill", "/home/ada/.config/gristmill"]
                .map(PathBuf::from)
        );
        assert_eq!(
            found(Platform::MacOs, &[home, ("XDG_CONFIG_HOME", "/x")]),
            [PathBuf::from("/x/gristmill")]
        );
        assert!(found(Platform::Unix, &[]).is_empty());
    }

    #[test]
    fn printing_it_for_debugging_shows_no_variable() {
        let shown = format!("{:?}", surroundings(Platform::Unix, &[("TOKEN", "hunter2")]));
        assert_eq!(shown, "Surroundings(/work, Unix)");
    }
}
