//! A home for a gateway that is measured: nothing of the user's own is in it but the compiled engine.

use std::path::{Path, PathBuf};

use gristmill_gateway::Folders;
use serde_json::{Value, json};
use tokio::process::Command;

use super::temporary::Temporary;

/// A home of its own, with its servers.
pub struct Place {
    folder: Temporary,
    config: PathBuf,
}

impl Place {
    /// With these settings beside the server.
    pub fn new(settings: &Value) -> anyhow::Result<Self> {
        let server = json!({"command": std::env::current_exe()?, "args": ["example-server", "calculator"]});
        Self::with_servers(settings, json!({"calculator": server}))
    }

    /// With these settings and these servers.
    pub fn with_servers(settings: &Value, servers: Value) -> anyhow::Result<Self> {
        let folder = Temporary::new()?;
        let cache = folder.0.join("cache");
        std::fs::create_dir_all(&cache)?;
        // Compiled once for all; everything else is new.
        let engines = Folders::from_environment()?.cache.join("engines");
        std::os::unix::fs::symlink(engines, cache.join("engines"))?;
        let config = folder.0.join("gristmill.json");
        let mut configured = settings.clone();
        configured["servers"] = servers;
        std::fs::write(&config, configured.to_string())?;
        Ok(Self { folder, config })
    }

    /// `gristmill serve` in this home.
    pub fn command(&self, arguments: &[&str]) -> anyhow::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command
            .args(["serve", "--config"])
            .arg(&self.config)
            .args(arguments)
            .current_dir(&self.folder.0)
            .env("HOME", &self.folder.0)
            .env("XDG_CONFIG_HOME", self.folder.0.join("config"))
            .env("GRISTMILL_DATA_DIR", self.data())
            .env("GRISTMILL_CACHE_DIR", self.folder.0.join("cache"));
        Ok(command)
    }

    /// Where its gateways keep what they remember.
    pub fn data(&self) -> PathBuf {
        self.folder.0.join("data")
    }
}

/// What a folder takes on the disk.
pub struct Disk {
    pub files: u64,
    pub bytes: u64,
}

impl Disk {
    /// Of a folder and everything beneath it.
    pub fn of(folder: &Path) -> anyhow::Result<Self> {
        use std::os::unix::fs::MetadataExt;
        /// The unit of a file's blocks, whatever the file system's own are.
        const BLOCK_BYTES: u64 = 512;
        let mut disk = Self { files: 0, bytes: 0 };
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder)? {
                let entry = entry?;
                let metadata = entry.metadata()?;
                disk.bytes += metadata.blocks() * BLOCK_BYTES;
                match metadata.is_dir() {
                    true => folders.push(entry.path()),
                    false => disk.files += 1,
                }
            }
        }
        Ok(disk)
    }
}
