//! What a confined server gets: which paths, which variables, which network. The launcher in the
//! crate `worker` raises the walls.
//!
//! A server can read the system, what it was installed with, the folder it runs in, and what the
//! configuration names. It has no home beyond that, and never our own folders.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gristmill_gateway::domain::{SandboxNetwork, SandboxPreset, SandboxSettings};
use gristmill_gateway::upstream::ServerLog;
use gristmill_gateway::{
    SANDBOX_PROXY_PORT, SandboxedAccess, SandboxedNetwork, SandboxedPath, ServerSandbox,
};
use tokio::net::UnixListener;
use tokio::task::JoinHandle;

use super::egress::Egress;
use crate::addresses::{Lookup, system_lookup};

/// What a confined server inherits if nothing else is said. Not where the sockets of others are.
pub(crate) const INHERITED: [&str; 10] =
    ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_ALL", "LC_CTYPE", "TZ"];

/// Programs, libraries, and how the machine is set up.
const SYSTEM: [&str; 15] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/opt",
    "/etc",
    "/nix/store",
    "/run/current-system",
    "/run/systemd/resolve",
    "/run/NetworkManager/resolv.conf",
    "/run/resolvconf",
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
];

/// Never given for asking for everything: they are not files, or have a view of their own.
const NOT_FILES: [&str; 4] = ["/proc", "/sys", "/dev", "/tmp"];

/// Endings of programs that an interpreter is told to run.
const SCRIPTS: [&str; 9] = ["py", "pyz", "js", "mjs", "cjs", "ts", "mts", "rb", "jar"];

/// What is to be confined.
pub(crate) struct Confined<'a> {
    pub settings: &'a SandboxSettings,
    pub command: &'a str,
    pub arguments: &'a [String],
    pub folder: Option<&'a Path>,
    /// All its variables.
    pub environment: &'a BTreeMap<String, OsString>,
    /// Folders of ours.
    pub hidden: &'a [PathBuf],
}

/// A sandbox that waits for its server. Dropping it removes its folder and ends its proxy.
pub(crate) struct Sandbox {
    pub words: Vec<OsString>,
    _scratch: Scratch,
    _proxy: Option<Proxy>,
}

impl Sandbox {
    /// Works it out. The error is for people.
    pub(crate) fn new(confined: &Confined<'_>, log: &Arc<ServerLog>) -> Result<Self, String> {
        let scratch = Scratch::new().map_err(|error| format!("its sandbox has no folder: {error}"))?;
        let Paths { paths, links } = Paths::of(confined)?;
        // What is made later, in a folder that the server sees, would be seen, too.
        for folder in confined.hidden {
            let _ = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        }
        let hidden =
            confined.hidden.iter().map(|path| fs::canonicalize(path).unwrap_or_else(|_| path.clone()));
        let sandbox = ServerSandbox {
            paths,
            links,
            hidden: hidden.collect(),
            scratch: scratch.0.clone(),
            network: match &confined.settings.network {
                SandboxNetwork::On => SandboxedNetwork::Open,
                SandboxNetwork::Off => SandboxedNetwork::Closed,
                SandboxNetwork::Hosts(_) => SandboxedNetwork::Proxy,
            },
            required: confined.settings.required,
        };
        let proxy = match &confined.settings.network {
            SandboxNetwork::On | SandboxNetwork::Off => None,
            SandboxNetwork::Hosts(hosts) => {
                let handed = UnixListener::bind(sandbox.proxy_socket())
                    .map_err(|error| format!("the proxy of its sandbox can't listen: {error}"))?;
                let lookup: Lookup = Arc::new(|name| Box::pin(system_lookup(name)));
                let egress = Egress { hosts: hosts.clone(), lookup, log: Arc::clone(log) };
                Some(Proxy(tokio::spawn(egress.run(handed))))
            }
        };
        Ok(Self { words: sandbox.to_words(), _scratch: scratch, _proxy: proxy })
    }
}

/// Variables by which programs find our proxy.
pub(crate) fn proxy_variables(network: &SandboxNetwork) -> Vec<(String, OsString)> {
    if !matches!(network, SandboxNetwork::Hosts(_)) {
        return Vec::new();
    }
    let proxy = format!("http://127.0.0.1:{SANDBOX_PROXY_PORT}");
    let mut variables: Vec<(String, OsString)> = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"]
        .iter()
        .map(|name| ((*name).to_owned(), OsString::from(&proxy)))
        .collect();
    // Node looks at them only if it is told to.
    variables.push(("NODE_USE_ENV_PROXY".to_owned(), OsString::from("1")));
    variables
}

#[derive(Default)]
struct Paths {
    paths: Vec<SandboxedPath>,
    links: Vec<PathBuf>,
}

impl Paths {
    fn of(confined: &Confined<'_>) -> Result<Self, String> {
        let mut paths = Self::default();
        for path in SYSTEM {
            paths.add_if_there(Path::new(path), SandboxedAccess::Read);
        }
        let home = confined.environment.get("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let is_too_wide =
            |path: &Path| path == Path::new("/") || home.as_ref().is_some_and(|home| home.starts_with(path));
        paths.add_command(confined, &is_too_wide);
        if let Some(home) = &home {
            paths.add_preset(confined, home);
        }
        let settings = confined.settings;
        for (key, given, access) in [
            ("read", &settings.read, SandboxedAccess::Read),
            ("write", &settings.write, SandboxedAccess::Write),
        ] {
            for path in given {
                if !path.exists() {
                    return Err(format!("`sandbox.{key}` names {}, which doesn't exist", path.display()));
                }
                paths.add_if_there(path, access);
            }
        }
        Ok(paths.widest())
    }

    /// The program, what was installed with it, the script that it runs, and where it runs.
    fn add_command(&mut self, confined: &Confined<'_>, is_too_wide: &dyn Fn(&Path) -> bool) {
        let folder =
            confined.folder.map_or_else(|| std::env::current_dir().unwrap_or_default(), Path::to_owned);
        let folder = folder.as_path();
        if let Some(program) = find(confined.command, folder, confined.environment.get("PATH")) {
            self.add_if_there(&program, SandboxedAccess::Read);
            if let Some(package) = package_of(&program).filter(|package| !is_too_wide(package)) {
                self.add_if_there(package, SandboxedAccess::Read);
            }
            let program = fs::canonicalize(&program).unwrap_or(program);
            let own = installation_of(&program, confined.environment.get("HOME"));
            if let Some(own) = own.filter(|own| !is_too_wide(own)) {
                self.add_if_there(own, SandboxedAccess::Read);
            }
        }
        for argument in confined.arguments {
            let path = folder.join(argument);
            let ending = path.extension().and_then(|ending| ending.to_str());
            if !ending.is_some_and(|ending| SCRIPTS.contains(&ending)) || !path.is_file() {
                continue;
            }
            match path.parent().filter(|above| !is_too_wide(above)) {
                Some(above) => self.add_if_there(above, SandboxedAccess::Read),
                None => self.add_if_there(&path, SandboxedAccess::Read),
            }
        }
        if let Some(folder) = confined.folder.filter(|folder| !is_too_wide(folder)) {
            self.add_if_there(folder, SandboxedAccess::Read);
        }
    }

    fn add_preset(&mut self, confined: &Confined<'_>, home: &Path) {
        let program =
            Path::new(confined.command).file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let preset = confined.settings.preset.unwrap_or_else(|| SandboxPreset::of_program(program));
        // These fetch packages, and need somewhere to put them.
        let kept: &[&str] = match program {
            "npx" | "npm" => &[".npm"],
            "uvx" | "uv" => &[".cache/uv", ".local/share/uv"],
            _ => &[],
        };
        for path in kept.iter().filter(|path| preset.writes().contains(path)) {
            let _ = fs::create_dir_all(home.join(path));
        }
        for path in preset.reads() {
            self.add_if_there(&home.join(path), SandboxedAccess::Read);
        }
        for path in preset.writes() {
            self.add_if_there(&home.join(path), SandboxedAccess::Write);
        }
    }

    fn add_if_there(&mut self, path: &Path, access: SandboxedAccess) {
        let Ok(real) = fs::canonicalize(path) else { return };
        if real == Path::new("/") {
            let inside = fs::read_dir(&real).into_iter().flatten().flatten().map(|entry| entry.path());
            for path in inside.filter(|path| !NOT_FILES.iter().any(|other| path == Path::new(other))) {
                self.add_if_there(&path, access);
            }
            return;
        }
        if real != path {
            self.links.push(path.to_owned());
        }
        self.paths.push(SandboxedPath { path: real, access });
    }

    /// Each path once, with the most that was given.
    fn widest(mut self) -> Self {
        let rank = |access: SandboxedAccess| match access {
            SandboxedAccess::Write => 0,
            SandboxedAccess::Read => 1,
        };
        self.paths
            .sort_by(|one, other| one.path.cmp(&other.path).then(rank(one.access).cmp(&rank(other.access))));
        self.paths.dedup_by(|one, other| one.path == other.path);
        self.links.sort();
        self.links.dedup();
        self
    }
}

/// The environment of Python packages, or the packages of Node, that a program belongs to.
fn package_of(program: &Path) -> Option<&Path> {
    let folder = program.parent()?;
    let above = folder.parent()?;
    let is_node = folder.file_name().is_some_and(|name| name == ".bin");
    (is_node || above.join("pyvenv.cfg").is_file()).then_some(above)
}

/// What a program was installed with: of `tool/bin/program`, all of `tool`. Not of `~/.local/bin/program`: what
/// is beside that belongs to others.
fn installation_of<'a>(program: &'a Path, home: Option<&OsString>) -> Option<&'a Path> {
    let folder = program.parent()?;
    let above = folder.parent()?;
    let is_in_bin = folder.file_name().is_some_and(|name| name == "bin");
    let is_shared = |home: &OsString| above == Path::new(home) || above.parent() == Some(Path::new(home));
    Some(if is_in_bin && !home.is_some_and(is_shared) { above } else { folder })
}

/// Where a command is, the way the system will look for it.
fn find(command: &str, folder: &Path, path: Option<&OsString>) -> Option<PathBuf> {
    if command.contains('/') {
        return Some(folder.join(command)).filter(|path| path.exists());
    }
    let folders = path.map(std::env::split_paths).into_iter().flatten();
    folders.map(|folder| folder.join(command)).find(|path| path.is_file())
}

/// Ends with its server.
struct Proxy(JoinHandle<io::Result<()>>);

impl Drop for Proxy {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A folder of one start of one server.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> io::Result<Self> {
        let mut random = [0u8; 8];
        getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
        let name = format!("gristmill-server-{:016x}", u64::from_ne_bytes(random));
        let folder = fs::canonicalize(std::env::temp_dir())?.join(name);
        fs::DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use gristmill_testkit::TestFolder;

    use super::*;

    /// What a command gets below a home that has been filled with these files.
    fn given(
        files: &[&str],
        command: &str,
        arguments: &[&str],
        settings: &SandboxSettings,
    ) -> Result<Vec<String>, String> {
        let home = TestFolder::new("sandbox-paths");
        let root = fs::canonicalize(home.path()).expect("a folder");
        for file in files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, "").expect("written");
        }
        let environment = BTreeMap::from([
            ("HOME".to_owned(), root.clone().into_os_string()),
            ("PATH".to_owned(), root.join("bin").into_os_string()),
        ]);
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let settings = SandboxSettings {
            read: settings.read.iter().map(|path| root.join(path)).collect(),
            write: settings.write.iter().map(|path| root.join(path)).collect(),
            ..settings.clone()
        };
        let paths = Paths::of(&Confined {
            settings: &settings,
            command,
            arguments: &arguments,
            folder: Some(&root),
            environment: &environment,
            hidden: &[],
        })?;
        let below = |given: &SandboxedPath| {
            let below = given.path.strip_prefix(&root).ok()?;
            Some(format!("{:?} {}", given.access, below.display()))
        };
        Ok(paths.paths.iter().filter_map(below).collect())
    }

    #[test]
    fn a_server_gets_what_it_was_installed_with_and_never_the_whole_home() {
        let plain = SandboxSettings::default();
        let check = |files: &[&str], command: &str, arguments: &[&str], expected: &[&str]| {
            assert_eq!(given(files, command, arguments, &plain).expect("paths"), expected, "{command}");
        };
        check(&["bin/notes"], "notes", &[], &["Read bin", "Read bin/notes"]);
        check(&["notes"], "./notes", &[], &["Read notes"]);
        check(&["tool/1/bin/notes"], "tool/1/bin/notes", &[], &["Read tool/1", "Read tool/1/bin/notes"]);
        check(&[".local/bin/notes"], ".local/bin/notes", &[], &["Read .local/bin", "Read .local/bin/notes"]);
        let venv = ["venv/bin/notes", "venv/pyvenv.cfg"];
        check(&venv, "venv/bin/notes", &[], &["Read venv", "Read venv/bin", "Read venv/bin/notes"]);
        let script = ["bin/run", "app/server.py", "app/data.csv"];
        check(&script, "run", &["app/server.py", "app/data.csv"], &["Read app", "Read bin", "Read bin/run"]);
        check(
            &["bin/run", "server.py"],
            "run",
            &["server.py"],
            &["Read bin", "Read bin/run", "Read server.py"],
        );
        check(
            &["bin/npx", ".nvm/x", ".ssh/id"],
            "npx",
            &[],
            &["Write .npm", "Read .nvm", "Read bin", "Read bin/npx"],
        );
    }

    #[test]
    fn configured_paths_must_be_there_and_the_most_that_was_given_counts() {
        let both = SandboxSettings {
            read: vec!["notes".into()],
            write: vec!["notes".into()],
            ..SandboxSettings::default()
        };
        let found = given(&["bin/run", "notes/a"], "run", &[], &both).expect("paths");
        assert_eq!(found, ["Read bin", "Read bin/run", "Write notes"]);
        let missing = given(&["bin/run"], "run", &[], &both).expect_err("it is not there");
        assert!(
            missing.starts_with("`sandbox.read` names ") && missing.ends_with("doesn't exist"),
            "{missing}"
        );
    }
}
