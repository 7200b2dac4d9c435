//! The eyes are tested first: each oracle must see what an attack would do if nothing stood in its way. The
//! same deed, done by the host itself, where nothing does.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::Serialize;

use crate::oracles;
use crate::range::{CANARY, GROWTH_BYTES_MAX, OTHER, Range, SECRET_VARIABLE};

/// One oracle, and whether it saw what it must see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Control {
    pub oracle: &'static str,
    pub fired: bool,
}

impl Range {
    /// Every oracle, tried on the deed that it is there to notice.
    pub fn controls(&self) -> Vec<Control> {
        let mut controls = vec![
            control(
                "a host file that is read",
                self.sees_a_file_that_is_read(Path::new("canary.txt"), CANARY),
            ),
            control(
                "another session's file that is read",
                self.sees_a_file_that_is_read(Path::new("other/other.txt"), OTHER),
            ),
            control("a secret of the environment", sees_a_secret()),
            control("a file that appears on the host", self.sees_what_appears()),
            control("a connection to the loopback address", self.sees_a_connection()),
        ];
        if cfg!(target_os = "linux") {
            controls.push(control("another program that runs", self.sees_a_process()));
            controls.push(control("memory that the gateway takes", sees_memory()));
        }
        controls
    }

    fn sees_a_file_that_is_read(&self, path: &Path, word: &str) -> bool {
        let read = std::fs::read_to_string(self.folder().join(path)).unwrap_or_default();
        oracles::came_back(&[read], &[word]).is_some()
    }

    fn sees_what_appears(&self) -> bool {
        let nonce = format!("control{}", std::process::id());
        let other = self.folder().join("other");
        let folders = [self.folder(), &other];
        ["guest", "planted"].iter().all(|name| {
            folders.iter().all(|folder| {
                let planted = folder.join(format!("{name}-{nonce}"));
                let is_there = std::fs::write(&planted, "x").is_ok();
                let seen = oracles::appeared(&folders, &nonce).is_some();
                let _ = std::fs::remove_file(&planted);
                is_there && seen && oracles::appeared(&folders, &nonce).is_none()
            })
        })
    }

    fn sees_a_connection(&self) -> bool {
        let Ok(listener) = self.listen() else { return false };
        let before = oracles::connected(&listener).is_some();
        let connection = listener.local_addr().and_then(TcpStream::connect);
        !before && connection.is_ok() && oracles::connected(&listener).is_some()
    }

    fn sees_a_process(&self) -> bool {
        let before = oracles::foreign_process(self.worker_name()).is_some();
        let mut sleeping = Command::new("sleep");
        sleeping.arg("20").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(mut child) = sleeping.spawn() else { return false };
        let seen = oracles::foreign_process(self.worker_name()).is_some();
        let _ = child.kill();
        let _ = child.wait();
        !before && seen
    }
}

fn control(oracle: &'static str, fired: bool) -> Control {
    Control { oracle, fired }
}

fn sees_a_secret() -> bool {
    let secret = std::env::var(SECRET_VARIABLE).unwrap_or_default();
    oracles::came_back(&[secret], &[crate::SECRET_VALUE]).is_some()
}

fn sees_memory() -> bool {
    let Some(before) = oracles::own_memory() else { return false };
    // Other than zero, or the system would not have to find room for it.
    let taken = vec![1u8; GROWTH_BYTES_MAX as usize + (64 << 20)];
    let after = oracles::own_memory().unwrap_or_default();
    std::hint::black_box(&taken).len() > 1 && after.saturating_sub(before) > GROWTH_BYTES_MAX
}
