//! `gristmill restore`: configuration and data from a backup, where there are none yet.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use clap::Args;
use flate2::read::GzDecoder;
use gristmill_config::Surroundings;
use gristmill_gateway::domain::{counted_grouped, format_bytes};
use gristmill_gateway::session::TarReader;
use rustix::process::Pid;

use super::backup::{CONFIG, DATA};
use super::{Failure, Outcome};
use crate::spinner::Spinner;
use crate::terminal::{eprint_lines, one_line};
use crate::upstreams;

#[derive(Args)]
pub struct Restore {
    /// A file made by `gristmill backup`
    pub file: PathBuf,
}

/// Beside the data while it is unpacked; the number of the process follows.
const UNPACKED: &str = ".restoring-";

/// What stays free on the disk, whatever an archive holds.
const FREE_BYTES_MIN: u64 = 64 * 1024 * 1024;

/// An archive ends with zeros; nothing else follows.
const PADDING_BYTES_MAX: u64 = 1024 * 1024;

/// Where things go. Nothing may be there yet.
struct Targets {
    config: PathBuf,
    data: PathBuf,
    /// Where it is unpacked to first, beside the data.
    unpacked: PathBuf,
}

pub fn restore(arguments: &Restore) -> Outcome {
    let surroundings = Surroundings::of_this_process().map_err(|error| Failure::Internal(error.into()))?;
    let opened = File::open(&arguments.file);
    let file = opened
        .map_err(|error| Failure::Usage(anyhow!("can't open {}: {error}", arguments.file.display())))?;
    let targets = Targets::of(&surroundings)?;
    targets.remove_what_a_kill_left();
    let spinner = Spinner::start(format!("restoring {} …", arguments.file.display()));
    let restored = unpack(file, &targets.unpacked).and_then(|files| targets.put_in_place().map(|()| files));
    // What is left of it is of no use.
    let _ = gristmill_files::remove_tree(&targets.unpacked);
    drop(spinner);
    let files = restored
        .with_context(|| format!("can't restore {}", arguments.file.display()))
        .map_err(Failure::Usage)?;
    println!("restored {}", counted_grouped(files, "file"));
    eprint_lines("hint: `gristmill doctor` checks everything");
    Ok(ExitCode::SUCCESS)
}

impl Targets {
    fn of(surroundings: &Surroundings) -> Result<Self, Failure> {
        let data = upstreams::default_data_folder(surroundings)?;
        let folders = surroundings.config_folders();
        let config = folders.first().cloned().ok_or_else(|| {
            Failure::Usage(anyhow!("no folder for your configuration; set HOME or XDG_CONFIG_HOME"))
        })?;
        // A folder that can't be looked into may hold anything.
        let is_empty = |folder: &Path| match fs::read_dir(folder) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        let in_the_way: Vec<_> = [&data, &config].into_iter().filter(|folder| !is_empty(folder)).collect();
        if !in_the_way.is_empty() {
            let names: Vec<String> = in_the_way.iter().map(|folder| folder.display().to_string()).collect();
            let moves: Vec<String> = names.iter().map(|name| format!("mv {name} {name}.old")).collect();
            let (what, them) = match names.as_slice() {
                [one] => (format!("{one} isn't empty"), "it"),
                several => (format!("{} aren't empty", several.join(" and ")), "them"),
            };
            let moves = moves.join(" && ");
            return Err(Failure::Usage(anyhow!(
                "{what}, and restore overwrites nothing\nhint: move {them} away first: {moves}"
            )));
        }
        let mut unpacked = data.clone().into_os_string();
        unpacked.push(format!("{UNPACKED}{}", std::process::id()));
        Ok(Self { config, data, unpacked: unpacked.into() })
    }

    /// What other restores unpacked and did not live to put in place.
    fn remove_what_a_kill_left(&self) {
        let (Some(parent), Some(data)) = (self.data.parent(), self.data.file_name()) else { return };
        let prefix = format!("{}{UNPACKED}", data.to_string_lossy());
        for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let process = name.to_str().and_then(|name| name.strip_prefix(&prefix)?.parse().ok());
            let is_gone = process.and_then(Pid::from_raw).is_some_and(|process| {
                rustix::process::test_kill_process(process) == Err(rustix::io::Errno::SRCH)
            });
            if is_gone {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Each appears whole.
    fn put_in_place(&self) -> anyhow::Result<()> {
        for (name, target) in [(DATA, &self.data), (CONFIG, &self.config)] {
            let from = self.unpacked.join(name);
            if !from.exists() {
                continue;
            }
            if let Some(parent) = target.parent() {
                fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
            }
            // An empty one may be there.
            let _ = fs::remove_dir(target);
            let moved = fs::rename(&from, target).or_else(|_| copy_folder(&from, target));
            moved.with_context(|| format!("can't write {}", target.display()))?;
        }
        Ok(())
    }
}

/// Unpacks an archive, which may come from anywhere; gives how many files it has.
fn unpack(file: File, to: &Path) -> anyhow::Result<usize> {
    let mut packed = GzDecoder::new(BufReader::new(file));
    let mut archive = TarReader::new(&mut packed);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(to)?;
    let mut files = 0;
    while let Some(entry) = archive.next_entry()? {
        let path = to.join(inside(&entry.path, entry.is_folder)?);
        if entry.is_folder {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(&path)?;
            continue;
        }
        if let Some(parent) = path.parent() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        }
        check_room(to, entry.size)?;
        let mut made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let copied = io::copy(&mut archive.content(), &mut made)?;
        if copied != entry.size {
            bail!("it ends too early");
        }
        files += 1;
    }
    if files == 0 {
        bail!("it's empty");
    }
    // The checksum is behind everything else.
    let rest = io::copy(&mut packed.take(PADDING_BYTES_MAX), &mut io::sink()).context("it's damaged")?;
    if rest == PADDING_BYTES_MAX {
        bail!("it's damaged: it goes on behind its end");
    }
    Ok(files)
}

/// A few kilobytes unpack to as many gigabytes as their maker likes.
fn check_room(folder: &Path, bytes: u64) -> anyhow::Result<()> {
    let disk = rustix::fs::statvfs(folder)?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if bytes.saturating_add(FREE_BYTES_MIN) > free {
        bail!(
            "the next file takes {}, and {} has {} free",
            format_bytes(bytes),
            folder.display(),
            format_bytes(free)
        );
    }
    Ok(())
}

/// A path below `config` or `data`, or one of these folders, and nowhere else.
fn inside(name: &str, is_folder: bool) -> anyhow::Result<&Path> {
    let path = Path::new(name);
    let mut parts = path.components();
    let first = parts.next();
    let is_ours = [CONFIG, DATA].iter().any(|name| first == Some(Component::Normal(name.as_ref())));
    let is_below = is_folder || path.components().count() > 1;
    if !is_ours || !is_below || !parts.all(|part| matches!(part, Component::Normal(_))) {
        bail!("it isn't a backup of Gristmill: it holds `{}`", one_line(name));
    }
    Ok(path)
}

/// Where a rename does not reach: another file system.
fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy_folder(&entry.path(), &target)?,
            false => {
                let mut made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(target)?;
                io::copy(&mut File::open(entry.path())?, &mut made)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_that_would_fill_the_disk_is_refused_before_it_does() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(check_room(folder.path(), 1).is_ok());
        let why = check_room(folder.path(), u64::MAX).expect_err("no disk is that large").to_string();
        assert!(why.contains("free"), "{why}");
    }

    #[test]
    fn what_a_killed_restore_left_goes_and_what_another_unpacks_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path().join("data");
        let targets = Targets { config: folder.path().join("config"), unpacked: data.clone(), data };
        // No process has this number: Linux ends at 2^22.
        let [left, living] = [i32::MAX.to_string(), std::process::id().to_string()]
            .map(|process| folder.path().join(format!("data{UNPACKED}{process}")));
        for path in [&left, &living] {
            fs::create_dir(path).expect("a folder");
        }
        targets.remove_what_a_kill_left();
        assert_eq!((left.exists(), living.exists()), (false, true));
    }

    #[test]
    fn a_path_out_of_the_two_folders_is_refused() {
        for good in ["data", "data/gristmill.db", "config/gristmill.toml", "data/a/b"] {
            assert!(inside(good, good == "data").is_ok(), "{good}");
        }
        for bad in ["", "/data/a", "data/../a", "../data", "other/a", "data/a/../../../b", "gristmill.toml"] {
            assert!(inside(bad, false).is_err() && inside(bad, true).is_err(), "{bad}");
        }
        assert!(inside("data", false).is_err(), "a file in place of the folder");
    }
}
