//! A network with nothing in it but a listener, which is handed to the gateway: whoever connects to it
//! speaks with the gateway's proxy, and there is nobody else to speak with.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

use gristmill_protocol::{SANDBOX_PROXY_PORT, send_with_descriptors};

/// In a network namespace of our own: raises its loopback interface and hands the listener over.
pub fn hand_over_listener(proxy: &Path) -> io::Result<()> {
    raise_loopback()?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, SANDBOX_PROXY_PORT))?;
    let gateway = UnixStream::connect(proxy)?;
    match send_with_descriptors(&gateway, &[1], &[listener.as_fd()])? {
        1 => Ok(()),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}

fn raise_loopback() -> io::Result<()> {
    let socket = std::net::UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    // SAFETY: a zeroed request is a valid one; its name is shorter than its place and ends with a zero;
    // the kernel reads the request during the call only.
    let outcome = unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        for (place, letter) in request.ifr_name.iter_mut().zip(*b"lo") {
            *place = letter as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        libc::syscall(libc::SYS_ioctl, socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request)
    };
    if outcome < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
