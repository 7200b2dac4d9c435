//! The packages of an engine: a folder, and the lock that says exactly what is in it.
//!
//! Everything lies in the data folder, out of programs' reach for writing. A change makes a new folder beside the one
//! in use; the lock, which is replaced in one step, says which one counts.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use gristmill_files::{FileLock, remove_tree, replace_private};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// In the data folder: everything that `gristmill python` makes.
const FOLDER: &str = "python";
/// In that: the same once more, for the WebAssembly engine.
const WASM: &str = "wasm";
const LOCK: &str = "python.lock";
/// Held by whoever changes any of it.
const HELD: &str = ".changes";
/// What pip is asked for, while it is.
const WANTED: &str = ".wanted";
/// Before the name of a folder with packages.
const PACKAGES: &str = "packages-";
/// After the name of one that isn't whole.
const UNFINISHED: &str = ".unfinished";

/// The lock of another version of gristmill may mean something else.
const VERSION: u32 = 1;

/// What is in the environment.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct PythonLock {
    version: u32,
    /// The interpreter that they were chosen for.
    pub python: PathBuf,
    /// Its version.
    pub python_version: String,
    /// What was asked for, as it was written.
    pub requested: Vec<String>,
    /// All there is, by name.
    pub packages: Vec<LockedPackage>,
    /// The folder, beside the lock.
    folder: String,
}

/// One package: exactly this file.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct LockedPackage {
    pub name: String,
    pub version: String,
    /// Of the wheel.
    pub sha256: String,
    /// The wheel's name.
    pub file: String,
}

impl PythonLock {
    /// As pip reads it: each with its hash.
    pub fn requirements(&self) -> String {
        requirements(&self.packages)
    }
}

pub fn requirements(packages: &[LockedPackage]) -> String {
    let line = |package: &LockedPackage| {
        format!("{}=={} --hash=sha256:{}\n", package.name, package.version, package.sha256)
    };
    packages.iter().map(line).collect()
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A name as package indexes compare it.
pub fn canonical(name: &str) -> String {
    let folded = name.to_ascii_lowercase().replace(['_', '.'], "-");
    folded.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

/// The name in a requirement such as `pandas[excel]>=2`.
pub fn name_in(requirement: &str) -> String {
    let end = requirement.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)));
    canonical(&requirement[..end.unwrap_or(requirement.len())])
}

/// The place in a data folder.
pub struct PythonEnvironment {
    folder: PathBuf,
}

impl PythonEnvironment {
    pub fn in_data(data: &Path) -> Self {
        Self { folder: data.join(FOLDER) }
    }

    /// That of the WebAssembly engine, whose packages are pure Python.
    pub fn of_wasm(data: &Path) -> Self {
        Self { folder: data.join(FOLDER).join(WASM) }
    }

    /// What is in it; nothing if nothing was ever added.
    pub fn lock(&self) -> anyhow::Result<Option<PythonLock>> {
        let path = self.folder.join(LOCK);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("can't read {}", path.display())),
        };
        let damaged =
            || anyhow!("{} is damaged\nhint: remove it, and add the packages again", path.display());
        let lock: PythonLock = serde_json::from_slice(&text).map_err(|_| damaged())?;
        let is_plain = lock.folder.starts_with(PACKAGES) && !lock.folder.contains(['/', '\0']);
        if lock.version != VERSION || !is_plain { Err(damaged()) } else { Ok(Some(lock)) }
    }

    /// Where the packages are that a lock names.
    pub fn packages(&self, lock: &PythonLock) -> PathBuf {
        self.folder.join(&lock.folder)
    }

    /// Nobody else changes it meanwhile.
    pub fn hold(&self) -> anyhow::Result<FileLock> {
        gristmill_files::make_private_folder(&self.folder)
            .with_context(|| format!("can't create {}", self.folder.display()))?;
        FileLock::take(&self.folder.join(HELD)).map_err(anyhow::Error::from)
    }

    /// Where a list for pip lies while it's read. Held, or others write there, too.
    pub fn wanted_list(&self) -> PathBuf {
        self.folder.join(WANTED)
    }

    /// Puts other packages in place: `install` fills a folder with exactly these. Should that fail, everything is as it
    /// was.
    pub fn replace(
        &self,
        python: (PathBuf, String),
        requested: Vec<String>,
        packages: Vec<LockedPackage>,
        install: impl FnOnce(&Path) -> anyhow::Result<()>,
    ) -> anyhow::Result<PythonLock> {
        let before = self.lock().ok().flatten().map(|lock| lock.folder);
        let (python, python_version) = python;
        let what = format!("{python_version}\n{}", requirements(&packages));
        let mark = hex(&Sha256::digest(what.as_bytes()));
        let folder = format!("{PACKAGES}{}", &mark[..16]);
        let whole = self.folder.join(&folder);
        if !whole.is_dir() {
            let unfinished = self.folder.join(format!("{folder}{UNFINISHED}"));
            let _ = remove_tree(&unfinished);
            fs::create_dir(&unfinished).with_context(|| format!("can't create {}", unfinished.display()))?;
            if let Err(error) = install(&unfinished) {
                let _ = remove_tree(&unfinished);
                return Err(error);
            }
            fs::rename(&unfinished, &whole)?;
        }
        let lock = PythonLock { version: VERSION, python, python_version, requested, packages, folder };
        let path = self.folder.join(LOCK);
        replace_private(&path, format!("{:#}\n", serde_json::to_value(&lock)?).as_bytes())
            .with_context(|| format!("can't write {}", path.display()))?;
        // A gateway that runs may still use the one before.
        self.remove_but([Some(lock.folder.clone()), before].into_iter().flatten().collect());
        Ok(lock)
    }

    fn remove_but(&self, kept: BTreeSet<String>) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with(PACKAGES) && !kept.contains(&name) {
                let _ = remove_tree(&entry.path());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str) -> LockedPackage {
        LockedPackage {
            name: name.to_owned(),
            version: "1.0".to_owned(),
            sha256: "00".repeat(32),
            file: format!("{name}-1.0-py3-none-any.whl"),
        }
    }

    #[test]
    fn names_are_compared_as_indexes_do() {
        assert_eq!(canonical("Python_DateUtil"), "python-dateutil");
        assert_eq!(name_in("pandas[excel]>=2,<4"), "pandas");
        assert_eq!(name_in("scikit.learn == 1.5"), "scikit-learn");
    }

    #[test]
    fn what_fails_leaves_everything_as_it_was() {
        let data = gristmill_testkit::TestFolder::new("python-environment");
        let environment = PythonEnvironment::in_data(data.path());
        let _held = environment.hold().unwrap();
        assert_eq!(environment.lock().unwrap(), None);
        let python = || (PathBuf::from("/usr/bin/python3"), "3.11.2".to_owned());
        let first = environment
            .replace(python(), vec!["a".to_owned()], vec![package("a")], |folder| {
                Ok(fs::write(folder.join("a.py"), "x = 1")?)
            })
            .unwrap();
        assert!(environment.packages(&first).join("a.py").is_file());
        let failed = environment.replace(python(), vec!["b".to_owned()], vec![package("b")], |folder| {
            fs::write(folder.join("half.py"), "")?;
            Err(anyhow!("no network"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "no network");
        assert_eq!(environment.lock().unwrap(), Some(first.clone()));
        let unfinished = fs::read_dir(data.path().join(FOLDER)).unwrap().flatten();
        let unfinished = unfinished.filter(|entry| entry.file_name().to_string_lossy().contains(UNFINISHED));
        assert_eq!(unfinished.count(), 0);
    }

    #[test]
    fn a_lock_cannot_name_a_folder_elsewhere() {
        let data = gristmill_testkit::TestFolder::new("python-environment");
        let environment = PythonEnvironment::in_data(data.path());
        let _held = environment.hold().unwrap();
        let lock = PythonLock {
            version: VERSION,
            python: "/usr/bin/python3".into(),
            python_version: "3.11.2".to_owned(),
            requested: Vec::new(),
            packages: Vec::new(),
            folder: "packages-/../../etc".to_owned(),
        };
        fs::write(data.path().join(FOLDER).join(LOCK), serde_json::to_vec(&lock).unwrap()).unwrap();
        assert!(environment.lock().unwrap_err().to_string().contains("is damaged"));
    }
}
