//! What the native engine has in place of a view of its own where the machine gives no namespaces: calls that take a
//! name are stopped by the kernel before they begin, and answered here, in the calling process itself.
//!
//! This is no wall. It leads programs to their folders under the names that they have elsewhere, and it does without
//! calls that landlock does not cover: a name is looked at by opening it, which landlock permits or refuses. Whoever
//! goes past it with calls of their own finds landlock and the list of system calls (`native_calls.rs`).
//!
//! Invariants: the handler takes no lock and no memory. It makes no call that is stopped itself: folders are always
//! given as descriptors. `errno` is as it was when it returns.

use std::os::fd::{AsFd, BorrowedFd, IntoRawFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

use libc::{c_int, c_long};
use rustix::fs::{Mode, OFlags};

use super::call_filter;
use super::native_calls::TRANSLATED;
use super::native_names::{NAME_BYTES_MAX, Name, Place, ShownName, WorkingFolder, place_of};
use super::native_view::{HOST_NAME, POINTS, ShownPath};
use crate::engine::MountedFolder;
use crate::jail::JailError;

/// The names that the machine's paths have, and what the machine is called; set before the first call is stopped.
static SHOWN: OnceLock<Vec<ShownName>> = OnceLock::new();
static SYSTEM: OnceLock<libc::utsname> = OnceLock::new();

/// The program's folders, each as a descriptor that can only be opened from.
static FOLDERS: [AtomicI32; POINTS.len()] = [const { AtomicI32::new(NOT_THERE) }; POINTS.len()];

/// Before there is one.
const NOT_THERE: c_int = -1;

static WORKING_FOLDER: WorkingFolder = WorkingFolder::new();

/// Where descriptors of folders go: above all that a program opens.
const FOLDERS_FROM: c_int = 960;

/// Stands before an absolute name, which needs no folder. Anything but AT_FDCWD serves.
const NO_FOLDER: c_int = 0;

/// How a name is looked at.
const LOOK: c_int = libc::O_RDONLY | libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;

/// Bits that no file may have.
const SPECIAL: usize = 0o7000;

/// From here on, names in this process and its children mean what they mean in the view, which has these paths.
/// Cannot be undone.
pub fn translate_names(shown: &[ShownPath]) -> Result<(), JailError> {
    let failed = |error: std::io::Error| JailError::new("names of files", error);
    let names = shown.iter().map(|shown| {
        let from = std::fs::canonicalize(&shown.from)?;
        Ok(ShownName {
            at: shown.at.as_os_str().as_bytes().to_vec(),
            from: from.as_os_str().as_bytes().to_vec(),
        })
    });
    let names = names.collect::<Result<Vec<_>, std::io::Error>>().map_err(failed)?;
    SHOWN.get_or_init(|| names);
    SYSTEM.get_or_init(system);
    // SAFETY: a zeroed action is a valid one, and its handler has the form that goes with the flag.
    let outcome = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_stopped_call as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        libc::sigaction(libc::SIGSYS, &action, std::ptr::null_mut())
    };
    if outcome < 0 {
        return Err(failed(std::io::Error::last_os_error()));
    }
    rustix::thread::set_no_new_privs(true).map_err(|error| JailError::new("no-new-privileges", error))?;
    call_filter::trap(TRANSLATED)
}

/// In a child: these are the folders of its program. They are held by descriptors that neither list nor change
/// anything.
pub fn give_folders(folders: &[MountedFolder]) -> Result<(), JailError> {
    let failed = |error: rustix::io::Errno| JailError::new("folders", error);
    for folder in folders {
        let point = POINTS.iter().position(|point| *point == folder.name);
        let Some(place) = point.and_then(|point| FOLDERS.get(point)) else {
            return Err(JailError::new("folders", format!("/{}: no place has this name", folder.name)));
        };
        let held = beneath_only(folder.fd.as_fd()).map_err(failed)?;
        place.store(held, Ordering::Relaxed);
    }
    Ok(())
}

fn beneath_only(folder: BorrowedFd<'_>) -> rustix::io::Result<c_int> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(folder, ".", flags, Mode::empty())?;
    // Where the machine permits fewer, anywhere. It stays open to the end of the process.
    let held = rustix::io::fcntl_dupfd_cloexec(&opened, FOLDERS_FROM)
        .or_else(|_| rustix::io::fcntl_dupfd_cloexec(&opened, 0))?;
    Ok(held.into_raw_fd())
}

/// What is told of the machine, without its name.
fn system() -> libc::utsname {
    // SAFETY: a zeroed structure is a valid one, and the call only fills it.
    let mut system: libc::utsname = unsafe {
        let mut system = std::mem::zeroed();
        libc::uname(&mut system);
        system
    };
    system.nodename.fill(0);
    for (to, from) in system.nodename.iter_mut().zip(HOST_NAME) {
        *to = *from as libc::c_char;
    }
    system
}

/// Registers of a call: its number, its arguments, and where its answer goes.
#[cfg(target_arch = "x86_64")]
mod registers {
    use libc::{REG_R8, REG_R10, REG_RAX, REG_RDI, REG_RDX, REG_RSI};

    pub fn call(context: &libc::ucontext_t) -> (i64, [usize; 5]) {
        let register = |at: i32| context.uc_mcontext.gregs[at as usize] as usize;
        (register(REG_RAX) as i64, [REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8].map(register))
    }

    pub fn answer(context: &mut libc::ucontext_t, answer: isize) {
        context.uc_mcontext.gregs[REG_RAX as usize] = answer as i64;
    }
}
#[cfg(target_arch = "aarch64")]
mod registers {
    pub fn call(context: &libc::ucontext_t) -> (i64, [usize; 5]) {
        let [a, b, c, d, e, _, _, _, number, ..] = context.uc_mcontext.regs;
        (number as i64, [a, b, c, d, e].map(|value| value as usize))
    }

    pub fn answer(context: &mut libc::ucontext_t, answer: isize) {
        context.uc_mcontext.regs[0] = answer as u64;
    }
}

extern "C" fn on_stopped_call(_signal: c_int, _about: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel gives the handler a context of its own, which nobody else has; the number of the last error
    // is this thread's.
    unsafe {
        let error = libc::__errno_location();
        let before = *error;
        let context = &mut *context.cast::<libc::ucontext_t>();
        let (call, arguments) = registers::call(context);
        let answer = answer(call, arguments).unwrap_or_else(|error| -(error as isize));
        registers::answer(context, answer);
        *error = before;
    }
}

/// The outcome of a call, or its error.
type Answer = Result<isize, c_int>;

/// Does what a stopped call asks for.
fn answer(call: i64, [a, b, c, d, e]: [usize; 5]) -> Answer {
    #[cfg(target_arch = "x86_64")]
    const HERE: usize = libc::AT_FDCWD as usize;
    match call {
        libc::SYS_openat => open(a, b, c as c_int, d),
        libc::SYS_newfstatat => look_at(a, b, c, d),
        libc::SYS_faccessat | libc::SYS_faccessat2 => may(a, b, c as c_int),
        libc::SYS_readlinkat => is_no_link(a, b),
        libc::SYS_chdir => enter(a),
        libc::SYS_getcwd => working_folder(a, b),
        libc::SYS_mkdirat => make_folder(a, b, c),
        libc::SYS_unlinkat => remove(a, b, c),
        libc::SYS_renameat => rename([a, c], [b, d], 0),
        libc::SYS_renameat2 => rename([a, c], [b, d], e),
        libc::SYS_truncate => shorten(a, b),
        libc::SYS_statfs => look_at_system(a, b),
        libc::SYS_fchmod => change_mode(b).and(Ok(0)),
        libc::SYS_fchmodat => change_mode(c).and(is_there(a, b)),
        libc::SYS_utimensat if b == 0 => Ok(0),
        libc::SYS_utimensat => is_there(a, b),
        libc::SYS_getxattr | libc::SYS_lgetxattr | libc::SYS_listxattr | libc::SYS_llistxattr => {
            Err(libc::ENOTSUP)
        }
        libc::SYS_uname => tell_system(a),
        libc::SYS_sched_getaffinity | libc::SYS_sched_getparam | libc::SYS_sched_getscheduler => {
            of_itself(call, a, [b, c])
        }
        #[cfg(target_arch = "x86_64")]
        libc::SYS_open => open(HERE, a, b as c_int, c),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_stat | libc::SYS_lstat => look_at(HERE, a, b, 0),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_access => may(HERE, a, b as c_int),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_readlink => is_no_link(HERE, a),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_mkdir => make_folder(HERE, a, b),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_rmdir => remove(HERE, a, libc::AT_REMOVEDIR as usize),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_unlink => remove(HERE, a, 0),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_rename => rename([HERE, HERE], [a, b], 0),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_chmod => change_mode(b).and(is_there(HERE, a)),
        _ => Err(libc::ENOSYS),
    }
}

/// What a name leads to: a folder's descriptor and a name beneath it, or an absolute one.
struct Target {
    folder: c_int,
    name: Name,
    /// One of the program's own folders itself, and not something in it; or the root.
    is_own_folder: bool,
    is_writable: bool,
}

impl Target {
    fn name(&self) -> usize {
        self.name.bytes().as_ptr() as usize
    }

    fn folder(&self) -> Result<usize, c_int> {
        match self.folder {
            NOT_THERE if self.name.bytes() == b"/" => Err(libc::EACCES),
            NOT_THERE => Err(libc::ENOENT),
            folder => Ok(folder as usize),
        }
    }
}

fn target(folder: usize, name: usize) -> Result<Target, c_int> {
    let given = name_at(name)?;
    let folder = folder as c_int;
    if folder != libc::AT_FDCWD && !given.starts_with(b"/") {
        if given.is_empty() {
            return Err(libc::ENOENT);
        }
        return Ok(Target { folder, name: Name::of(given)?, is_own_folder: false, is_writable: true });
    }
    let name = Name::resolved(WORKING_FOLDER.name().bytes(), given)?;
    let place = place_of(name.bytes(), SHOWN.get().map_or(&[], Vec::as_slice));
    let is_writable = place.is_writable();
    Ok(match place {
        Place::Folder { point, beneath } => {
            let folder = FOLDERS.get(point).map_or(NOT_THERE, |folder| folder.load(Ordering::Relaxed));
            let name = Name::of(if beneath.is_empty() { b"." } else { beneath })?;
            Target { folder, name, is_own_folder: beneath.is_empty(), is_writable }
        }
        Place::Shown { from, beneath } => {
            let mut name = Name::of(from)?;
            if !beneath.is_empty() {
                name.push(b"/")?;
                name.push(beneath)?;
            }
            Target { folder: NO_FOLDER, name, is_own_folder: false, is_writable }
        }
        Place::Root => Target { folder: NOT_THERE, name, is_own_folder: true, is_writable },
        // As in a view: seen until there is a program.
        Place::Processes if workspace().is_err() => {
            Target { folder: NO_FOLDER, name, is_own_folder: false, is_writable }
        }
        Place::Processes | Place::Nowhere => return Err(libc::ENOENT),
    })
}

fn workspace() -> Result<usize, c_int> {
    match FOLDERS.first().map_or(NOT_THERE, |folder| folder.load(Ordering::Relaxed)) {
        NOT_THERE => Err(libc::ENOENT),
        folder => Ok(folder as usize),
    }
}

/// The name that a program has put there.
fn name_at<'a>(address: usize) -> Result<&'a [u8], c_int> {
    if address == 0 {
        return Err(libc::EFAULT);
    }
    // SAFETY: no more is read than a name has that ends. A program that lies about where its name is ends by it, and
    // nothing else does. It lives until the call is answered.
    unsafe {
        let length = libc::strnlen(address as *const libc::c_char, NAME_BYTES_MAX);
        Ok(std::slice::from_raw_parts(address as *const u8, length))
    }
}

/// Makes a call of the kernel's that is not stopped.
fn call(number: c_long, [a, b, c, d, e]: [usize; 5]) -> Answer {
    // SAFETY: what the arguments mean was said by the program, whose memory this is; or by the functions here, which
    // give pointers to what lives until the call returns.
    let outcome = unsafe { libc::syscall(number, a, b, c, d, e) };
    match outcome {
        // SAFETY: this thread's own.
        -1 => Err(unsafe { *libc::__errno_location() }),
        outcome => Ok(outcome as isize),
    }
}

/// A descriptor that is closed again.
struct Opened(c_int);

impl Drop for Opened {
    fn drop(&mut self) {
        let _ = call(libc::SYS_close, [self.0 as usize, 0, 0, 0, 0]);
    }
}

/// Opens what is to be looked at: this is what landlock permits or refuses.
fn opened(target: &Target, flags: c_int) -> Result<Opened, c_int> {
    let arguments = [target.folder()?, target.name(), flags as usize, 0, 0];
    call(libc::SYS_openat, arguments).map(|descriptor| Opened(descriptor as c_int))
}

/// Uses a descriptor of it. Those of the program's own folders are there already.
fn with_descriptor(target: &Target, act: impl FnOnce(usize) -> Answer) -> Answer {
    if target.is_own_folder {
        // One that the program was not given looks like any other that is there.
        return act(target.folder().or_else(|_| workspace())?);
    }
    let opened = opened(target, LOOK)?;
    act(opened.0 as usize)
}

fn open(folder: usize, name: usize, flags: c_int, mode: usize) -> Answer {
    let target = target(folder, name)?;
    let makes = flags & (libc::O_CREAT | (libc::O_TMPFILE & !libc::O_DIRECTORY)) != 0;
    if makes && mode & SPECIAL != 0 {
        return Err(libc::EPERM);
    }
    // To neither read nor write: as the list has it.
    if flags & libc::O_ACCMODE == libc::O_ACCMODE {
        return Err(libc::EINVAL);
    }
    // A descriptor that is only a place could be looked at, whatever it is.
    let flags = if flags & libc::O_PATH == 0 { flags } else { flags & !libc::O_PATH | LOOK };
    let mode = if makes { mode } else { 0 };
    call(libc::SYS_openat, [target.folder()?, target.name(), flags as usize, mode, 0])
}

fn look_at(folder: usize, name: usize, about: usize, flags: usize) -> Answer {
    let is_open = flags as c_int & libc::AT_EMPTY_PATH != 0 && name_at(name)?.is_empty();
    let look = |descriptor: usize| call(libc::SYS_fstat, [descriptor, about, 0, 0, 0]);
    if is_open && folder as c_int != libc::AT_FDCWD {
        return look(folder);
    }
    let here: &std::ffi::CStr = c".";
    let target = target(folder, if is_open { here.as_ptr() as usize } else { name })?;
    with_descriptor(&target, look)
}

fn may(folder: usize, name: usize, wanted: c_int) -> Answer {
    let target = target(folder, name)?;
    // SAFETY: a zeroed structure is a valid one.
    let mut about: libc::stat = unsafe { std::mem::zeroed() };
    let place = std::ptr::from_mut(&mut about) as usize;
    with_descriptor(&target, |descriptor| call(libc::SYS_fstat, [descriptor, place, 0, 0, 0]))?;
    let is_folder = about.st_mode & libc::S_IFMT == libc::S_IFDIR;
    if wanted & libc::W_OK != 0 && !target.is_writable {
        return Err(libc::EROFS);
    }
    let is_executable = is_folder || about.st_mode & 0o111 != 0;
    if wanted & libc::X_OK != 0 && !is_executable { Err(libc::EACCES) } else { Ok(0) }
}

/// Links are followed, and none is shown as one.
fn is_no_link(folder: usize, name: usize) -> Answer {
    is_there(folder, name).and(Err(libc::EINVAL))
}

/// A change of a file's mode is not made, and answered as if it were; special bits are refused.
fn change_mode(mode: usize) -> Answer {
    if mode & SPECIAL == 0 { Ok(0) } else { Err(libc::EPERM) }
}

/// The same for its times.
fn is_there(folder: usize, name: usize) -> Answer {
    with_descriptor(&target(folder, name)?, |_descriptor| Ok(0))
}

fn enter(name: usize) -> Answer {
    let target = target(libc::AT_FDCWD as usize, name)?;
    // The program's own can be entered before it is there.
    if !target.is_own_folder {
        opened(&target, LOOK | libc::O_DIRECTORY)?;
    }
    let name = Name::resolved(WORKING_FOLDER.name().bytes(), name_at(name)?)?;
    WORKING_FOLDER.enter(match name.bytes() {
        b"/" => b"/",
        name => name.strip_suffix(b"/").unwrap_or(name),
    });
    Ok(0)
}

fn working_folder(at: usize, room: usize) -> Answer {
    let name = WORKING_FOLDER.name();
    let length = name.bytes().len();
    if room <= length {
        return Err(libc::ERANGE);
    }
    if at == 0 {
        return Err(libc::EFAULT);
    }
    // SAFETY: the program says that there is so much room, and it is less than that.
    unsafe {
        std::ptr::copy_nonoverlapping(name.bytes().as_ptr(), at as *mut u8, length);
        (at as *mut u8).add(length).write(0);
    }
    Ok(length as isize + 1)
}

fn make_folder(folder: usize, name: usize, mode: usize) -> Answer {
    if mode & SPECIAL != 0 {
        return Err(libc::EPERM);
    }
    let target = target(folder, name)?;
    if target.is_own_folder {
        return Err(libc::EEXIST);
    }
    call(libc::SYS_mkdirat, [target.folder()?, target.name(), mode, 0, 0])
}

fn remove(folder: usize, name: usize, flags: usize) -> Answer {
    let target = target(folder, name)?;
    if target.is_own_folder {
        return Err(libc::EBUSY);
    }
    call(libc::SYS_unlinkat, [target.folder()?, target.name(), flags, 0, 0])
}

fn rename([from_folder, to_folder]: [usize; 2], [from, to]: [usize; 2], flags: usize) -> Answer {
    let (from, to) = (target(from_folder, from)?, target(to_folder, to)?);
    if from.is_own_folder || to.is_own_folder {
        return Err(libc::EBUSY);
    }
    let arguments = [from.folder()?, from.name(), to.folder()?, to.name(), flags];
    call(libc::SYS_renameat2, arguments)
}

fn shorten(name: usize, length: usize) -> Answer {
    let opened = opened(&target(libc::AT_FDCWD as usize, name)?, libc::O_WRONLY | libc::O_CLOEXEC)?;
    call(libc::SYS_ftruncate, [opened.0 as usize, length, 0, 0, 0])
}

fn look_at_system(name: usize, about: usize) -> Answer {
    with_descriptor(&target(libc::AT_FDCWD as usize, name)?, |descriptor| {
        call(libc::SYS_fstatfs, [descriptor, about, 0, 0, 0])
    })
}

/// What a thread asks about itself by its number. Of others nothing is told, not even whether they are there.
fn of_itself(number: i64, thread: usize, [a, b]: [usize; 2]) -> Answer {
    let own = call(libc::SYS_gettid, [0; 5])?;
    if thread as c_int as isize != own {
        return Err(libc::ESRCH);
    }
    call(number, [0, a, b, 0, 0])
}

fn tell_system(at: usize) -> Answer {
    let Some(system) = SYSTEM.get().filter(|_| at != 0) else { return Err(libc::EFAULT) };
    // SAFETY: the program says that there is room for one.
    unsafe { (at as *mut libc::utsname).write_unaligned(*system) };
    Ok(0)
}
