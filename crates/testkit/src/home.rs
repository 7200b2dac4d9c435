//! A user's home for tests of the binary.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::TestFolder;

/// A user's home, with nothing in it but the compiled engine.
pub struct Home {
    binary: PathBuf,
    folder: TestFolder,
}

/// What a command left.
pub struct Ran {
    /// Its exit code; none if it was killed.
    pub code: Option<i32>,
    pub stdout: String,
    /// What it said beside.
    pub stderr: String,
}

impl Home {
    /// For a binary, with `name` in the folder's name.
    pub fn new(binary: &Path, name: &str) -> Self {
        let folder = TestFolder::new(name);
        let cache = folder.path().join("cache");
        std::fs::create_dir_all(&cache).expect("a test may do this");
        let engines =
            gristmill_gateway::Folders::from_environment().expect("a test may do this").cache.join("engines");
        std::os::unix::fs::symlink(engines, cache.join("engines")).expect("a test may do this");
        std::fs::create_dir_all(folder.path().join("work")).expect("a test may do this");
        Self { binary: binary.to_owned(), folder }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Where commands are run.
    pub fn work(&self) -> PathBuf {
        self.path().join("work")
    }

    /// The user's own configuration.
    pub fn config_file(&self) -> PathBuf {
        self.path().join("config/gristmill/gristmill.toml")
    }

    /// A command of the binary, in this home and no other.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(arguments)
            .current_dir(self.work())
            .env("HOME", self.path())
            .env("XDG_CONFIG_HOME", self.path().join("config"))
            .env("GRISTMILL_DATA_DIR", self.path().join("data"))
            .env("GRISTMILL_CACHE_DIR", self.path().join("cache"))
            // One that happens to be installed would check some programs and come too late for others.
            .env("GRISTMILL_TYPE_CHECKER", "off")
            // Other clients' own variables would lead out of this home, to files of whoever tests.
            .env_remove("CLAUDE_CONFIG_DIR")
            .env_remove("CODEX_HOME")
            .env_remove("GRISTMILL_TOKEN")
            .stdin(Stdio::null());
        command
    }

    /// A shell in this home and no other. It finds the binary by its name, also as the command of a server,
    /// and stops at the first command that fails.
    pub fn shell(&self, script: &str) -> Command {
        let ours = self.binary.parent().expect("a folder").to_owned();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path =
            std::env::join_paths([ours].into_iter().chain(std::env::split_paths(&path))).expect("a path");
        let mut shell = Command::new("sh");
        shell.args(["-eu", "-c", script]).current_dir(self.work()).stdin(Stdio::null());
        for (name, value) in self.command(&[]).get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        shell.env("PATH", path);
        shell
    }

    /// Runs a command to its end.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().expect("a test may do this"))
    }

    /// Runs a command that must work, and gives what it printed.
    pub fn ok(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}\n{}\n{}", ran.stdout, ran.stderr);
        ran.stdout
    }

    /// Adds an example server under its own name.
    pub fn add_example(&self, name: &str) {
        let binary = self.binary.to_string_lossy();
        self.ok(&["add", name, "--", &binary, "example-server", name]);
    }
}

impl Ran {
    /// Of a finished process.
    pub fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}
