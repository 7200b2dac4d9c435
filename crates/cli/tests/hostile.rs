//! Gives every program of `hostile/` to one gateway, and looks at what the host sees: how it ended,
//! what came back, whether a listener was reached, whether files appeared, whether the gateway
//! still serves. The format is described in `hostile/README.md`.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gristmill_example_servers::example_tools::ExampleTools;
use gristmill_gateway::domain::{Code, Level, LimitName, Limits};
use gristmill_gateway::{ExecuteRequest, Folders, Report};
use gristmill_testkit::{TestFolder, World};
use libtest_mimic::{Arguments, Failed, Trial};

const CANARY: &str = "CANARY-7f3a";
const SECRET: (&str, &str) = ("GRISTMILL_TEST_SECRET", "SECRET-91bc");
const OTHER: &str = "OTHER-55d1";

/// What a program may take beyond its deadline until it is gone, on a machine that is busy.
const GRACE: Duration = Duration::from_secs(20);

struct Attack {
    name: String,
    expect: Vec<String>,
    forbid: Vec<String>,
    twice: bool,
    timeout_ms: u64,
    memory_mb: u64,
    code: String,
}

/// What the attacks are after.
struct Range {
    world: World,
    listener: TcpListener,
    folder: TestFolder,
}

fn main() {
    // SAFETY: the first thing in a process that has one thread.
    unsafe { std::env::set_var(SECRET.0, SECRET.1) };
    let arguments = Arguments::from_args();
    let attacks = find_attacks();
    assert!(attacks.len() >= 60, "only {} attacks found", attacks.len());
    let range = Arc::new(Range::new());
    let mut trials: Vec<Trial> = attacks
        .into_iter()
        .map(|path| {
            let attack = read_attack(&path);
            let range = Arc::clone(&range);
            Trial::test(format!("hostile::{}", attack.name), move || range.withstands(&attack))
        })
        .collect();
    let oracle = Arc::clone(&range);
    trials.push(Trial::test("oracle::a_file_that_appears_on_the_host_is_noticed", move || {
        oracle.notices_what_appears()
    }));
    let conclusion = libtest_mimic::run(&arguments, trials);
    // Exiting drops nothing: the folders of the test go with this.
    drop(range);
    conclusion.exit();
}

impl Range {
    fn new() -> Self {
        let cache = Folders::from_environment().expect("folders").cache;
        let mut limits = Limits::of(Level::Production);
        // Large enough to be slow to fill, small enough to be reached.
        limits.set(LimitName::WorkspaceBytes, 50 << 20).expect("in range");
        limits.set(LimitName::WorkspaceFiles, 2000).expect("in range");
        let world = World::new(Path::new(env!("CARGO_BIN_EXE_gristmill")))
            .limits(limits)
            .tools(ExampleTools::new(&cache).expect("example tools"))
            .start();
        let folder = TestFolder::below(Path::new(env!("CARGO_TARGET_TMPDIR")), "hostile");
        std::fs::write(folder.path().join("canary.txt"), CANARY).expect("a canary");
        std::fs::create_dir(folder.path().join("other")).expect("another workspace");
        std::fs::write(folder.path().join("other/other.txt"), OTHER).expect("a file in it");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        listener.set_nonblocking(true).expect("a listener that does not wait");
        Self { world, listener, folder }
    }

    fn withstands(&self, attack: &Attack) -> Result<(), Failed> {
        for round in 1..=if attack.twice { 2 } else { 1 } {
            self.withstands_once(attack).map_err(|reason| format!("round {round}: {reason}"))?;
        }
        Ok(())
    }

    fn withstands_once(&self, attack: &Attack) -> Result<(), String> {
        let nonce = format!("n{}", std::process::id());
        let code = attack
            .code
            .replace("@@CANARY@@", &self.folder.path().join("canary.txt").display().to_string())
            .replace("@@OTHER_WORKSPACE@@", &self.folder.path().join("other").display().to_string())
            .replace("@@SECRET_ENV@@", SECRET.0)
            .replace("@@PORT@@", &self.port().to_string())
            .replace("@@NONCE@@", &nonce);
        let mut limits = self.world.gateway().limits().clone();
        // What is to end by itself gets all the time that a busy machine may need.
        let by_time = attack.expect.iter().any(|ending| ending.ends_with("_time"));
        let time_ms = if by_time { attack.timeout_ms.max(1000) } else { 60_000 };
        limits.set(LimitName::WallTime, time_ms).map_err(|error| error.to_string())?;
        limits.set(LimitName::CpuTime, time_ms).map_err(|error| error.to_string())?;
        limits.set(LimitName::Memory, attack.memory_mb << 20).map_err(|error| error.to_string())?;
        let started = Instant::now();
        let report =
            self.world.execute(ExecuteRequest { limits: Some(limits), ..ExecuteRequest::python(code) });
        if started.elapsed() > Duration::from_millis(time_ms) + GRACE {
            return Err(format!("took {:?}", started.elapsed()));
        }
        let ending = ending_of(&report);
        if !attack.expect.contains(&ending) {
            let error = report.error.as_ref();
            return Err(format!(
                "ended in {ending}, expected {}\nerror: {error:#?}\nstdout: {}\nnotes: {:?}",
                attack.expect.join(" | "),
                head(&report.stdout),
                report.notes
            ));
        }
        self.nothing_escaped(attack, &report, &nonce)?;
        let after = self.world.run("6 * 7");
        if after.result != Some(serde_json::json!(42)) {
            return Err(format!("afterwards an ordinary program failed: {:?}", after.error));
        }
        Ok(())
    }

    fn nothing_escaped(&self, attack: &Attack, report: &Report, nonce: &str) -> Result<(), String> {
        let mut seen = vec![report.stdout.clone(), report.stderr.clone()];
        seen.extend(report.result.as_ref().map(|result| match result {
            serde_json::Value::String(text) => text.clone(),
            value => value.to_string(),
        }));
        seen.extend(report.error.as_ref().map(|error| format!("{error:?}")));
        seen.extend(report.notes.iter().cloned());
        let forbidden = attack.forbid.iter().map(String::as_str).chain([CANARY, SECRET.1, OTHER]);
        for text in forbidden {
            if let Some(place) = seen.iter().find(|place| place.contains(text)) {
                return Err(format!("`{text}` came back in: {}", head(place)));
            }
        }
        if self.listener.accept().is_ok() {
            return Err("a connection reached the listener".to_owned());
        }
        self.nothing_appeared(nonce)
    }

    /// Whether the folders that attacks aim at are free of files with this nonce, whatever a program
    /// says about them: a path that exists here may name one of the program's own folders there.
    fn nothing_appeared(&self, nonce: &str) -> Result<(), String> {
        for folder in
            [self.folder.path(), &self.folder.path().join("other"), &std::env::temp_dir(), Path::new("/")]
        {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                if name.starts_with(&format!("guest-{nonce}"))
                    || name.starts_with(&format!("planted-{nonce}"))
                {
                    return Err(format!("{} appeared on the host", entry.path().display()));
                }
            }
        }
        Ok(())
    }

    /// The check above must be able to fail.
    fn notices_what_appears(&self) -> Result<(), Failed> {
        let nonce = format!("oracle{}", std::process::id());
        for folder in [self.folder.path().to_owned(), self.folder.path().join("other")] {
            for name in ["guest", "planted"] {
                let planted = folder.join(format!("{name}-{nonce}"));
                std::fs::write(&planted, "x")?;
                let found = self.nothing_appeared(&nonce);
                std::fs::remove_file(&planted)?;
                if found.is_ok() {
                    return Err(format!("{} was not noticed", planted.display()).into());
                }
            }
        }
        Ok(self.nothing_appeared(&nonce)?)
    }

    fn port(&self) -> u16 {
        self.listener.local_addr().expect("the listener's address").port()
    }
}

/// The report's ending in the words of the headers.
fn ending_of(report: &Report) -> String {
    let Some(error) = &report.error else { return "ok".to_owned() };
    match error.code {
        Code::EngineCrash => "crash".to_owned(),
        Code::WorkerLost | Code::WorkerMisbehaved | Code::WorkerUnavailable => format!("ours:{}", error.code),
        _ if error.kind == "limit" => {
            let name = report.limits_hit.first().map_or("?", |hit| hit.name);
            format!("limit:{name}")
        }
        _ => "error".to_owned(),
    }
}

fn find_attacks() -> Vec<PathBuf> {
    let folder =
        Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo")).join("tests/hostile");
    let mut found = Vec::new();
    for class in std::fs::read_dir(folder).expect("the attacks").flatten() {
        for file in std::fs::read_dir(class.path()).into_iter().flatten().flatten() {
            if file.path().extension().is_some_and(|extension| extension == "py") {
                found.push(file.path());
            }
        }
    }
    found.sort();
    found
}

fn read_attack(path: &Path) -> Attack {
    let code = std::fs::read_to_string(path).expect("an attack");
    let class = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut attack = Attack {
        name: format!("{class}::{name}"),
        expect: Vec::new(),
        forbid: Vec::new(),
        twice: false,
        timeout_ms: 2000,
        memory_mb: 512,
        code: String::new(),
    };
    for line in code.lines() {
        let Some((key, value)) = line.strip_prefix("# ").and_then(|rest| rest.split_once(": ")) else {
            break;
        };
        let value = value.trim();
        match key {
            "attack" => {}
            "expect" => attack.expect = value.split(" | ").map(str::to_owned).collect(),
            "forbid" => attack.forbid.push(value.to_owned()),
            "twice" => attack.twice = value == "yes",
            "timeout_ms" => attack.timeout_ms = value.parse().expect("timeout_ms"),
            "memory_mb" => attack.memory_mb = value.parse().expect("memory_mb"),
            _ => break,
        }
    }
    assert!(!attack.expect.is_empty(), "{} expects nothing", path.display());
    attack.code = code;
    attack
}

fn head(text: &str) -> String {
    text.chars().take(600).collect()
}
