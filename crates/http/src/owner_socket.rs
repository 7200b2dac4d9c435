//! A Unix socket that only its owner can use: of mode 600 from its first moment on, and whoever connects
//! must be the same user, or root, by what the kernel says of them.
//!
//! What a gateway that was killed left behind is replaced; one that is still served at is not. The socket
//! goes when it is dropped.

use std::fs::{File, Metadata, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::Mode;
use tokio::net::{UnixListener, UnixSocket, UnixStream};

const MODE: u32 = 0o600;

/// As many as `TcpListener` lets wait.
const BACKLOG: u32 = 1024;

/// Others who begin to listen in the same folder are done within a moment.
const FOLDER_PATIENCE: Duration = Duration::from_secs(2);
const FOLDER_PAUSE: Duration = Duration::from_millis(10);

/// Nobody listens there.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    #[error("another process is serving at {path}; stop it, or choose another path", path = .0.display())]
    Served(PathBuf),
    #[error("{path} exists and isn't a socket; choose another path", path = .0.display())]
    NotASocket(PathBuf),
    #[error("{path} belongs to another user (id {owner}); choose another path", path = .path.display())]
    NotOurs { path: PathBuf, owner: u32 },
    #[error(
        "{path} has been locked by another process for {seconds} s; choose a folder of your own",
        path = .folder.display(), seconds = FOLDER_PATIENCE.as_secs()
    )]
    FolderHeld { folder: PathBuf },
    #[error("can't listen at {path}: {source}", path = .path.display())]
    System { path: PathBuf, source: io::Error },
}

/// Listens until it is dropped.
#[derive(Debug)]
pub struct OwnerSocket {
    listener: UnixListener,
    path: PathBuf,
    /// Which file is ours: another one in its place stays.
    file: (u64, u64),
}

/// Whether who connects may come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    Owner,
    Stranger,
}

impl OwnerSocket {
    /// Takes the path. Its folder is not made.
    pub fn bind(path: &Path) -> Result<Self, SocketError> {
        let system = |source| SocketError::System { path: path.to_owned(), source };
        let _lock = lock_folder(path)?;
        remove_leftover(path)?;
        let socket = UnixSocket::new_stream().map_err(system)?;
        // On Linux the file is made with the mode of the descriptor, so that nobody ever sees another.
        // Elsewhere this fails, and the mode comes a moment later.
        let _ = rustix::fs::fchmod(&socket, Mode::RUSR | Mode::WUSR);
        socket.bind(path).map_err(system)?;
        std::fs::set_permissions(path, Permissions::from_mode(MODE)).map_err(system)?;
        let file = std::fs::symlink_metadata(path).map(|metadata| id_of(&metadata)).map_err(system)?;
        let listener = socket.listen(BACKLOG).map_err(system)?;
        Ok(Self { listener, path: path.to_owned(), file })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) async fn accept(&self) -> io::Result<(UnixStream, Peer)> {
        let (stream, _) = self.listener.accept().await?;
        let own = rustix::process::geteuid().as_raw();
        // Whoever cannot be told is a stranger.
        let peer = stream.peer_cred().map_or(Peer::Stranger, |peer| judged(peer.uid(), own));
        Ok((stream, peer))
    }
}

impl Drop for OwnerSocket {
    fn drop(&mut self) {
        let is_ours = std::fs::symlink_metadata(&self.path).is_ok_and(|there| id_of(&there) == self.file);
        if is_ours {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Root can become the owner anyway.
fn judged(peer: u32, own: u32) -> Peer {
    if peer == own || peer == 0 { Peer::Owner } else { Peer::Stranger }
}

fn id_of(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Between the look at what is there and the new socket, nobody else of us may do the same.
fn lock_folder(path: &Path) -> Result<File, SocketError> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    let system = |source| SocketError::System { path: path.to_owned(), source };
    let file = File::open(folder).map_err(system)?;
    let until = Instant::now() + FOLDER_PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < until => std::thread::sleep(FOLDER_PAUSE),
            Err(TryLockError::WouldBlock) => {
                return Err(SocketError::FolderHeld { folder: folder.to_owned() });
            }
            Err(TryLockError::Error(source)) => return Err(system(source)),
        }
    }
}

/// Removes a socket of ours that nobody listens at.
fn remove_leftover(path: &Path) -> Result<(), SocketError> {
    let system = |source| SocketError::System { path: path.to_owned(), source };
    let there = match std::fs::symlink_metadata(path) {
        Ok(there) => there,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(system(source)),
    };
    if !there.file_type().is_socket() {
        return Err(SocketError::NotASocket(path.to_owned()));
    }
    if there.uid() != rustix::process::geteuid().as_raw() {
        return Err(SocketError::NotOurs { path: path.to_owned(), owner: there.uid() });
    }
    match StdUnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            std::fs::remove_file(path).map_err(system)
        }
        // One that is too busy to take us is served, too.
        Ok(_) | Err(_) => Err(SocketError::Served(path.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use gristmill_testkit::TestFolder;

    use super::*;

    #[test]
    fn the_owner_and_root_come_in_and_nobody_else() {
        let check = |peer, own, expected| assert_eq!(judged(peer, own), expected, "{peer} at {own}");
        check(1000, 1000, Peer::Owner);
        check(0, 1000, Peer::Owner);
        check(0, 0, Peer::Owner);
        check(1001, 1000, Peer::Stranger);
        check(1000, 0, Peer::Stranger);
        check(65_534, 1000, Peer::Stranger);
    }

    #[tokio::test]
    async fn the_socket_is_the_owners_alone_and_goes_when_it_is_dropped() {
        let folder = TestFolder::new("owner-socket");
        let path = folder.path().join("g.sock");
        let socket = OwnerSocket::bind(&path).expect("a socket");
        assert_eq!(std::fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
        drop(socket);
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn a_leftover_is_replaced_and_a_live_one_is_not() {
        let folder = TestFolder::new("owner-socket-leftover");
        let path = folder.path().join("g.sock");
        drop(std::os::unix::net::UnixListener::bind(&path).expect("a socket"));
        assert!(path.exists(), "what a killed process leaves");
        let live = OwnerSocket::bind(&path).expect("it takes its place");
        let refused = OwnerSocket::bind(&path).expect_err("it is served").to_string();
        assert_eq!(
            refused,
            format!("another process is serving at {}; stop it, or choose another path", path.display())
        );
        drop(live);
        std::fs::write(&path, "notes").expect("a file");
        assert!(matches!(OwnerSocket::bind(&path), Err(SocketError::NotASocket(_))));
        assert_eq!(std::fs::read_to_string(&path).expect("untouched"), "notes");
    }

    #[tokio::test]
    async fn what_has_taken_its_place_stays() {
        let folder = TestFolder::new("owner-socket-replaced");
        let path = folder.path().join("g.sock");
        let socket = OwnerSocket::bind(&path).expect("a socket");
        std::fs::remove_file(&path).expect("removed by someone");
        std::fs::write(&path, "another").expect("a file");
        drop(socket);
        assert!(path.exists());
    }

    #[tokio::test]
    async fn of_many_that_begin_at_once_one_listens() {
        let folder = TestFolder::new("owner-socket-race");
        let path = folder.path().join("g.sock");
        drop(std::os::unix::net::UnixListener::bind(&path).expect("a leftover"));
        let begin = |_| {
            let path = path.clone();
            tokio::task::spawn_blocking(move || OwnerSocket::bind(&path))
        };
        let beginning: Vec<_> = (0..8).map(begin).collect();
        let mut bound = Vec::new();
        for one in beginning {
            bound.extend(one.await.expect("no panic").ok());
        }
        assert_eq!(bound.len(), 1);
        StdUnixStream::connect(&path).expect("the one that listens has the path");
    }
}
