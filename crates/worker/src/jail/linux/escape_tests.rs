//! What is left to someone who has broken out of the engine and makes system calls at will: each attempt
//! is made natively, in a child behind the same walls as a program's or an analysis's.
//!
//! Each wall has its positive control: the same attempt without it goes through.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

use gristmill_protocol::{AnalysisLimits, ChildKind, MountAccess, ProgramLimits};
use gristmill_testkit::TestFolder;
use rustix::process::{WaitOptions, WaitStatus};

use super::{Prepared, analysis_calls, detach_child, landlock_rules, memory_use, system_calls};
use crate::engine::MountedFolder;
use crate::fork::{Forked, exit_now, fork};

/// Exit codes of an attempt; others are error numbers of the system.
const WENT_THROUGH: i32 = 200;
const NOT_CONFINED: i32 = 201;

/// More than the memory of any child.
const HUGE_BYTES: usize = 6 << 30;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Walls {
    Program,
    Analysis,
    /// The positive control: a child that has only let go of what was the zygote's.
    None,
}

fn prepared() -> Prepared {
    Prepared {
        system_calls: Some(system_calls::filter().unwrap()),
        analysis_calls: Some(analysis_calls::filter().unwrap()),
        landlock_abi: landlock_rules::abi(),
        data_bytes: memory_use::data_bytes(),
        native: None,
        walls: Vec::new(),
    }
}

/// A workspace beside which lies what nobody is to see.
struct Ground {
    folder: TestFolder,
}

impl Ground {
    fn new() -> Self {
        let folder = TestFolder::new("escape");
        std::fs::create_dir_all(folder.path().join("workspace/inner")).unwrap();
        std::fs::write(folder.path().join("workspace/file"), "own").unwrap();
        std::fs::write(folder.path().join("secret"), "secret").unwrap();
        std::os::unix::fs::symlink("/target-of-a-link", folder.path().join("link")).unwrap();
        Self { folder }
    }

    /// How a child ends that tries this behind the walls, with a descriptor of its workspace.
    fn try_behind(&self, walls: Walls, attempt: impl FnOnce(i32) -> i32) -> WaitStatus {
        let prepared = prepared();
        let (_ours, theirs) = UnixStream::pair().unwrap();
        let workspace = self.folder.path().join("workspace");
        let workspace = std::ffi::CString::new(workspace.into_os_string().into_encoded_bytes()).unwrap();
        match fork().unwrap() {
            Forked::Child => exit_now(match confined(walls, theirs.into(), &workspace, &prepared) {
                Some(workspace) => attempt(workspace.as_raw_fd()),
                None => NOT_CONFINED,
            }),
            Forked::Parent(pid) => {
                let ended = rustix::process::waitpid(Some(pid), WaitOptions::empty()).unwrap();
                ended.expect("it was waited for").1
            }
        }
    }
}

fn confined(walls: Walls, socket: OwnedFd, workspace: &CStr, prepared: &Prepared) -> Option<OwnedFd> {
    let kind = if walls == Walls::Analysis { ChildKind::Analysis } else { ChildKind::Programs };
    std::mem::forget(detach_child(socket, kind).ok()?);
    rustix::thread::set_no_new_privs(true).ok()?;
    let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::DIRECTORY;
    let fd = rustix::fs::open(workspace, flags, rustix::fs::Mode::empty()).ok()?;
    match walls {
        Walls::None => Some(fd),
        Walls::Program => {
            prepared.filter_system_calls().ok()?;
            let mount = MountedFolder { name: "workspace".to_owned(), fd, access: MountAccess::ReadWrite };
            let mounts = [mount];
            prepared.confine_to(&mounts, &ProgramLimits::TRUSTED).ok()?;
            let [mount] = mounts;
            Some(mount.fd)
        }
        Walls::Analysis => {
            prepared.filter_analysis_calls().ok()?;
            let limits = AnalysisLimits { memory_bytes: 64 << 20, output_bytes: 1 << 20, cpu_ms: 10_000 };
            prepared.confine_analysis(&limits).ok()?;
            Some(fd)
        }
    }
}

/// The outcome of a raw call as an exit code.
fn code(outcome: i64) -> i32 {
    if outcome < 0 { std::io::Error::last_os_error().raw_os_error().unwrap_or(0) } else { WENT_THROUGH }
}

fn stat_by_name(folder: i32, name: &CStr, flags: i32) -> i32 {
    let mut space = [0u8; 512];
    // SAFETY: a name that ends, and more room than the structure takes.
    code(unsafe { libc::syscall(libc::SYS_newfstatat, folder, name.as_ptr(), space.as_mut_ptr(), flags) })
}

fn statx_by_name(folder: i32, name: &CStr, flags: i32) -> i32 {
    let mut space = [0u8; 512];
    // SAFETY: as above.
    code(unsafe {
        libc::syscall(libc::SYS_statx, folder, name.as_ptr(), flags, libc::STATX_ALL, space.as_mut_ptr())
    })
}

fn read_link(folder: i32, name: &CStr) -> i32 {
    let mut space = [0u8; 512];
    // SAFETY: a name that ends, and a buffer with its size.
    code(unsafe {
        libc::syscall(libc::SYS_readlinkat, folder, name.as_ptr(), space.as_mut_ptr(), space.len())
    })
}

fn open(folder: i32, name: &CStr, flags: i32) -> i32 {
    // SAFETY: a name that ends.
    code(unsafe { libc::syscall(libc::SYS_openat, folder, name.as_ptr(), flags, 0o600) })
}

fn open_by_structure(folder: i32, name: &CStr) -> i32 {
    let how: [u64; 3] = [libc::O_PATH as u64, 0, 0];
    // SAFETY: a name that ends, and a structure with its size.
    code(unsafe { libc::syscall(libc::SYS_openat2, folder, name.as_ptr(), how.as_ptr(), size_of_val(&how)) })
}

/// Maps memory and writes to the first of its pages.
fn map(bytes: usize, flags: i32) -> i32 {
    // SAFETY: a new mapping at a place that the kernel chooses; only its own first byte is written.
    unsafe {
        let (nowhere, access) = (std::ptr::null_mut(), libc::PROT_READ | libc::PROT_WRITE);
        let at = libc::mmap(nowhere, bytes, access, flags | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE, -1, 0);
        if at == libc::MAP_FAILED {
            return std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
        }
        at.cast::<u8>().write(1);
    }
    WENT_THROUGH
}

/// With these walls it dies of the call or gets an error; without, the same goes through.
fn refused(walls: Walls, what: &str, attempt: impl Fn(i32) -> i32) {
    let ground = Ground::new();
    let control = ground.try_behind(Walls::None, &attempt);
    assert_eq!(control.exit_status(), Some(WENT_THROUGH), "without walls: {what}");
    let ended = ground.try_behind(walls, &attempt);
    let killed = ended.terminating_signal() == Some(libc::SIGSYS);
    let answered = matches!(ended.exit_status(), Some(libc::ENOSYS | libc::EACCES | libc::ENOMEM));
    assert!(killed || answered, "{what}: {ended:?}");
}

#[test]
fn door_8_no_name_outside_can_be_looked_at_through_a_folder() {
    for name in [c"../secret", c"../..", c"/etc/passwd"] {
        for flags in [0, libc::AT_EMPTY_PATH, libc::AT_SYMLINK_NOFOLLOW] {
            refused(Walls::Program, "newfstatat", |folder| stat_by_name(folder, name, flags));
            refused(Walls::Program, "statx", |folder| statx_by_name(folder, name, flags));
        }
        refused(Walls::Program, "O_PATH", |folder| open(folder, name, libc::O_PATH | libc::O_NOFOLLOW));
        refused(Walls::Program, "openat2 with O_PATH", |folder| open_by_structure(folder, name));
        refused(Walls::Program, "openat", |folder| open(folder, name, libc::O_RDONLY | libc::O_NOFOLLOW));
    }
    refused(Walls::Program, "readlinkat", |folder| read_link(folder, c"../link"));
    refused(Walls::Program, "an unnamed file", |folder| open(folder, c".", libc::O_TMPFILE | libc::O_RDWR));
}

#[test]
fn door_8_an_analysis_looks_at_no_name_whatever_the_flags() {
    for flags in [0, libc::AT_EMPTY_PATH] {
        refused(Walls::Analysis, "newfstatat", |folder| stat_by_name(folder, c"../secret", flags));
        refused(Walls::Analysis, "statx", |folder| statx_by_name(folder, c"/etc/passwd", flags));
    }
    refused(Walls::Analysis, "readlinkat", |folder| read_link(folder, c"../link"));
}

#[test]
fn door_8_memory_that_no_limit_counts_cannot_be_had() {
    for walls in [Walls::Program, Walls::Analysis] {
        for flags in [libc::MAP_SHARED, libc::MAP_PRIVATE | libc::MAP_GROWSDOWN] {
            refused(walls, "mmap", |_| map(1 << 20, flags));
            refused(walls, "a large mmap", |_| map(HUGE_BYTES, flags));
        }
    }
}

#[test]
fn door_8_private_memory_ends_at_its_limit() {
    let ground = Ground::new();
    for (walls, too_much) in [(Walls::Program, HUGE_BYTES), (Walls::Analysis, 128 << 20)] {
        let ended = ground.try_behind(walls, |_| map(1 << 20, libc::MAP_PRIVATE));
        assert_eq!(ended.exit_status(), Some(WENT_THROUGH), "{ended:?}");
        let ended = ground.try_behind(walls, |_| map(too_much, libc::MAP_PRIVATE));
        assert_eq!(ended.exit_status(), Some(libc::ENOMEM), "{ended:?}");
    }
}

#[test]
fn behind_the_same_walls_its_own_files_can_be_used() {
    let ground = Ground::new();
    let read = libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    for (name, flags) in [
        (c"file", read),
        (c".", read | libc::O_DIRECTORY),
        (c"new", libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW),
    ] {
        let ended = ground.try_behind(Walls::Program, |folder| open(folder, name, flags));
        assert_eq!(ended.exit_status(), Some(WENT_THROUGH), "{name:?}: {ended:?}");
    }
}
