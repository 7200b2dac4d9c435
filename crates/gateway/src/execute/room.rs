//! The room that a program's files may take, where its engine does not count them itself.
//!
//! In WebAssembly every write passes the engine, which refuses what is too much. A native program writes by itself:
//! the kernel bounds each file, and here somebody looks, again and again, at what all of them come to.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use crate::folder_size::{FolderSize, measure};
use gristmill_domain::{LimitName, Limits};

/// The folders that a program may write to come first: its workspace and `/tmp`.
const WRITABLE: usize = 2;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// A look may take this part of the time: what takes long is done less often.
const SHARE: u32 = 10;

/// Waits until a program has filled its folders beyond a limit, and says which.
pub(crate) async fn overfilled(limits: &Limits, folders: &[OwnedFd]) -> LimitName {
    loop {
        tokio::time::sleep(PAUSE).await;
        let looked = Instant::now();
        let opened: Vec<_> = folders.iter().take(WRITABLE).map(OwnedFd::try_clone).collect();
        let measured = tokio::task::spawn_blocking(move || {
            let mut found = FolderSize::default();
            // What is nested too deep to be measured is too much as well.
            let outcome = opened.into_iter().try_for_each(|folder| measure(&folder?, &mut found));
            (found, outcome.is_ok())
        });
        let Ok((found, is_measured)) = measured.await else { continue };
        if found.bytes > limits.get(LimitName::WorkspaceBytes) {
            return LimitName::WorkspaceBytes;
        }
        if found.entries > limits.get(LimitName::WorkspaceFiles) || !is_measured {
            return LimitName::WorkspaceFiles;
        }
        tokio::time::sleep(looked.elapsed() * SHARE).await;
    }
}
