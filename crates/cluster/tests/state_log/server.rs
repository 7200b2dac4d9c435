//! Servers of a bus, each a process with a folder of its own. They end with their values.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gristmill_cluster::state::log::StateLog;
use gristmill_cluster::{Bus, BusSettings, Insist, connect};

const STARTED_WITHIN: Duration = Duration::from_secs(20);

/// The program to start, or None where nothing can be checked.
pub fn program() -> Option<PathBuf> {
    let named = std::env::var_os("NATS_SERVER_FOR_TESTS").map(PathBuf::from);
    if named.is_none() {
        println!("not checked: no nats-server");
    }
    named
}

pub fn soon(seconds: u64) -> Instant {
    Instant::now() + Duration::from_secs(seconds)
}

pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("its number").port()
}

/// A folder that is gone with its value.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        let random = getrandom::u64().expect("a random number");
        let path = std::env::temp_dir().join(format!("gristmill-state-log-{random:016x}"));
        fs::create_dir(&path).expect("a folder");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub struct Server {
    program: PathBuf,
    arguments: Vec<String>,
    pub port: u16,
    child: Option<Child>,
    folder: Folder,
}

impl Server {
    /// One server that is alone, with JetStream.
    pub fn alone() -> Option<Self> {
        let (program, folder, port) = (program()?, Folder::new(), free_port());
        let mut arguments = vec!["-js".to_owned(), "-sd".to_owned(), text(&folder.0)];
        arguments.extend(["-a", "127.0.0.1", "-p", &port.to_string()].map(str::to_owned));
        Some(Self::with(program, arguments, folder, port))
    }

    /// One that has this in its configuration.
    pub fn configured(port: u16, configuration: impl FnOnce(&Path) -> String) -> Option<Self> {
        let (program, folder) = (program()?, Folder::new());
        let path = folder.0.join("nats.conf");
        let listen = format!("listen: \"127.0.0.1:{port}\"\n{}", configuration(&folder.0));
        fs::write(&path, listen).expect("a configuration");
        let arguments = vec!["-c".to_owned(), text(&path)];
        Some(Self::with(program, arguments, folder, port))
    }

    fn with(program: PathBuf, arguments: Vec<String>, folder: Folder, port: u16) -> Self {
        let mut server = Self { program, arguments, port, child: None, folder };
        server.start();
        server
    }

    /// Starts it, as it was, and waits until it answers.
    pub fn start(&mut self) {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.child = Some(command.spawn().expect("nats-server starts"));
        let until = Instant::now() + STARTED_WITHIN;
        while !self.answers() {
            assert!(Instant::now() < until, "nats-server doesn't answer");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn answers(&self) -> bool {
        let Ok(stream) = TcpStream::connect(("127.0.0.1", self.port)) else { return false };
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).is_ok_and(|_| line.starts_with("INFO"))
    }

    /// Ends it without a word.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// What it has stored, once it's killed.
    pub fn stored(&self) -> Folder {
        let copy = Folder::new();
        copy_folder(&self.folder.0, &copy.0);
        copy
    }

    /// It has lost what came after that, as without power before it was on disk. Once it's killed.
    pub fn go_back_to(&self, stored: &Folder) {
        fs::remove_dir_all(&self.folder.0).expect("removed");
        fs::create_dir(&self.folder.0).expect("a folder");
        copy_folder(&stored.0, &self.folder.0);
    }

    pub async fn bus(&self, name: &str) -> Bus {
        bus_at(&[self.port], name).await
    }

    pub async fn log(&self, name: &str) -> StateLog {
        StateLog::open(&self.bus(name).await, 1).await.expect("the log")
    }

    /// A client of its own, to look behind the log's back.
    pub async fn jetstream(&self) -> async_nats::jetstream::Context {
        let client = async_nats::connect(format!("nats://127.0.0.1:{}", self.port)).await.expect("a client");
        async_nats::jetstream::new(client)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

fn copy_folder(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("listed") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        if entry.file_type().expect("its kind").is_dir() {
            fs::create_dir(&to).expect("a folder");
            copy_folder(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), &to).expect("copied");
        }
    }
}

pub fn settings_at(ports: &[u16]) -> BusSettings {
    BusSettings {
        urls: ports.iter().map(|port| format!("nats://127.0.0.1:{port}")).collect(),
        cluster: "test-1".parse().expect("a name"),
        nkey_seed: None,
        ca: None,
        client_certificate: None,
    }
}

pub async fn bus_at(ports: &[u16], name: &str) -> Bus {
    connect(&settings_at(ports), name, Insist::No).await.expect("a connection")
}

pub fn text(path: &Path) -> String {
    path.to_str().expect("UTF-8").to_owned()
}
