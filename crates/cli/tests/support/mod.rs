//! What the tests of the binary share.
#![expect(dead_code, reason = "each test uses some of it")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use gristmill_testkit::TestFolder;

/// The binary under test.
pub fn gristmill() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_gristmill"))
}

/// A user's home, with nothing in it but the compiled engine.
pub struct Home(TestFolder);

/// What a command left.
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Home {
    pub fn new(name: &str) -> Self {
        let folder = TestFolder::new(name);
        let cache = folder.path().join("cache");
        std::fs::create_dir_all(&cache).unwrap();
        let engines = gristmill_gateway::Folders::from_environment().unwrap().cache.join("engines");
        std::os::unix::fs::symlink(engines, cache.join("engines")).unwrap();
        std::fs::create_dir_all(folder.path().join("work")).unwrap();
        Self(folder)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Where commands are run.
    pub fn work(&self) -> PathBuf {
        self.path().join("work")
    }

    pub fn config_file(&self) -> PathBuf {
        self.path().join("config/gristmill/gristmill.toml")
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(gristmill());
        command
            .args(arguments)
            .current_dir(self.work())
            .env("HOME", self.path())
            .env("XDG_CONFIG_HOME", self.path().join("config"))
            .env("GRISTMILL_DATA_DIR", self.path().join("data"))
            .env("GRISTMILL_CACHE_DIR", self.path().join("cache"))
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }

    /// Runs a command that must work, and gives what it printed.
    pub fn ok(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}\n{}\n{}", ran.stdout, ran.stderr);
        ran.stdout
    }

    /// Adds an example server under its own name.
    pub fn add_example(&self, name: &str) {
        self.ok(&["add", name, "--", gristmill().to_str().unwrap(), "example-server", name]);
    }
}

impl Ran {
    pub fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}
