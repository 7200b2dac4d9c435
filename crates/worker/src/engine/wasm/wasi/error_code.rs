//! `wasi:filesystem`'s error codes, and how the system's map to them.

use rustix::io::Errno;
use wasmtime::component::{ComponentType, Lift, Lower};

#[derive(ComponentType, Lift, Lower, Clone, Copy, Debug, PartialEq, Eq)]
#[component(enum)]
#[repr(u8)]
#[expect(dead_code, reason = "the interface fixes the whole list")]
pub enum ErrorCode {
    #[component(name = "access")]
    Access,
    #[component(name = "would-block")]
    WouldBlock,
    #[component(name = "already")]
    Already,
    #[component(name = "bad-descriptor")]
    BadDescriptor,
    #[component(name = "busy")]
    Busy,
    #[component(name = "deadlock")]
    Deadlock,
    #[component(name = "quota")]
    Quota,
    #[component(name = "exist")]
    Exist,
    #[component(name = "file-too-large")]
    FileTooLarge,
    #[component(name = "illegal-byte-sequence")]
    IllegalByteSequence,
    #[component(name = "in-progress")]
    InProgress,
    #[component(name = "interrupted")]
    Interrupted,
    #[component(name = "invalid")]
    Invalid,
    #[component(name = "io")]
    Io,
    #[component(name = "is-directory")]
    IsDirectory,
    #[component(name = "loop")]
    Loop,
    #[component(name = "too-many-links")]
    TooManyLinks,
    #[component(name = "message-size")]
    MessageSize,
    #[component(name = "name-too-long")]
    NameTooLong,
    #[component(name = "no-device")]
    NoDevice,
    #[component(name = "no-entry")]
    NoEntry,
    #[component(name = "no-lock")]
    NoLock,
    #[component(name = "insufficient-memory")]
    InsufficientMemory,
    #[component(name = "insufficient-space")]
    InsufficientSpace,
    #[component(name = "not-directory")]
    NotDirectory,
    #[component(name = "not-empty")]
    NotEmpty,
    #[component(name = "not-recoverable")]
    NotRecoverable,
    #[component(name = "unsupported")]
    Unsupported,
    #[component(name = "no-tty")]
    NoTty,
    #[component(name = "no-such-device")]
    NoSuchDevice,
    #[component(name = "overflow")]
    Overflow,
    #[component(name = "not-permitted")]
    NotPermitted,
    #[component(name = "pipe")]
    Pipe,
    #[component(name = "read-only")]
    ReadOnly,
    #[component(name = "invalid-seek")]
    InvalidSeek,
    #[component(name = "text-file-busy")]
    TextFileBusy,
    #[component(name = "cross-device")]
    CrossDevice,
}

impl From<Errno> for ErrorCode {
    fn from(errno: Errno) -> Self {
        match errno {
            // A name that leads out of its folder is EXDEV.
            Errno::XDEV | Errno::PERM => ErrorCode::NotPermitted,
            Errno::ACCESS => ErrorCode::Access,
            Errno::NOENT => ErrorCode::NoEntry,
            Errno::EXIST => ErrorCode::Exist,
            Errno::NOTDIR => ErrorCode::NotDirectory,
            Errno::ISDIR => ErrorCode::IsDirectory,
            Errno::NOTEMPTY => ErrorCode::NotEmpty,
            Errno::LOOP => ErrorCode::Loop,
            Errno::NAMETOOLONG => ErrorCode::NameTooLong,
            Errno::INVAL => ErrorCode::Invalid,
            Errno::NOSPC => ErrorCode::InsufficientSpace,
            Errno::DQUOT => ErrorCode::Quota,
            Errno::FBIG => ErrorCode::FileTooLarge,
            Errno::ROFS => ErrorCode::ReadOnly,
            Errno::BADF => ErrorCode::BadDescriptor,
            Errno::BUSY => ErrorCode::Busy,
            Errno::MLINK => ErrorCode::TooManyLinks,
            Errno::NOMEM => ErrorCode::InsufficientMemory,
            Errno::TXTBSY => ErrorCode::TextFileBusy,
            Errno::SPIPE => ErrorCode::InvalidSeek,
            Errno::OVERFLOW => ErrorCode::Overflow,
            Errno::NXIO | Errno::NODEV => ErrorCode::NoDevice,
            Errno::MFILE | Errno::NFILE => ErrorCode::InsufficientMemory,
            Errno::NOTSUP | Errno::NOSYS => ErrorCode::Unsupported,
            Errno::INTR => ErrorCode::Interrupted,
            Errno::AGAIN => ErrorCode::WouldBlock,
            _ => ErrorCode::Io,
        }
    }
}
