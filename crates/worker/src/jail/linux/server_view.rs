//! A confined server's own view of the file system: its paths, a few devices, its own processes, and
//! nothing else. What is not in the view cannot be named: no file, no socket of another program.

use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use gristmill_protocol::{SandboxedAccess, SandboxedPath, ServerSandbox};
use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags};
use rustix::mount::{mount, mount_bind_recursive, mount_change, mount_remount, unmount};

/// Where it finds its temporary files, in its own view.
pub const TEMPORARY: &str = "/tmp";

/// Devices that programs expect, each harmless.
pub const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Names for what a process has open already.
const DEVICE_LINKS: [(&str, &str); 4] = [
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
];

const EMPTY: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV);

enum Place {
    /// Something of the machine, or of ours, at a path.
    Shown {
        from: PathBuf,
        access: SandboxedAccess,
    },
    Hidden,
}

/// Puts the view together and moves into it. On an error nothing has changed for this process.
pub fn enter(sandbox: &ServerSandbox) -> io::Result<()> {
    let root = sandbox.root();
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    mount("none", &root, "tmpfs", EMPTY, Some(c"size=1m,mode=0755"))?;
    let mut hidden = Vec::new();
    for (path, place) in places(sandbox) {
        let at = within(&root, &path);
        match place {
            Place::Hidden if at.is_dir() => {
                mount("none", &at, "tmpfs", EMPTY, Some(c"size=64k,mode=0755"))?;
                hidden.push(path);
            }
            Place::Hidden => {}
            Place::Shown { from, access } => show(&from, &at, access)?,
        }
    }
    devices_and_processes(&root)?;
    links(&root, sandbox);
    let folder = std::env::current_dir();
    rustix::process::chdir(&root)?;
    rustix::process::pivot_root(".", ".")?;
    unmount(".", UnmountFlags::DETACH)?;
    for path in hidden.iter().map(PathBuf::as_path).chain([Path::new("/")]) {
        mount_remount(path, EMPTY | MountFlags::RDONLY | MountFlags::BIND, "")?;
    }
    // Where it was started, if that is still there.
    if folder.and_then(std::env::set_current_dir).is_err() {
        rustix::process::chdir(TEMPORARY)?;
    }
    Ok(())
}

/// Outer folders come before what is in them.
fn places(sandbox: &ServerSandbox) -> Vec<(PathBuf, Place)> {
    let shown = |given: &SandboxedPath| {
        (given.path.clone(), Place::Shown { from: given.path.clone(), access: given.access })
    };
    let mut places: Vec<(PathBuf, Place)> = sandbox.paths.iter().map(shown).collect();
    places.extend(sandbox.hidden.iter().map(|path| (path.clone(), Place::Hidden)));
    if !sandbox.paths.iter().any(|given| given.path == Path::new(TEMPORARY)) {
        let ours = Place::Shown { from: sandbox.temporary(), access: SandboxedAccess::Write };
        places.push((TEMPORARY.into(), ours));
    }
    places.sort_by(|(one, _), (other, _)| one.cmp(other));
    places
}

pub(super) fn within(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

fn show(from: &Path, at: &Path, access: SandboxedAccess) -> io::Result<()> {
    let Ok(about) = fs::metadata(from) else { return Ok(()) };
    if about.is_dir() {
        fs::create_dir_all(at)?;
    } else {
        empty_file(at)?;
    }
    // What cannot be shown is not there.
    if mount_bind_recursive(from, at).is_err() {
        return Ok(());
    }
    set_flags(
        at,
        match access {
            SandboxedAccess::Read => READ_ONLY | NO_SETUID | NO_DEVICES,
            SandboxedAccess::Write => NO_SETUID | NO_DEVICES,
        },
    )
}

/// A place for a file, unless a folder above is shown already, and the file with it.
pub(super) fn empty_file(at: &Path) -> io::Result<()> {
    if at.exists() {
        return Ok(());
    }
    if let Some(folder) = at.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::File::options().create(true).append(true).open(at).map(drop)
}

fn devices_and_processes(root: &Path) -> io::Result<()> {
    for device in DEVICES {
        let at = within(root, Path::new(device));
        empty_file(&at)?;
        mount_bind_recursive(device, &at)?;
        set_flags(&at, NO_SETUID)?;
    }
    for (link, to) in DEVICE_LINKS {
        std::os::unix::fs::symlink(to, within(root, Path::new(link)))?;
    }
    let processes = root.join("proc");
    fs::create_dir_all(&processes)?;
    // Where the machine's own is masked, as in most containers, there is none here.
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    let _ = mount("proc", &processes, "proc", flags, None::<&CStr>);
    Ok(())
}

/// Links that lead to what is shown: those at the top, such as `/bin`, and those in paths as they were
/// written. A link that cannot be made is done without.
fn links(root: &Path, sandbox: &ServerSandbox) {
    let top = fs::read_dir("/").into_iter().flatten().flatten();
    let top = top.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
    for link in top.map(|entry| entry.path()) {
        if let Ok(to) = fs::read_link(&link) {
            let _ = std::os::unix::fs::symlink(to, within(root, &link));
        }
    }
    for link in &sandbox.links {
        let (Ok(to), Some(folder)) = (fs::canonicalize(link), link.parent()) else { continue };
        let ours = within(root, folder);
        // Through a link we would leave the view that is being made.
        let mut above = ours.ancestors().take_while(|path| path.starts_with(root));
        if above.any(Path::is_symlink) || fs::create_dir_all(&ours).is_err() {
            continue;
        }
        let _ = std::os::unix::fs::symlink(to, within(root, link));
    }
}

pub(super) const READ_ONLY: u64 = 1;
pub(super) const NO_SETUID: u64 = 2;
pub(super) const NO_DEVICES: u64 = 4;
pub(super) const NO_EXEC: u64 = 8;

/// Of a mount and all that are below it.
pub(super) fn set_flags(at: &Path, flags: u64) -> io::Result<()> {
    let path = CString::new(at.as_os_str().as_bytes())?;
    let attributes: [u64; 4] = [flags, 0, 0, 0];
    // SAFETY: the path and the four numbers, which are the kernel's `mount_attr`, outlive the call.
    let outcome = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            libc::AT_RECURSIVE,
            attributes.as_ptr(),
            size_of_val(&attributes),
        )
    };
    if outcome < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
