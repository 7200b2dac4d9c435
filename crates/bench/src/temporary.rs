//! A folder that is gone afterwards.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use gristmill_gateway::upstream::UpstreamFolders;

pub struct Temporary(pub PathBuf);

impl Temporary {
    pub fn new() -> anyhow::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("gristmill-bench-{}-{count}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    pub fn folders(&self) -> UpstreamFolders {
        UpstreamFolders { data: self.0.clone(), cache: self.0.clone() }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        for trees in ["trees", "cache/trees"] {
            gristmill_gateway::upstream::remove_trees(&self.0.join(trees));
        }
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
