//! A server that we start is confined if its configuration says so. Each attack is made by a real server,
//! once free and once confined: what the sandbox stops must work without it.
#![cfg(target_os = "linux")]

mod support;

use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use gristmill_testkit::{Home, Ran, TestFolder, without_namespaces};
use support::gristmill;

/// Which layers the machine gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Machine {
    /// All of them.
    Whole,
    /// No namespaces, as in most containers: landlock and seccomp only.
    WithoutNamespaces,
}

/// Both, where a process may limit its own namespaces.
fn machines() -> Vec<Machine> {
    match without_namespaces(Path::new("true")) {
        Some(_) => vec![Machine::Whole, Machine::WithoutNamespaces],
        None => vec![Machine::Whole],
    }
}

struct World {
    home: Home,
    /// Where nobody is at home: neither ours nor the server's.
    outside: TestFolder,
}

impl World {
    /// With a server `hostile`, and what its configuration says of its sandbox.
    fn new(sandbox: &str) -> Self {
        let world = Self { home: Home::new(gristmill(), "sandboxed"), outside: TestFolder::new("outside") };
        world.configure(sandbox);
        world
    }

    fn configure(&self, sandbox: &str) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/hostile_server.py");
        let text = format!(
            "[servers.hostile]\ncommand = {:?}\nargs = [{:?}]\n{sandbox}\n",
            python(),
            script.display().to_string()
        );
        let file = self.home.config_file();
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    fn command(&self, machine: Machine, arguments: &[&str]) -> Command {
        let ours = self.home.command(arguments);
        if machine == Machine::Whole {
            return ours;
        }
        let mut command = without_namespaces(Path::new(ours.get_program())).expect("it was tried");
        command.args(arguments);
        command.current_dir(self.home.work()).stdin(Stdio::null());
        for (name, value) in ours.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    /// What the server says of one attempt.
    fn attempt(&self, machine: Machine, what: &str, argument: &str) -> String {
        let arguments =
            ["tools", "call", "hostile.attempt", &format!("what={what}"), &format!("argument={argument}")];
        let mut command = self.command(machine, &arguments);
        // Something that no server was given.
        let ran = Ran::of(command.env("A_PRIVATE_VARIABLE", "private").output().unwrap());
        assert_eq!(ran.code, Some(0), "{}\n{}", ran.stdout, ran.stderr);
        ran.stdout
    }

    /// It works for a free server, and for none that is confined.
    fn is_stopped(&self, sandbox: &str, what: &str, argument: &str) {
        self.configure("sandbox = false");
        let free = self.attempt(Machine::Whole, what, argument);
        assert!(free.starts_with("done: "), "the control for {what} {argument}: {free}");
        self.configure(sandbox);
        for machine in machines() {
            let confined = self.attempt(machine, what, argument);
            assert!(confined.starts_with("refused: "), "{what} {argument} ({machine:?}): {confined}");
        }
    }

    fn works(&self, what: &str, argument: &str) -> String {
        let outcomes: Vec<String> =
            machines().into_iter().map(|machine| self.attempt(machine, what, argument)).collect();
        assert!(
            outcomes.iter().all(|outcome| outcome.starts_with("done: ")),
            "{what} {argument}: {outcomes:?}"
        );
        assert!(outcomes.iter().all(|outcome| *outcome == outcomes[0]), "{what} {argument}: {outcomes:?}");
        outcomes[0].clone()
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.outside.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    fn data(&self, name: &str) -> PathBuf {
        let data = self.home.path().join("data");
        std::fs::create_dir_all(&data).unwrap();
        data.join(name)
    }
}

fn python() -> &'static str {
    if Path::new("/usr/bin/python3").exists() { "/usr/bin/python3" } else { "python3" }
}

/// Ends with the test.
struct Other(Child);

impl Other {
    /// A process of the same user, with a secret in its environment: another server, say.
    fn start() -> Self {
        let mut command = Command::new("sleep");
        Self(command.arg("600").env("THEIR_TOKEN", "s3cret-of-another").stdin(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn door_10_a_confined_server_reads_no_token_of_ours() {
    let world = World::new("");
    let tokens = world.data("tokens.json");
    std::fs::write(&tokens, "a login").unwrap();
    let tokens = tokens.display().to_string();
    world.is_stopped("sandbox = true", "read", &tokens);
    // Not even if everything above it is given.
    let above = world.home.path().display().to_string();
    for key in ["read", "write"] {
        world.is_stopped(&format!("sandbox = {{ {key} = [{above:?}] }}"), "read", &tokens);
    }
    // What is named is given.
    world.configure(&format!("sandbox = {{ read = [{tokens:?}] }}"));
    assert_eq!(world.works("read", &tokens), "done: a login\n");
}

#[test]
fn door_10_a_confined_server_reads_no_environment_of_another() {
    let world = World::new("");
    let other = Other::start();
    world.is_stopped("sandbox = true", "environ", &other.0.id().to_string());
}

#[test]
fn door_10_a_confined_server_traces_nobody() {
    let world = World::new("sandbox = false");
    let other = Other::start();
    let pid = other.0.id().to_string();
    // Some machines let nobody trace a process that is not its child.
    if world.attempt(Machine::Whole, "ptrace", &pid).starts_with("done: ") {
        world.is_stopped("sandbox = true", "ptrace", &pid);
    }
}

#[test]
fn door_10_a_confined_server_writes_and_changes_nothing_outside() {
    let world = World::new("");
    let existing = world.file("existing", "mine");
    let new = world.outside.path().join("new").display().to_string();
    world.is_stopped("sandbox = true", "write", &new);
    world.is_stopped("sandbox = true", "read", &existing);
    world.is_stopped("sandbox = true", "list", &world.home.path().display().to_string());
    world.is_stopped(&format!("sandbox = {{ read = [{existing:?}] }}"), "write", &existing);
    // What is given for reading is not even marked.
    world.configure(&format!("sandbox = {{ read = [{existing:?}] }}"));
    let marked = world.attempt(Machine::Whole, "chmod", &existing);
    assert!(marked.starts_with("refused: "), "{marked}");
}

#[test]
fn a_confined_server_has_the_paths_that_are_given_and_a_folder_for_temporary_files() {
    let world = World::new("");
    let folder = world.outside.path().display().to_string();
    world.file("read", "to be read");
    world.configure(&format!("sandbox = {{ write = [{folder:?}] }}"));
    assert_eq!(world.works("read", &format!("{folder}/read")), "done: to be read\n");
    world.works("write", &format!("{folder}/written"));
    assert_eq!(std::fs::read_to_string(world.outside.path().join("written")).unwrap(), "written by a server");
    for machine in machines() {
        let temporary = world.attempt(machine, "variable", "TMPDIR");
        let temporary = temporary.trim().strip_prefix("done: ").unwrap().to_owned();
        let is_private = temporary == "/tmp" || temporary.contains("gristmill-server-");
        assert!(is_private, "{temporary}");
    }
    // A link that was written is a link that works.
    let link = world.home.path().join("link");
    std::os::unix::fs::symlink(&folder, &link).unwrap();
    world.configure(&format!("sandbox = {{ read = [{:?}] }}", link.display().to_string()));
    assert_eq!(world.works("read", &format!("{}/read", link.display())), "done: to be read\n");
}

#[test]
fn a_confined_server_inherits_what_is_named() {
    let world = World::new("sandbox = true");
    let home = world.home.path().display().to_string();
    assert_eq!(world.works("variable", "A_PRIVATE_VARIABLE"), "done: \n");
    assert_eq!(world.works("variable", "HOME"), format!("done: {home}\n"));
    world.configure("sandbox = { env = [\"PATH\", \"A_PRIVATE_VARIABLE\"] }");
    assert_eq!(world.works("variable", "A_PRIVATE_VARIABLE"), "done: private\n");
    assert_eq!(world.works("variable", "HOME"), "done: \n");
}

#[test]
fn door_10_a_server_without_network_reaches_no_listener() {
    let world = World::new("");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    world.is_stopped("sandbox = { network = \"off\" }", "connect", &port);
    let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = datagrams.local_addr().unwrap().port().to_string();
    world.is_stopped("sandbox = { network = \"off\" }", "datagram", &port);
    world.configure("sandbox = { network = \"on\" }");
    let port = listener.local_addr().unwrap().port().to_string();
    world.works("connect", &port);
}

#[test]
fn a_confined_server_cannot_even_name_the_socket_of_another_program() {
    let world = World::new("sandbox = false");
    let path = world.outside.path().join("agent");
    let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let path = path.display().to_string();
    assert!(world.attempt(Machine::Whole, "unix", &path).starts_with("done: "));
    world.configure("sandbox = true");
    let confined = world.attempt(Machine::Whole, "unix", &path);
    assert!(confined.starts_with("refused: "), "{confined}");
}

/// Answers every request with the same page.
fn page() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ =
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");
        }
    });
    port
}

#[test]
fn door_10_a_server_with_hosts_reaches_these_and_no_other() {
    let world = World::new("");
    let (listed, other) = (page(), page());
    world.configure(&format!("sandbox = {{ network = [\"127.0.0.1:{listed}\", \"*.example.com\"] }}"));
    let fetch = |port: u16| world.attempt(Machine::Whole, "fetch", &format!("http://127.0.0.1:{port}/"));
    assert_eq!(fetch(listed), "done: hello\n");
    let refused = fetch(other);
    assert!(refused.contains("403"), "{refused}");
    // There is no way around the proxy: what a server sends stays in its own network.
    let past = world.attempt(Machine::Whole, "connect", &listed.to_string());
    assert!(past.starts_with("refused: "), "{past}");
    let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
    datagrams.set_nonblocking(true).unwrap();
    world.attempt(Machine::Whole, "datagram", &datagrams.local_addr().unwrap().port().to_string());
    assert!(datagrams.recv(&mut [0; 8]).is_err());
    let log = world.home.ok(&["logs", "hostile"]);
    assert!(log.contains(&format!("127.0.0.1:{other} isn't in this server's `sandbox.network`")), "{log}");
}

#[test]
fn hosts_are_refused_rather_than_pretended_where_there_are_no_namespaces() {
    let world = World::new("sandbox = { network = [\"api.example.com\"] }");
    if !machines().contains(&Machine::WithoutNamespaces) {
        return;
    }
    let ran = Ran::of(world.command(Machine::WithoutNamespaces, &["list"]).output().unwrap());
    assert_eq!(ran.code, Some(1), "{}", ran.stdout);
    let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("`network` by host needs a network namespace"), "{said}");
}

#[test]
fn a_required_sandbox_starts_nothing_where_a_layer_is_missing() {
    let world = World::new("sandbox = { required = true }");
    world.attempt(Machine::Whole, "variable", "HOME");
    if !machines().contains(&Machine::WithoutNamespaces) {
        return;
    }
    let ran = Ran::of(world.command(Machine::WithoutNamespaces, &["list"]).output().unwrap());
    assert_eq!(ran.code, Some(1), "{}", ran.stdout);
    let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("it needs namespaces") && said.contains("permit unprivileged user namespaces"),
        "{said}"
    );
    // Where it is not required, the log names what is missing.
    world.configure("sandbox = true");
    world.attempt(Machine::WithoutNamespaces, "variable", "HOME");
    assert!(world.home.ok(&["logs", "hostile"]).contains("sandbox has no namespaces"));
}

#[test]
fn hardened_confines_every_server_that_says_nothing_else() {
    let world = World::new("");
    let outside = world.file("outside", "mine");
    let at = |level: &str| {
        let program =
            format!("import servers.hostile as s\nawait s.attempt(what='read', argument={outside:?})");
        let ran = world.home.run(&["run", "--level", level, "-c", &program]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.stdout
    };
    assert!(at("production").contains("done: mine"));
    assert!(at("hardened").contains("refused: "));
    world.configure("sandbox = false");
    assert!(at("hardened").contains("done: mine"));
}

#[test]
fn example_servers_run_confined_and_leave_no_folder_behind() {
    let home = Home::new(gristmill(), "confined-examples");
    let temporary = TestFolder::new("temporary");
    let text: String = ["calculator", "weather", "documents", "crm", "filesystem"]
        .map(|name| {
            format!(
                "[servers.{name}]\ncommand = {:?}\nargs = [\"example-server\", {name:?}]\nsandbox = {{ network = \"off\", required = true }}\n",
                gristmill().display().to_string()
            )
        })
        .concat();
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    std::fs::write(home.config_file(), text).unwrap();
    let listed = home.command(&["list", "--json"]).env("TMPDIR", temporary.path()).output().unwrap();
    let ran = Ran::of(listed);
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.stdout, ran.stderr);
    let servers: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    for server in servers.as_array().unwrap() {
        assert_eq!((&server["state"], &server["sandbox"]), (&"up".into(), &"on".into()), "{server}");
    }
    let left = std::fs::read_dir(temporary.path()).unwrap().flatten().map(|entry| entry.file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().starts_with("gristmill-server-")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn doctor_and_list_say_which_servers_run_free() {
    let home = Home::new(gristmill(), "free");
    home.add_example("calculator");
    home.add_example("weather");
    let mut text = std::fs::read_to_string(home.config_file()).unwrap();
    text.push_str("\n[servers.weather.sandbox]\nnetwork = \"off\"\n");
    std::fs::write(home.config_file(), text).unwrap();
    let doctor = home.run(&["doctor"]).stdout;
    assert!(doctor.contains("run with your rights, outside a sandbox: calculator"), "{doctor}");
    let listed = home.ok(&["list"]);
    let state = |name: &str| {
        let line = listed.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
        line.split_whitespace().nth(1).unwrap().to_owned()
    };
    assert_eq!((state("calculator").as_str(), state("weather").as_str()), ("up", "up,"), "{listed}");
    assert!(listed.contains("up, sandboxed"), "{listed}");
}
