//! What the native engine sees of the file system: the interpreter, its packages and the machine's shared libraries,
//! read-only; and, in each child, the folders of its program at their names.
//!
//! The zygote moves into the view with the machine's own files behind [`OLD`], since a program's folders are
//! somewhere among them. A child has mounts of its own: it shows itself the folders that came with its program, and
//! lets go of the rest for good. Only the zygote and children without a program ever have more.

use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use gristmill_protocol::MountAccess;
use rustix::fs::{AtFlags, CWD};
use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags};
use rustix::mount::{mount, mount_bind_recursive, mount_change, mount_remount, unmount};

use super::server_view::{NO_DEVICES, NO_EXEC, NO_SETUID, READ_ONLY, empty_file, set_flags, within};
use crate::engine::MountedFolder;
use crate::jail::JailError;

/// Where a program's own files are.
pub const WORKSPACE: &str = "/workspace";

/// The places of a program's folders; those that it may write to first.
pub(super) const POINTS: [&str; 5] = ["workspace", "tmp", "servers", "skills", "results"];
pub(super) const WRITABLE: usize = 2;

/// The machine's own files, for as long as they can be seen.
const OLD: &str = "/.machine";

/// Devices that libraries open, each harmless.
pub const DEVICES: [&str; 3] = ["/dev/null", "/dev/random", "/dev/urandom"];

/// What programs find as the machine's name.
pub(super) const HOST_NAME: &[u8] = b"sandbox";

const EMPTY: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV);

/// A folder or a file of the machine, and where the view has it.
#[derive(Clone, Debug)]
pub struct ShownPath {
    pub from: PathBuf,
    pub at: PathBuf,
}

/// Moves this process, which is in namespaces, into the view.
pub fn enter(shown: &[ShownPath], multiarch: &str) -> Result<(), JailError> {
    // What the machine is called is nobody's business.
    rustix::system::sethostname(HOST_NAME).map_err(|error| JailError::new("own host name", error))?;
    move_in(shown, multiarch).map_err(|error| JailError::new("own root", error))
}

fn move_in(shown: &[ShownPath], multiarch: &str) -> io::Result<()> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    // Any folder serves: it is covered in our own view only.
    let over = ["/tmp", "/run", "/dev"].into_iter().find(|path| Path::new(path).is_dir()).unwrap_or("/tmp");
    let root = Path::new(over);
    let mut shown = shown.to_vec();
    shown.extend(
        library_folders(multiarch).into_iter().map(|path| ShownPath { from: path.clone(), at: path }),
    );
    // Opened before the folder is covered: what is shown may lie beneath it.
    let mut opened = Vec::new();
    for ShownPath { from, at } in shown {
        let from = fs::canonicalize(&from)?;
        let flags = rustix::fs::OFlags::PATH | rustix::fs::OFlags::CLOEXEC;
        opened.push((rustix::fs::open(&from, flags, rustix::fs::Mode::empty())?, from.is_dir(), at));
    }
    mount("none", root, "tmpfs", EMPTY, Some(c"size=1m,mode=0755"))?;
    for (from, is_folder, at) in &opened {
        let at = within(root, at);
        if *is_folder {
            fs::create_dir_all(&at)?;
        } else {
            empty_file(&at)?;
        }
        mount_bind_recursive(format!("/proc/self/fd/{}", from.as_raw_fd()), &at)?;
        set_flags(&at, READ_ONLY | NO_SETUID | NO_DEVICES)?;
    }
    for device in DEVICES {
        let at = within(root, Path::new(device));
        empty_file(&at)?;
        mount_bind_recursive(device, &at)?;
        set_flags(&at, NO_SETUID)?;
    }
    for point in POINTS {
        fs::create_dir(root.join(point))?;
    }
    links(root)?;
    let old = within(root, Path::new(OLD));
    fs::create_dir(&old)?;
    rustix::process::chdir(root)?;
    rustix::process::pivot_root(".", OLD.trim_start_matches('/'))?;
    rustix::process::chdir("/")?;
    mount_remount("/", EMPTY | MountFlags::RDONLY | MountFlags::BIND, "")
        .map_err(|error| io::Error::new(io::Error::from(error).kind(), format!("read-only root: {error}")))
}

/// Where the machine's shared libraries are, and the list by which they are found; by every name that they have.
fn library_names(multiarch: &str) -> Vec<String> {
    let named = [format!("/usr/lib/{multiarch}"), format!("/lib/{multiarch}")];
    let named = named.into_iter().filter(|_| !multiarch.is_empty());
    named.chain(["/usr/lib64", "/lib64", "/etc/ld.so.cache"].map(str::to_owned)).collect()
}

/// The same without those that lead to another.
fn library_folders(multiarch: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for path in library_names(multiarch) {
        match fs::canonicalize(path) {
            Ok(path) if !found.contains(&path) => found.push(path),
            Ok(_) | Err(_) => {}
        }
    }
    found
}

/// All that the view has, for a process that only translates names.
pub fn names(shown: &[ShownPath], multiarch: &str) -> Vec<ShownPath> {
    let libraries =
        library_folders(multiarch).into_iter().chain(library_names(multiarch).into_iter().map(PathBuf::from));
    let own =
        libraries.chain(DEVICES.map(PathBuf::from)).map(|path| ShownPath { from: path.clone(), at: path });
    // What a machine doesn't have, it doesn't show.
    shown.iter().cloned().chain(own.filter(|shown| shown.from.exists())).collect()
}

/// Links at the top, such as `/lib64`, and one to the processes, which leads nowhere once the machine's files are
/// gone.
fn links(root: &Path) -> io::Result<()> {
    for entry in
        fs::read_dir("/")?.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()))
    {
        if let Ok(to) = fs::read_link(entry.path()) {
            let _ = std::os::unix::fs::symlink(to, within(root, &entry.path()));
        }
    }
    std::os::unix::fs::symlink(format!("{}/proc", OLD.trim_start_matches('/')), root.join("proc"))
}

/// In a child: from here on what it mounts is seen by nobody else.
pub fn own_mounts() -> Result<(), JailError> {
    // SAFETY: one thread; it only gets a copy of the mounts.
    let outcome = unsafe { libc::unshare(libc::CLONE_NEWNS) };
    if outcome < 0 { Err(JailError::new("own mounts", io::Error::last_os_error())) } else { Ok(()) }
}

/// In a child: shows it the folders of its program, and nothing else of the machine any more. Cannot be undone once
/// its capabilities are gone.
pub fn show_folders(folders: &[MountedFolder]) -> Result<(), JailError> {
    for folder in folders {
        show(folder).map_err(|error| JailError::new("folders", format!("/{}: {error}", folder.name)))?;
    }
    unmount(OLD, UnmountFlags::DETACH).map_err(|error| JailError::new("own root", error))
}

fn show(folder: &MountedFolder) -> io::Result<()> {
    if !POINTS.contains(&folder.name.as_str()) {
        return Err(io::Error::other("no place has this name"));
    }
    let path = fs::read_link(format!("/proc/self/fd/{}", folder.fd.as_raw_fd()))?;
    let (from, at) = (within(Path::new(OLD), &path), Path::new("/").join(&folder.name));
    mount_bind_recursive(&from, &at)?;
    let flags = NO_SETUID | NO_DEVICES | NO_EXEC;
    set_flags(
        &at,
        match folder.access {
            MountAccess::ReadWrite => flags,
            MountAccess::ReadOnly | MountAccess::ByName => flags | READ_ONLY,
        },
    )?;
    let (wanted, found) = (rustix::fs::fstat(&folder.fd)?, rustix::fs::statat(CWD, &at, AtFlags::empty())?);
    match (wanted.st_dev, wanted.st_ino) == (found.st_dev, found.st_ino) {
        true => Ok(()),
        false => Err(io::Error::other(
            "it lies on a file system that was mounted after gristmill was started; restart gristmill",
        )),
    }
}

/// What a child may read of the machine, for landlock.
pub fn readable(shown: &[ShownPath], multiarch: &str) -> Vec<PathBuf> {
    let paths = shown.iter().map(|shown| shown.at.clone()).chain(library_folders(multiarch));
    paths.chain(DEVICES.map(PathBuf::from)).collect()
}

/// Bytes and entries in the folders that a program may write to; counts no further than `entries_max`.
pub fn in_writable_folders(entries_max: u64) -> (u64, u64) {
    let (mut bytes, mut entries) = (0, 0);
    let mut left: Vec<PathBuf> = POINTS[..WRITABLE].iter().map(|point| Path::new("/").join(point)).collect();
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entries >= entries_max {
                return (bytes, entries);
            }
            entries += 1;
            match entry.metadata() {
                Ok(about) if about.is_dir() => left.push(entry.path()),
                Ok(about) => bytes += about.len(),
                Err(_) => {}
            }
        }
    }
    (bytes, entries)
}

/// Threads of this process, for as long as /proc can be seen.
pub fn thread_count() -> io::Result<usize> {
    fs::read_dir("/proc/self/task").map(Iterator::count)
}
