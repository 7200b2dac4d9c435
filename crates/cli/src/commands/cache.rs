//! `gristmill cache`: what can be made again, and takes room meanwhile.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::ExitCode;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use gristmill_gateway::Folders;
use gristmill_gateway::domain::format_bytes;
use rustix::fs::{FlockOperation, OFlags, flock};
use serde_json::json;

use super::{Failure, Outcome};
use crate::terminal::eprint_lines;

#[derive(Args)]
pub struct Cache {
    #[command(subcommand)]
    pub command: CacheCommand,
}

#[derive(Subcommand)]
pub enum CacheCommand {
    /// Delete cached files; Gristmill makes them again when it needs them
    ///
    /// Sessions, results, history, skills, approvals and logins are data, and are never touched.
    Clean {
        /// Also delete the servers' stderr logs
        #[arg(long)]
        logs: bool,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the cache folder
    Path,
}

/// What may go, below the folder of caches. Nothing else there is touched.
const PARTS: [(&str, &str); 7] = [
    ("engines", "unpacked engines"),
    ("offers", "tool lists of servers"),
    ("trees", "tool stubs"),
    ("skill-trees", "skill stubs"),
    ("meanings", "tools as vectors, and what was used after searches"),
    ("models", "what language models take"),
    ("demo", "the demo's servers"),
];
const LOGS: (&str, &str) = ("logs", "server logs");

/// One part, and what became of it.
struct Cleaned {
    what: &'static str,
    bytes: u64,
    /// In use by another process.
    kept: usize,
}

pub fn cache(arguments: Cache) -> Outcome {
    let folder = Folders::from_environment().map_err(|error| Failure::Usage(error.into()))?.cache;
    match arguments.command {
        CacheCommand::Path => println!("{}", folder.display()),
        CacheCommand::Clean { logs, json } => {
            let parts = PARTS.into_iter().chain(logs.then_some(LOGS));
            let cleaned = parts.map(|(name, what)| clean(&folder.join(name), what));
            let cleaned: Vec<Cleaned> = cleaned.collect::<Result<_, _>>()?;
            print(&cleaned, json);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn print(cleaned: &[Cleaned], json: bool) {
    let total: u64 = cleaned.iter().map(|part| part.bytes).sum();
    let kept: usize = cleaned.iter().map(|part| part.kept).sum();
    if json {
        let parts = cleaned.iter().map(|part| json!({ "what": part.what, "bytes": part.bytes }));
        println!("{:#}", json!({ "freed_bytes": total, "kept": kept, "parts": parts.collect::<Vec<_>>() }));
        return;
    }
    for part in cleaned.iter().filter(|part| part.bytes > 0) {
        println!("{:>10}  {}", format_bytes(part.bytes), part.what);
    }
    match total {
        0 => println!("nothing to clean"),
        total => println!("freed {}", format_bytes(total)),
    }
    if kept > 0 {
        eprint_lines(&format!("note: kept {kept} that a running gristmill uses"));
    }
}

fn clean(folder: &Path, what: &'static str) -> Result<Cleaned, Failure> {
    let mut cleaned = Cleaned { what, bytes: 0, kept: 0 };
    let failed = |error: io::Error| Failure::Internal(anyhow!("can't clean {}: {error}", folder.display()));
    match folder.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => {}
        // Somebody keeps it elsewhere: what is there is theirs.
        Ok(_) => return Ok(cleaned),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(cleaned),
        Err(error) => return Err(failed(error)),
    }
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        // The lock of a tree goes with its tree.
        if path.extension().is_some_and(|extension| extension == "lock") {
            continue;
        }
        let Some(lock) = unused(&path) else {
            cleaned.kept += 1;
            continue;
        };
        cleaned.bytes += remove(&path).map_err(failed)?;
        if lock.is_some() {
            fs::remove_file(lock_of(&path)).map_err(failed)?;
        }
    }
    Ok(cleaned)
}

/// Whether no other process holds it. One that has a lock is locked as long as this is held.
fn unused(path: &Path) -> Option<Option<File>> {
    // A pipe in its place must not hold us up.
    let flags = OFlags::NONBLOCK.bits() as i32;
    let Ok(lock) = OpenOptions::new().write(true).custom_flags(flags).open(lock_of(path)) else {
        return Some(None);
    };
    flock(&lock, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some(Some(lock))
}

fn lock_of(path: &Path) -> std::path::PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// Removes a file or a folder with all in it, through no link; gives its size.
fn remove(path: &Path) -> io::Result<u64> {
    let metadata = path.symlink_metadata()?;
    if !metadata.is_dir() {
        fs::remove_file(path)?;
        return Ok(metadata.len());
    }
    gristmill_files::remove_tree_counted(path)
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use rustix::fs::Mode;

    use super::*;

    #[test]
    fn what_is_in_use_and_what_lies_behind_a_link_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let (trees, elsewhere) = (folder.path().join("trees"), folder.path().join("elsewhere"));
        for tree in ["used", "unused"] {
            fs::create_dir_all(trees.join(tree).join("shop")).expect("a tree");
            fs::write(trees.join(tree).join("shop/a.py"), "12345").expect("a file");
            fs::write(trees.join(format!("{tree}.lock")), "").expect("a lock");
        }
        fs::set_permissions(trees.join("unused/shop"), Permissions::from_mode(0o500)).expect("a mode");
        fs::create_dir(&elsewhere).expect("a folder");
        fs::write(elsewhere.join("theirs"), "x").expect("a file");
        std::os::unix::fs::symlink(&elsewhere, trees.join("link")).expect("a link");
        let held = File::open(trees.join("used.lock")).expect("a lock");
        flock(&held, FlockOperation::LockShared).expect("it is free");
        let cleaned = clean(&trees, "tool stubs").unwrap_or_else(|_| panic!("it can be cleaned"));
        assert_eq!(cleaned.kept, 1);
        assert!(trees.join("used/shop/a.py").exists() && elsewhere.join("theirs").exists());
        assert!(!trees.join("unused").exists() && !trees.join("unused.lock").exists());
        assert!(cleaned.bytes >= 5, "{}", cleaned.bytes);
    }

    #[test]
    fn folders_nested_twenty_thousand_deep_are_cleaned_on_a_small_stack() {
        let folder = tempfile::tempdir().expect("a folder");
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let mut at = rustix::fs::open(folder.path(), flags, Mode::empty()).expect("a folder");
        for _ in 0..20_000 {
            rustix::fs::mkdirat(&at, "d", Mode::RWXU).expect("a folder");
            at = rustix::fs::openat(&at, "d", flags, Mode::empty()).expect("a folder");
        }
        let file =
            rustix::fs::openat(&at, "file", OFlags::WRONLY | OFlags::CREATE, Mode::RUSR).expect("a file");
        rustix::io::write(&file, b"12345").expect("written");
        let path = folder.path().to_owned();
        let thread = std::thread::Builder::new().stack_size(256 * 1024);
        let cleaned = thread.spawn(move || clean(&path, "tool stubs").map_err(|_| ()));
        let cleaned = cleaned.expect("a thread").join().expect("it ends").expect("it can be cleaned");
        assert_eq!((cleaned.bytes, cleaned.kept), (5, 0));
        assert_eq!(fs::read_dir(folder.path()).expect("it stays").count(), 0);
    }
}
