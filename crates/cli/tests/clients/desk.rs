//! A home with the files of every client.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use gristmill_testkit::{Home, Ran};

use crate::support::gristmill;

/// Each client, its file in a home, and what is in it.
pub const FILES: [(&str, &str, &str); 7] = [
    ("claude-code", ".claude.json", include_str!("claude.json")),
    (
        "claude-desktop",
        "config/Claude/claude_desktop_config.json",
        include_str!("claude_desktop_config.json"),
    ),
    ("cursor", ".cursor/mcp.json", include_str!("cursor_mcp.json")),
    ("vscode", "config/Code/User/mcp.json", include_str!("vscode_mcp.json")),
    ("codex", ".codex/config.toml", include_str!("codex_config.toml")),
    ("gemini", ".gemini/settings.json", include_str!("gemini_settings.json")),
    ("windsurf", ".codeium/windsurf/mcp_config.json", include_str!("windsurf_mcp_config.json")),
];

pub struct Desk {
    pub home: Home,
}

impl Desk {
    pub fn new(name: &str) -> Self {
        Self { home: Home::new(gristmill(), name) }
    }

    /// With every client's file.
    pub fn full(name: &str) -> Self {
        let desk = Self::new(name);
        for (_, path, text) in FILES {
            desk.write(path, text);
        }
        desk.write("config/Code/User/settings.json", include_str!("vscode_settings.json"));
        desk
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.home.path().join(path)
    }

    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub fn read(&self, path: &str) -> Vec<u8> {
        fs::read(self.at(path)).unwrap()
    }

    pub fn text(&self, path: &str) -> String {
        String::from_utf8(self.read(path)).unwrap()
    }

    /// What is sent by whoever is the local owner.
    pub fn bearer(&self) -> String {
        format!("Bearer {}", self.text("data/local-token").trim_end())
    }

    /// A command that must work and must not tell a secret.
    pub fn ok(&self, arguments: &[&str]) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}\n{}\n{}", ran.stdout, ran.stderr);
        ran
    }

    pub fn refused(&self, arguments: &[&str], words: &str) {
        let ran = self.run(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}\n{}\n{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(words), "{arguments:?}\n{}", ran.stderr);
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        let ran = self.home.run(arguments);
        assert!(!ran.stdout.contains("CANARY"), "{}", ran.stdout);
        assert!(!ran.stderr.contains("CANARY"), "{}", ran.stderr);
        ran
    }

    pub fn backups(&self, path: &str) -> Vec<PathBuf> {
        let path = self.at(path);
        let begins = format!("{}.gristmill-backup-", path.file_name().unwrap().to_string_lossy());
        let names = fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
        names.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(&begins)).collect()
    }

    pub fn config(&self) -> String {
        fs::read_to_string(self.home.config_file()).unwrap_or_default()
    }
}

pub fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// How many bytes two files have in common at their beginning and end.
pub fn common(one: &[u8], other: &[u8]) -> usize {
    let start = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let rest = one[start..].iter().rev().zip(other[start..].iter().rev());
    start + rest.take_while(|(a, b)| a == b).count()
}
