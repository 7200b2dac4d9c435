//! Our own standard input and output, read and written where the system tells when that can be done at once: pipes
//! and local sockets. Anything else, a file or a terminal, goes through threads that wait, which costs two hops for
//! each message.
//!
//! Walls: what others hold isn't changed. A pipe is opened once more, which gives a way to it that is ours alone.
//! A socket can't be, so one that errors go to as well is left to the threads.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::PathBuf;

use rustix::fs::{FileType, Stat, fstat};
use rustix::net::AddressFamily;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

pub(crate) type Input = Box<dyn AsyncRead + Send + Unpin>;
pub(crate) type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Needs a tokio runtime.
pub(crate) fn standard_input() -> Input {
    input(io::stdin().as_fd(), io::stderr().as_fd()).unwrap_or_else(|| Box::new(tokio::io::stdin()))
}

/// The same.
pub(crate) fn standard_output() -> Output {
    output(io::stdout().as_fd(), io::stderr().as_fd()).unwrap_or_else(|| Box::new(tokio::io::stdout()))
}

/// `None` for what can't be waited for, or what isn't ours to open.
fn input(fd: BorrowedFd<'_>, errors: BorrowedFd<'_>) -> Option<Input> {
    if is_pipe(fd) {
        return Some(Box::new(pipe::OpenOptions::new().open_receiver(own_path(fd)?).ok()?));
    }
    Some(Box::new(socket(fd, errors)?))
}

fn output(fd: BorrowedFd<'_>, errors: BorrowedFd<'_>) -> Option<Output> {
    if is_pipe(fd) {
        return Some(Box::new(pipe::OpenOptions::new().open_sender(own_path(fd)?).ok()?));
    }
    Some(Box::new(socket(fd, errors)?))
}

fn is_pipe(fd: BorrowedFd<'_>) -> bool {
    fstat(fd).is_ok_and(|about| FileType::from_raw_mode(about.st_mode) == FileType::Fifo)
}

/// Where the same file is opened once more. Elsewhere such a path is the same way to it again.
fn own_path(fd: BorrowedFd<'_>) -> Option<PathBuf> {
    cfg!(target_os = "linux").then(|| PathBuf::from(format!("/proc/self/fd/{}", fd.as_raw_fd())))
}

fn socket(fd: BorrowedFd<'_>, errors: BorrowedFd<'_>) -> Option<UnixStream> {
    let family = rustix::net::getsockname(fd).ok()?.address_family();
    let is_same = |one: Stat, other: Stat| (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino);
    if family != AddressFamily::UNIX || is_same(fstat(fd).ok()?, fstat(errors).ok()?) {
        return None;
    }
    let own = StdUnixStream::from(fd.try_clone_to_owned().ok()?);
    own.set_nonblocking(true).ok()?;
    UnixStream::from_std(own).ok()
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use rustix::fs::{OFlags, fcntl_getfl};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    /// More than either holds, from one end to the other.
    async fn carries(from: impl AsFd, to: impl AsFd) -> (Input, Output) {
        let nobody = File::open("/dev/null").unwrap();
        let mut reader = input(from.as_fd(), nobody.as_fd()).unwrap();
        let mut writer = output(to.as_fd(), nobody.as_fd()).unwrap();
        let sent: Vec<u8> = (0..3_000_000u32).map(|number| (number % 251) as u8).collect();
        let mut received = vec![0; sent.len()];
        let (written, read) = tokio::join!(writer.write_all(&sent), reader.read_exact(&mut received));
        written.unwrap();
        read.unwrap();
        assert!(sent == received);
        (reader, writer)
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_pipe_carries_bytes_and_stays_as_it_is_for_others() {
        let (from, to) = io::pipe().unwrap();
        let (mut reader, writer) = carries(&from, &to).await;
        let is_changed = |fd: BorrowedFd<'_>| fcntl_getfl(fd).unwrap().contains(OFlags::NONBLOCK);
        assert!(!is_changed(from.as_fd()) && !is_changed(to.as_fd()));
        drop((writer, to));
        assert_eq!(reader.read(&mut [0; 8]).await.unwrap(), 0, "the end is heard");
    }

    #[tokio::test]
    async fn a_socket_carries_bytes_and_who_hung_up_is_an_error() {
        let (from, to) = StdUnixStream::pair().unwrap();
        let (reader, mut writer) = carries(&from, &to).await;
        drop((reader, from));
        assert_eq!(writer.write_all(b"x").await.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }

    #[tokio::test]
    async fn what_errors_go_to_as_well_and_what_is_a_file_are_left_to_others() {
        let (from, _to) = StdUnixStream::pair().unwrap();
        let errors = from.try_clone().unwrap();
        assert!(output(from.as_fd(), errors.as_fd()).is_none());
        let file = File::open("/dev/null").unwrap();
        assert!(input(file.as_fd(), errors.as_fd()).is_none());
    }
}
