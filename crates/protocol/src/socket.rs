//! Blocking frames over a Unix socket, with descriptors attached to a frame's first byte.
//!
//! The worker uses these as they are. The gateway uses [`send_with_descriptors`] and
//! [`recv_some`] under its own readiness loop.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::caps::FRAME_DESCRIPTORS_MAX;
use crate::frame::{FRAME_HEADER_BYTES, FrameError, decode_body, decode_frame_len, encode_frame};

/// Why no message came.
#[derive(Debug, thiserror::Error)]
pub enum ReceiveError {
    /// The other end is gone.
    #[error("the other end closed the connection")]
    Closed,
    /// The bytes are not a message.
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Writes one message and the descriptors that go with it, waiting as long as it takes.
pub fn send_frame<M: Serialize>(
    socket: impl AsFd,
    message: &M,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let frame = encode_frame(message).map_err(io::Error::other)?;
    let mut sent = 0;
    while sent < frame.len() {
        let with = if sent == 0 { descriptors } else { &[] };
        match send_with_descriptors(&socket, &frame[sent..], with) {
            Ok(bytes) => sent += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads one message, waiting as long as it takes. The descriptors that came with it are added
/// to `descriptors`.
pub fn recv_frame<M: DeserializeOwned>(
    socket: impl AsFd,
    descriptors: &mut Vec<OwnedFd>,
) -> Result<M, ReceiveError> {
    let mut header = [0; FRAME_HEADER_BYTES];
    recv_exact(&socket, &mut header, descriptors)?;
    let mut body = vec![0; decode_frame_len(header)?];
    recv_exact(&socket, &mut body, descriptors)?;
    Ok(decode_body(&body)?)
}

/// One `sendmsg`: how many bytes went. The descriptors travel with the first of them.
pub fn send_with_descriptors(
    socket: impl AsFd,
    bytes: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FRAME_DESCRIPTORS_MAX))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "more descriptors than one frame may carry"));
    }
    Ok(rustix::net::sendmsg(socket, &[io::IoSlice::new(bytes)], &mut ancillary, send_flags())?)
}

/// One `recvmsg`: how many bytes came; none means the other end is gone. Descriptors arrive
/// close-on-exec.
pub fn recv_some(socket: impl AsFd, into: &mut [u8], descriptors: &mut Vec<OwnedFd>) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FRAME_DESCRIPTORS_MAX))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received =
        rustix::net::recvmsg(socket, &mut [io::IoSliceMut::new(into)], &mut ancillary, recv_flags())?;
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            for right in rights {
                close_on_exec(&right)?;
                descriptors.push(right);
            }
        }
    }
    if descriptors.len() > FRAME_DESCRIPTORS_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "more descriptors than one frame may carry"));
    }
    Ok(received.bytes)
}

fn recv_exact(
    socket: impl AsFd,
    mut into: &mut [u8],
    descriptors: &mut Vec<OwnedFd>,
) -> Result<(), ReceiveError> {
    while !into.is_empty() {
        match recv_some(&socket, into, descriptors) {
            Ok(0) => return Err(ReceiveError::Closed),
            Ok(bytes) => into = &mut into[bytes..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if Errno::from_io_error(&error) == Some(Errno::CONNRESET) => {
                return Err(ReceiveError::Closed);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn send_flags() -> SendFlags {
    SendFlags::NOSIGNAL
}

/// Elsewhere a broken pipe is kept from killing us by ignoring SIGPIPE at start-up.
#[cfg(not(target_os = "linux"))]
fn send_flags() -> SendFlags {
    SendFlags::empty()
}

#[cfg(target_os = "linux")]
fn recv_flags() -> RecvFlags {
    RecvFlags::CMSG_CLOEXEC
}

#[cfg(not(target_os = "linux"))]
fn recv_flags() -> RecvFlags {
    RecvFlags::empty()
}

/// The kernel has done it already.
#[cfg(target_os = "linux")]
fn close_on_exec(_descriptor: &OwnedFd) -> io::Result<()> {
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn close_on_exec(descriptor: &OwnedFd) -> io::Result<()> {
    Ok(rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::CLOEXEC)?)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::message::{FromWorker, Stream};

    #[test]
    fn a_message_and_its_descriptor_arrive_together() {
        let (left, right) = UnixStream::pair().unwrap();
        let (mut reader, mut writer) = std::io::pipe().unwrap();
        let passed = OwnedFd::from(reader.try_clone().unwrap());
        let message = FromWorker::Output { stream: Stream::Stderr, bytes: vec![7; 100_000] };
        let sent = message.clone();
        let sender = std::thread::spawn(move || send_frame(&left, &sent, &[passed.as_fd()]).unwrap());
        let mut descriptors = Vec::new();
        let received: FromWorker = recv_frame(&right, &mut descriptors).unwrap();
        sender.join().unwrap();
        assert_eq!(received, message);
        assert_eq!(descriptors.len(), 1);
        // What is written into the pipe can be read from the descriptor that came over the socket.
        writer.write_all(b"through the socket").unwrap();
        drop(writer);
        let mut text = String::new();
        std::fs::File::from(descriptors.remove(0)).read_to_string(&mut text).unwrap();
        assert_eq!(reader.read(&mut [0]).unwrap(), 0);
        assert_eq!(text, "through the socket");
    }

    #[test]
    fn a_peer_that_leaves_in_the_middle_of_a_frame_is_closed_not_an_error_of_ours() {
        let (left, right) = UnixStream::pair().unwrap();
        (&left).write_all(&[9, 0, 0, 0, 1, 2]).unwrap();
        drop(left);
        let received = recv_frame::<FromWorker>(&right, &mut Vec::new());
        assert!(matches!(received, Err(ReceiveError::Closed)), "{received:?}");
    }
}
