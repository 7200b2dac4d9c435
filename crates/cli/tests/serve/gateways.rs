//! Homes with servers in them, and gateways in those homes. Cases that leave nothing behind share one.

use std::ops::Deref;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use gristmill_testkit::Home;
use gristmill_testkit::processes::{children_of, eventually};
use serde_json::{Map, Value, json};

use crate::client::{Client, Manners, legacy, modern};
use crate::support::gristmill;

/// A home to be.
pub struct Place {
    home: Home,
    servers: Map<String, Value>,
    settings: Map<String, Value>,
}

/// A gateway that runs. It ends before its home goes.
pub struct Served {
    client: Client,
    home: Home,
}

impl Place {
    pub fn new(name: &str) -> Self {
        Self { home: Home::new(gristmill(), name), servers: Map::new(), settings: Map::new() }
    }

    /// One of the servers of `gristmill example-server`.
    pub fn example(self, name: &str) -> Self {
        let entry = json!({"command": gristmill(), "args": ["example-server", name], "category": "examples"});
        self.server(name, entry)
    }

    /// The server that does what it is told.
    pub fn scripted(self, name: &str, behaviours: &[&str]) -> Self {
        let ourselves = std::env::current_exe().expect("our own path");
        let args: Vec<&str> = ["scripted-server"].iter().chain(behaviours).copied().collect();
        self.server(name, json!({"command": ourselves, "args": args, "description": "does as it is told"}))
    }

    pub fn server(mut self, name: &str, entry: Value) -> Self {
        self.servers.insert(name.to_owned(), entry);
        self
    }

    /// Something of the configuration beside its servers.
    pub fn setting(mut self, name: &str, value: Value) -> Self {
        self.settings.insert(name.to_owned(), value);
        self
    }

    pub fn home(&self) -> &Home {
        &self.home
    }

    pub fn into_home(self) -> Home {
        self.home
    }

    /// The command that serves here. Most cases are about tools that the default doesn't show: without a profile
    /// among the arguments it is `standard`.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let has_profile = arguments.contains(&"--profile");
        let profile: &[&str] = if has_profile { &[] } else { &["--profile", "standard"] };
        let all: Vec<&str> = profile.iter().chain(arguments).copied().collect();
        self.plain_command(&all)
    }

    /// The same with what is said alone.
    pub fn plain_command(&self, arguments: &[&str]) -> Command {
        let config = self.home.path().join("servers.json");
        let mut configured = self.settings.clone();
        configured.insert("servers".to_owned(), json!(self.servers));
        std::fs::write(&config, Value::from(configured).to_string()).expect("a file");
        let config = config.to_str().expect("a path in UTF-8");
        // Time enough for a busy machine: none of the cases is about this limit.
        let words = ["serve", "--config", config, "--timeout", "100s"];
        let words: Vec<&str> = words.iter().chain(arguments).copied().collect();
        self.home.command(&words)
    }

    /// Starts a gateway.
    pub fn serve(self, manners: Manners, arguments: &[&str]) -> Served {
        Served { client: Client::start(self.command(arguments), manners), home: self.home }
    }
}

impl Served {
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// The processes that run programs, or wait to.
    pub fn workers(&self) -> Vec<u32> {
        let named = |pid: &u32, word: &str| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(word)
        };
        let supervisors =
            children_of(self.pid()).into_iter().filter(|pid| !named(pid, "upstream-supervisor"));
        supervisors.flat_map(children_of).flat_map(children_of).collect()
    }
}

impl Deref for Served {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

/// Two servers of ours and one that does as it is told.
fn furnished(name: &str) -> Place {
    Place::new(name).example("calculator").example("crm").scripted("robot", &[])
}

type Shared = Mutex<Option<Arc<Served>>>;
static OLDER: Shared = Mutex::new(None);
static NEWER: Shared = Mutex::new(None);

/// One gateway for all cases that leave nothing behind in it.
pub fn shared() -> Arc<Served> {
    share(&OLDER, || furnished("shared").serve(legacy(), &["--profile", "full"]))
}

/// The same in the modern era.
pub fn shared_modern() -> Arc<Served> {
    share(&NEWER, || furnished("shared-modern").serve(modern(), &["--profile", "full"]))
}

fn share(shared: &Shared, start: impl FnOnce() -> Served) -> Arc<Served> {
    let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(shared.get_or_insert_with(|| Arc::new(start())))
}

/// Ends what was shared: nothing else does.
pub fn end_shared() {
    for shared in [&OLDER, &NEWER] {
        shared.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// Processes with a text in their command line or their environment, dead ones left out.
pub fn with_mark(mark: &str) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let read = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
        let about = [read("cmdline"), read("environ")].concat();
        if String::from_utf8_lossy(&about).contains(mark) && gristmill_testkit::processes::is_alive(pid) {
            found.push(pid);
        }
    }
    found
}

/// Every process of a home has the home's path in its environment or its command line.
pub fn none_left(home: &Home) {
    let mark = home.path().to_str().expect("a path in UTF-8").to_owned();
    eventually("no process is left", || with_mark(&mark).is_empty().then_some(()));
}
