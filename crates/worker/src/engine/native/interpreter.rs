//! The interpreter, alive in this process, with the guest in it.

use std::path::Path;

use gristmill_protocol::{EngineId, Program, ProgramLimits, Trap, TrapKind, WorkerLimit};

use super::c_api::{Object, Python};
use super::heap;
use super::host_functions;
use crate::channel::Channel;
use crate::engine::{EngineError, EngineUse, Interpreter, MountedFolder};
use crate::jail;

/// The sources of the guest and of the packages that are bundled with it, packed by the build.
static GUEST: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/native_guest.zst"));

/// What makes them importable.
const BOOTSTRAP: &str = include_str!("../../../../../guests/native/gristmill_native/bootstrap.py");

/// What libraries look at when they are loaded: one thread for each program, and nothing of the user's.
const VARIABLES: [(&str, &str); 6] = [
    ("PYTHONNOUSERSITE", "1"),
    ("PYTHONDONTWRITEBYTECODE", "1"),
    ("PYTHONUTF8", "1"),
    ("OPENBLAS_NUM_THREADS", "1"),
    ("OMP_NUM_THREADS", "1"),
    ("MKL_NUM_THREADS", "1"),
];

/// Entries that are counted in the writable folders: more than any limit permits.
const COUNTED_MAX: u64 = 2_000_000;

pub struct NativeInterpreter {
    python: &'static Python,
    warm: Object,
    ready: Object,
    run: Object,
    limits: ProgramLimits,
    /// Whether the heap is as children should find it.
    is_tidy: bool,
    /// What this process had in memory before its program.
    memory_before: u64,
}

impl NativeInterpreter {
    /// Starts it and loads into it what every child is to have.
    pub fn start(library: &Path, home: &str, path: &[String], preload: &[String]) -> Result<Self, String> {
        let variables: Vec<(&str, &str)> = [("PYTHONHOME", home)].into_iter().chain(VARIABLES).collect();
        let python = Python::start(library, &variables)
            .map_err(|reason| format!("can't load {}: {reason}", library.display()))?;
        let python = host_functions::keep(python);
        let packed =
            zstd::decode_all(GUEST).map_err(|error| format!("the packed guest is damaged: {error}"))?;
        let given = [
            ("packed", python.bytes(&packed)),
            ("host_functions", host_functions::table(python)),
            ("__name__", python.text("gristmill_native.bootstrap")),
        ];
        let guest = python.run_module(BOOTSTRAP, "<guest>/gristmill_native/bootstrap.py", &given)?;
        let path = python.list(path.iter().map(|entry| python.text(entry)));
        python.call(python.get(guest, "prepare")?, &[path])?;
        for name in preload {
            let told = python.call(python.get(guest, "preload")?, &[python.text(name)])?;
            match python.text_of(told) {
                Some(problem) if problem.is_empty() => {}
                Some(problem) => return Err(format!("can't preload `{name}`: {problem}")),
                None => return Err(format!("can't preload `{name}`")),
            }
            // A fork has one thread; what another one was about to do would never be done.
            if jail::thread_count().is_ok_and(|threads| threads > 1) {
                return Err(format!(
                    "preloading `{name}` starts threads, which don't outlive a fork; take it off `preload` in \
                     [engines.native], and programs import it themselves"
                ));
            }
        }
        python.call(python.get(guest, "settle")?, &[])?;
        Ok(Self {
            python,
            warm: python.get(guest, "warm")?,
            ready: python.get(guest, "ready")?,
            run: python.get(guest, "run")?,
            limits: ProgramLimits::TRUSTED,
            is_tidy: false,
            memory_before: 0,
        })
    }

    fn call(&self, function: Object) -> Result<(), EngineError> {
        match self.python.call(function, &[]) {
            Ok(nothing) => {
                self.python.release(nothing);
                Ok(())
            }
            Err(reason) => Err(EngineError { engine: EngineId::Native, reason }),
        }
    }
}

impl Interpreter for NativeInterpreter {
    fn engine(&self) -> EngineId {
        EngineId::Native
    }

    fn before_fork(&mut self) {
        self.python.before_fork();
    }

    fn after_fork_in_parent(&mut self) {
        self.python.after_fork_in_parent();
    }

    fn after_fork_in_child(&mut self) {
        self.python.after_fork_in_child();
    }

    fn warm(&mut self) -> Result<(), EngineError> {
        self.call(self.warm)?;
        // Once, in the zygote: in a child it would copy what it is to spare.
        if !std::mem::replace(&mut self.is_tidy, true) {
            heap::take_holes();
        }
        Ok(())
    }

    fn ready(&mut self) -> Result<(), EngineError> {
        self.call(self.ready)?;
        self.memory_before = jail::resident_peak_bytes();
        Ok(())
    }

    fn channel(&mut self) -> &mut Channel {
        host_functions::line()
    }

    fn give(&mut self, folders: Vec<MountedFolder>, limits: &ProgramLimits) {
        // They are mounted. Through a descriptor a program could look at what lies around a folder.
        drop(folders);
        self.limits = *limits;
        // It was entered before the folder was there.
        let _ = rustix::process::chdir(jail::WORKSPACE);
    }

    fn renew(&mut self, limits: &ProgramLimits) {
        host_functions::line().discard_answers();
        self.limits = *limits;
    }

    fn run(&mut self, program: &Program) -> Result<String, Trap> {
        let python = self.python;
        let crash = |message: &str| Trap { kind: TrapKind::Crash, message: message.to_owned() };
        // Most programs bring no variables, and then there is nothing to parse.
        let context = if program.context == "{}" { "" } else { program.context.as_str() };
        let limits = &program.limits;
        let arguments = [
            python.text(&program.code),
            python.text(&program.filename),
            python.text(context),
            python.number(limits.result_bytes),
            python.number(limits.large_result_bytes),
            python.number(u64::from(limits.result_depth)),
            python.truth(program.stay),
        ];
        let told = python.call(self.run, &arguments).map_err(|reason| crash(&reason))?;
        let text = python.text_of(told);
        python.release(told);
        text.ok_or_else(|| {
            python.forget_error();
            crash("the guest's answer is no text")
        })
    }

    fn used(&self) -> EngineUse {
        let (bytes, files) = jail::in_writable_folders(COUNTED_MAX);
        let mut limits_hit = Vec::new();
        if bytes > self.limits.workspace_bytes {
            limits_hit.push(WorkerLimit::WorkspaceBytes);
        }
        if files > self.limits.workspace_files {
            limits_hit.push(WorkerLimit::WorkspaceFiles);
        }
        EngineUse {
            memory_peak_bytes: jail::resident_peak_bytes().saturating_sub(self.memory_before),
            limits_hit,
            workspace_bytes: bytes,
            workspace_files: files,
        }
    }
}
