//! A gateway whose workers are scripted, in folders of its own.

use std::fs::OpenOptions;
use std::path::Path;
use std::time::Duration;

use gristmill_gateway::domain::{Code, Level, Limits};
use gristmill_gateway::{ExecuteRequest, Report, Variables, WorkspaceChoice};
use gristmill_testkit::processes::{eventually, with_argument};
use gristmill_testkit::scripted_worker::{Script, ZygoteScript, script};
use gristmill_testkit::{TestFolder, World, WorldBuilder};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

/// The tests of a module: functions whose names say what is expected.
macro_rules! trials {
    ($($name:ident),* $(,)?) => {
        pub fn trials() -> Vec<libtest_mimic::Trial> {
            let path = module_path!();
            let module = path.split_once("::").map_or(path, |(_, module)| module);
            vec![$(libtest_mimic::Trial::test(format!("{module}::{}", stringify!($name)), || {
                $name();
                Ok(())
            })),*]
        }
    };
}
pub(crate) use trials;

/// See the module. No worker waits ahead of need, so that each process belongs to a program.
pub struct Stage {
    world: Option<World>,
    cache: TestFolder,
    workspace: TestFolder,
}

impl Stage {
    /// With sound zygotes.
    pub fn sound() -> Self {
        Self::new(ZygoteScript::default(), |world| world)
    }

    /// With sound zygotes, and these limits of every program.
    pub fn limited(limits: &[(&str, &str)]) -> Self {
        let limits = limits_with(limits);
        Self::new(ZygoteScript::default(), |world| world.limits(limits))
    }

    /// With these zygotes, in a world that is changed before it starts.
    pub fn new(zygotes: impl Into<ZygoteScript>, change: impl FnOnce(WorldBuilder) -> WorldBuilder) -> Self {
        let (cache, workspace) = (TestFolder::new("scripted"), TestFolder::new("workspace"));
        zygotes.into().write(cache.path());
        let executable = std::env::current_exe().expect("the test binary");
        let world = World::new(&executable).cache(cache.path()).limits(limits_with(&[])).waiting(0);
        Self { world: Some(change(world).start()), cache, workspace }
    }

    /// The gateway and its runtime.
    pub fn world(&self) -> &World {
        self.world.as_ref().expect("the stage has not ended")
    }

    /// The workspace of its programs.
    pub fn workspace(&self) -> &Path {
        self.workspace.path()
    }

    /// Makes a FIFO in the workspace, for a program to wait at.
    pub fn fifo(&self, name: &str) {
        let path = self.workspace().join(name);
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a FIFO");
    }

    /// Lets the program that waits at a FIFO go on; waits until it is there.
    pub fn let_go_on(&self, fifo: &str) {
        let path = self.workspace().join(fifo);
        drop(OpenOptions::new().write(true).open(path).expect("the program at the other end"));
    }

    /// Where its zygotes write.
    pub fn cache(&self) -> &Path {
        self.cache.path()
    }

    /// A program that does this.
    pub fn request(&self, script: &Script) -> ExecuteRequest {
        ExecuteRequest {
            workspace: WorkspaceChoice::Kept(self.workspace.path().to_owned()),
            ..ExecuteRequest::python(script.code())
        }
    }

    /// The same, in a session that keeps its interpreter.
    pub fn request_in(&self, session: &str, script: &Script) -> ExecuteRequest {
        let variables = Variables::Keep { session: session.to_owned(), latest: Default::default() };
        ExecuteRequest { variables, ..self.request(script) }
    }

    /// Runs a program to its end.
    pub fn run(&self, script: &Script) -> Report {
        self.world().execute(self.request(script))
    }

    /// Runs a program that must fail, and compares how.
    pub fn fails(&self, script: &Script, code: Code, kind: &str, message: &str) -> Report {
        let report = self.run(script);
        check_failure(&report, code, kind, message);
        report
    }

    /// Runs a program that does nothing unusual, and waits until its process is gone.
    pub fn works(&self) {
        let report = self.run(&script().print("hello").done(&json!({ "n": 1 })));
        assert_eq!((report.error, report.stdout.as_str()), (None, "hello"));
        assert_eq!(report.result, Some(json!({ "n": 1 })));
        self.has_no_child();
    }

    /// Waits until no process is left but the zygote.
    pub fn has_no_child(&self) {
        eventually("every child has ended", || {
            let supervisor = self.world().gateway().pool().supervisor_pid();
            self.processes().into_iter().all(|pid| Some(pid) == supervisor).then_some(())
        });
    }

    /// All processes of this stage.
    pub fn processes(&self) -> Vec<u32> {
        with_argument(&self.cache.path().to_string_lossy())
    }

    /// How many zygotes have been started.
    pub fn starts(&self) -> u64 {
        ZygoteScript::starts(self.cache.path())
    }

    /// The next program works, and nothing is left when the gateway has closed.
    pub fn works_and_ends(self) {
        self.works();
        self.ends();
    }

    /// Nothing is left when the gateway has closed.
    pub fn ends(mut self) {
        self.world = None;
        // Nothing of the gateway is left that could still end one.
        eventually("no process outlives the gateway", || self.processes().is_empty().then_some(()));
    }
}

/// The limits of development, which has the widest ranges, with some changed.
pub fn limits_with(changes: &[(&str, &str)]) -> Limits {
    let mut limits = Limits::of(Level::Development);
    for (name, value) in changes {
        limits.set_text(name, value).expect("a limit in its range");
    }
    limits
}

/// A program failed in this way, with words that hold `message`.
pub fn check_failure(report: &Report, code: Code, kind: &str, message: &str) {
    let error = report.error.as_ref().expect("a failure");
    assert_eq!((error.code, error.kind.as_str()), (code, kind), "{}", error.message);
    assert!(error.message.contains(message), "{}", error.message);
    assert!(!report.success && report.result.is_none(), "{report:?}");
}

/// As long as no test needs on a machine that has nothing else to do, and short for one that fails.
pub const SHORT: Duration = Duration::from_millis(300);
