//! What the gateway tells the launcher of a confined server, as words of a command line.
//!
//! The gateway works out which paths a server gets; the launcher only raises the walls. Nothing in
//! here is secret: other processes can read a command line.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// Where a server finds our proxy, in a network that has nothing else.
pub const SANDBOX_PROXY_PORT: u16 = 3128;

/// Ends the words of the sandbox; the server's own command follows.
const END: &str = "--";

/// The walls around one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSandbox {
    /// Absolute paths without links. The last word about a path counts.
    pub paths: Vec<SandboxedPath>,
    /// The same paths as they were written, where a link is in them.
    pub links: Vec<PathBuf>,
    /// Folders that stay hidden although a path above them is given.
    pub hidden: Vec<PathBuf>,
    /// A folder for this start of the server, which the gateway has made and removes.
    pub scratch: PathBuf,
    pub network: SandboxedNetwork,
    /// Whether a missing layer is a reason not to start.
    pub required: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxedPath {
    pub path: PathBuf,
    pub access: SandboxedAccess,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SandboxedAccess {
    /// And execute.
    Read,
    Write,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SandboxedNetwork {
    Open,
    Closed,
    /// Nothing but a listener on [`SANDBOX_PROXY_PORT`], which the gateway is given.
    Proxy,
}

impl ServerSandbox {
    /// Its private folder for temporary files.
    pub fn temporary(&self) -> PathBuf {
        self.scratch.join("tmp")
    }

    /// An empty folder, where its view of the file system is put together.
    pub fn root(&self) -> PathBuf {
        self.scratch.join("root")
    }

    /// Where the gateway waits for the listener.
    pub fn proxy_socket(&self) -> PathBuf {
        self.scratch.join("proxy")
    }

    /// As words before the server's command.
    pub fn to_words(&self) -> Vec<OsString> {
        let word = |key: &str, path: &PathBuf| {
            let mut word = OsString::from(key);
            word.push("=");
            word.push(path);
            word
        };
        let mut words = vec![word("scratch", &self.scratch)];
        words.extend(self.paths.iter().map(|given| match given.access {
            SandboxedAccess::Read => word("read", &given.path),
            SandboxedAccess::Write => word("write", &given.path),
        }));
        words.extend(self.links.iter().map(|path| word("link", path)));
        words.extend(self.hidden.iter().map(|path| word("hidden", path)));
        words.push(OsString::from(match self.network {
            SandboxedNetwork::Open => "network=open",
            SandboxedNetwork::Closed => "network=closed",
            SandboxedNetwork::Proxy => "network=proxy",
        }));
        words.extend(self.required.then(|| OsString::from("required=")));
        words.push(OsString::from(END));
        words
    }

    /// Reads them; what is left is the server's command.
    pub fn from_words(words: &[OsString]) -> Option<(Self, &[OsString])> {
        let end = words.iter().position(|word| word == END)?;
        let mut sandbox = Self {
            paths: Vec::new(),
            links: Vec::new(),
            hidden: Vec::new(),
            scratch: PathBuf::new(),
            network: SandboxedNetwork::Closed,
            required: false,
        };
        for word in &words[..end] {
            let (key, value) = split(word)?;
            let path = || PathBuf::from(OsString::from_vec(value.to_owned()));
            let given = |access| SandboxedPath { path: path(), access };
            match key {
                b"scratch" => sandbox.scratch = path(),
                b"read" => sandbox.paths.push(given(SandboxedAccess::Read)),
                b"write" => sandbox.paths.push(given(SandboxedAccess::Write)),
                b"link" => sandbox.links.push(path()),
                b"hidden" => sandbox.hidden.push(path()),
                b"required" => sandbox.required = true,
                b"network" => {
                    sandbox.network = match value {
                        b"open" => SandboxedNetwork::Open,
                        b"closed" => SandboxedNetwork::Closed,
                        b"proxy" => SandboxedNetwork::Proxy,
                        _ => return None,
                    }
                }
                _ => return None,
            }
        }
        sandbox.scratch.is_absolute().then_some((sandbox, &words[end + 1..]))
    }
}

fn split(word: &OsStr) -> Option<(&[u8], &[u8])> {
    let bytes = word.as_bytes();
    let at = bytes.iter().position(|byte| *byte == b'=')?;
    Some((&bytes[..at], &bytes[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_sandbox_mean_the_same_again_and_leave_the_command() {
        let given = |path: &str, access| SandboxedPath { path: path.into(), access };
        let sandbox = ServerSandbox {
            paths: vec![given("/usr", SandboxedAccess::Read), given("/a=b", SandboxedAccess::Write)],
            links: vec!["/bin/x".into()],
            hidden: vec!["/home/me/data".into()],
            scratch: "/tmp/x".into(),
            network: SandboxedNetwork::Proxy,
            required: true,
        };
        let mut words = sandbox.to_words();
        words.extend(["npx", "--", "server"].map(OsString::from));
        let (read, command) = ServerSandbox::from_words(&words).unwrap();
        assert_eq!(read, sandbox);
        assert_eq!(command, ["npx", "--", "server"].map(OsString::from));
        assert_eq!(ServerSandbox::from_words(&["wrong=1".into(), "--".into()]), None);
        assert_eq!(ServerSandbox::from_words(&["scratch=/x".into()]), None);
    }
}
