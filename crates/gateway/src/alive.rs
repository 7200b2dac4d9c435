//! Which gateways are still there: each holds a lock on a file of its own, which the kernel lets go
//! of however the gateway ends.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags, flock};

use crate::ids::ExecutionId;

/// Below the data folder.
const FOLDER: &str = "gateways";

/// Names that were taken away under us. One is rare, two are an accident.
const ATTEMPTS_MAX: usize = 16;

/// This gateway, as others see it.
pub(crate) struct Alive {
    pub gateway: String,
    held: Option<(PathBuf, File)>,
}

impl Alive {
    /// Where there is a folder, in which others look; a database in memory has no others.
    pub fn take(data_folder: Option<&Path>) -> io::Result<Self> {
        let new_name = || {
            ExecutionId::new()
                .map(|id| id.as_str().to_owned())
                .map_err(|error| io::Error::other(error.to_string()))
        };
        let Some(data_folder) = data_folder else { return Ok(Self { gateway: new_name()?, held: None }) };
        let folder = data_folder.join(FOLDER);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        for _ in 0..ATTEMPTS_MAX {
            let gateway = new_name()?;
            let path = folder.join(&gateway);
            let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
            // Somebody who clears away may have been quicker: then this name is not ours.
            let is_held = flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
            if is_held && file.metadata()?.nlink() > 0 {
                return Ok(Self { gateway, held: Some((path, file)) });
            }
        }
        Err(io::Error::other("no lock can be held in the data folder"))
    }

    /// Those of `gateways` that are gone. What they left in the folder goes, too.
    pub fn gone_among(&self, gateways: Vec<String>) -> Vec<String> {
        let others = gateways.into_iter().filter(|gateway| *gateway != self.gateway);
        let Some((own, _)) = &self.held else { return others.collect() };
        let folder = own.parent().unwrap_or(own);
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.path() != *own {
                remove_if_abandoned(&entry.path());
            }
        }
        others.filter(|gateway| !folder.join(gateway).exists()).collect()
    }
}

impl Alive {
    /// Everyone who holds a lock here, this gateway included.
    pub fn all_alive(&self) -> Vec<String> {
        let Some((own, _)) = &self.held else { return vec![self.gateway.clone()] };
        let mut alive = vec![self.gateway.clone()];
        for entry in fs::read_dir(own.parent().unwrap_or(own)).into_iter().flatten().flatten() {
            let path = entry.path();
            if path != *own && is_held(&path) {
                alive.extend(entry.file_name().into_string());
            }
        }
        alive
    }

    /// Nothing of this gateway runs any more.
    pub fn leave(&self) {
        if let Some((path, _held)) = &self.held {
            let _ = fs::remove_file(path);
        }
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.leave();
    }
}

/// A file whose lock can be had belongs to nobody any more.
fn remove_if_abandoned(path: &Path) {
    if let Some(_lock) = lock_of(path) {
        let _ = fs::remove_file(path);
    }
}

/// Whether a gateway on this data folder runs.
pub(crate) fn is_gateway_alive(data_folder: &Path, gateway: &str) -> bool {
    is_held(&data_folder.join(FOLDER).join(gateway))
}

fn is_held(path: &Path) -> bool {
    path.exists() && lock_of(path).is_none()
}

/// The lock of a file, if it can be had.
pub(crate) fn lock_of(path: &Path) -> Option<rustix::fd::OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty()).ok()?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok().then_some(file)
}

#[cfg(test)]
mod tests {
    use gristmill_testkit::TestFolder;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder.join(FOLDER))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_gateway_that_is_gone_is_told_from_one_that_runs() {
        let folder = TestFolder::new("alive");
        let ours = Alive::take(Some(folder.path())).unwrap();
        let other = Alive::take(Some(folder.path())).unwrap();
        // As one that was killed leaves it: a file, and no lock.
        fs::write(folder.path().join(FOLDER).join("killed"), "").unwrap();
        let all = ["killed", &ours.gateway, &other.gateway, "never-there"].map(str::to_owned).to_vec();
        let mut alive = ours.all_alive();
        alive.sort();
        let mut both = vec![ours.gateway.clone(), other.gateway.clone()];
        both.sort();
        assert_eq!(alive, both);
        assert_eq!(ours.gone_among(all), ["killed", "never-there"]);
        let mut running = [ours.gateway.clone(), other.gateway.clone()];
        running.sort();
        assert_eq!(names(folder.path()), running);
        let name = other.gateway.clone();
        drop(other);
        assert_eq!(ours.gone_among(vec![name.clone()]), [name]);
    }
}
