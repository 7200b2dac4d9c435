//! The module brought to life: its stack, its limits, and the loop that drives a program.

use std::sync::Arc;

use gristmill_protocol::{EngineId, Program, ProgramLimits, Trap, WorkerLimit};
use wasmtime::{Linker, Module, Store, Val};

use super::exports::Exports;
use super::guest::{Failure, Guest, Outcome, Value};
use super::{failed, host_functions, preview1};
use crate::channel::Channel;
use crate::engine::wasm::{Folders, MemoryCap, MountedFolder, Quota, quota_limits, trap_from};
use crate::engine::{EngineError, EngineUse, Interpreter};

/// The guest's JavaScript, see `build/quickjs.rs`.
const PRELUDE: &str = include_str!(concat!(env!("OUT_DIR"), "/prelude.js"));

/// What stack traces call the prelude; it leaves itself out of them by that.
const PRELUDE_NAME: &str = "gristmill:prelude";

/// The stack of the interpreter's own C functions, in place of the 1 MiB that the module brings: a call in
/// JavaScript takes 256 bytes of it, so more than 8,000 fit, nearly as in Node. It lies in the guest's
/// memory, and what nobody reaches is never touched.
const STACK_BYTES: i32 = 5 * 512 * 1024;

/// Kept free below what the interpreter may use, for functions that look only at their beginning.
const STACK_BYTES_SPARE: i32 = 384 * 1024;

/// The collector looks for cycles whenever this much was allocated since.
const COLLECT_AFTER_BYTES: i32 = 2 * 1024 * 1024;

/// What the memory's cap counts and the interpreter does not: its stack, its data, and what lies unused
/// between its pieces.
const MEMORY_BYTES_SPARE: u64 = 6 * 1024 * 1024;

/// No program gets less: starting alone takes about half of it.
const MEMORY_BYTES_MIN: u64 = 4 * 1024 * 1024;

/// Told of a program that left no memory to report with.
const NO_REPORT: &str = r#"{"ok":false,"result":null,"has_result":false,"notes":[],"error":{"kind":"memory","type":"InternalError","message":"the program left no memory for its report","line":null,"traceback":"","hint":"work in smaller pieces: slices, or files in the workspace","limit":null},"damaged":true}"#;

/// Told of a program that made the guest's own functions fail.
const BROKEN_REPORT: &str = r#"{"ok":false,"result":null,"has_result":false,"notes":[],"error":{"kind":"exception","type":"Error","message":"the sandbox couldn't report on the program","line":null,"traceback":"","hint":"the program may have replaced parts of the standard library that reporting needs","limit":null},"damaged":true}"#;

/// What the host functions of one instance work on.
pub struct Host {
    pub folders: Folders,
    /// The line to the gateway.
    pub channel: Channel,
    pub exports: Option<Arc<Exports>>,
    pub rejections: Vec<Rejection>,
    pub ran_out_of_memory: bool,
    memory: MemoryCap,
}

/// A promise that was rejected, and that nobody has asked so far.
pub struct Rejection {
    pub identity: i32,
    pub promise: Value,
    pub reason: Value,
}

/// The functions that drive the guest; see `guests/javascript/prelude/control.js`.
#[derive(Clone, Copy)]
struct Control {
    warm: Value,
    cool: Value,
    ready: Value,
    begin: Value,
    uncaught: Value,
    turn: Value,
    finish: Value,
}

pub struct Instance {
    store: Store<Host>,
    exports: Arc<Exports>,
    control: Control,
}

impl Instance {
    pub fn start(engine: &wasmtime::Engine, module: &Module) -> wasmtime::Result<Self> {
        let mut linker = Linker::<Host>::new(engine);
        preview1::add_to_linker(&mut linker)?;
        let host = Host {
            folders: Folders::default(),
            channel: Channel::unconnected(),
            exports: None,
            rejections: Vec::new(),
            ran_out_of_memory: false,
            memory: MemoryCap::unlimited(),
        };
        let mut store = Store::new(engine, host);
        store.limiter(|host| &mut host.memory);
        let instance = linker.instantiate(&mut store, module)?;
        let mut exports = Exports::of(&instance, &mut store)?;
        initialize(&mut exports, &mut store)?;
        let exports = Arc::new(exports);
        store.data_mut().exports = Some(Arc::clone(&exports));
        let control = evaluate_prelude(&mut Guest::new(&mut store, Arc::clone(&exports)));
        let control = control.map_err(|failure| told(failure, &mut store, &exports))?;
        Ok(Self { store, exports, control })
    }

    fn guest(&mut self) -> Guest<&mut Store<Host>> {
        Guest::new(&mut self.store, Arc::clone(&self.exports))
    }

    /// Calls a function of the prelude that gives nothing.
    fn call(&mut self, function: Value) -> Outcome<()> {
        let mut guest = self.guest();
        let called = guest.call(function, &[])?;
        Ok(guest.free(called)?)
    }

    /// Takes a small program through the very way of a real one.
    fn run_warm_up(&mut self) -> Outcome<()> {
        self.call(self.control.warm)?;
        self.drive()?;
        self.call(self.control.cool)?;
        Ok(self.guest().raw(|e| &e.run_gc, ())?)
    }

    fn engine_error(&mut self, failure: Failure) -> EngineError {
        failed(format!("{:#}", told(failure, &mut self.store, &self.exports)))
    }

    fn run_program(&mut self, program: &Program) -> Outcome<String> {
        let begin = self.control.begin;
        let mut guest = self.guest();
        let limits = &program.limits;
        // Most programs bring no variables, and then there is nothing to parse.
        let context = if program.context == "{}" { "" } else { program.context.as_str() };
        let arguments = [
            guest.text(&program.code)?,
            guest.text(&program.filename)?,
            guest.text(context)?,
            guest.number(limits.result_bytes as f64)?,
            guest.number(limits.large_result_bytes as f64)?,
            guest.number(f64::from(limits.result_depth))?,
            guest.boolean(program.stay)?,
        ];
        let begun = guest.call(begin, &arguments)?;
        guest.free(begun)?;
        let outcome = self.drive()?;
        if program.stay {
            self.run_leftovers()?;
        }
        Ok(outcome)
    }

    /// What reading the result left for promises to do is done now, with nobody to call: it is not for the
    /// next program, and neither are its rejections.
    fn run_leftovers(&mut self) -> Outcome<()> {
        self.run_jobs()?;
        let rejections = std::mem::take(&mut self.store.data_mut().rejections);
        let mut guest = self.guest();
        for rejection in rejections {
            guest.free(rejection.promise)?;
            guest.free(rejection.reason)?;
        }
        Ok(())
    }

    /// The report on a program that left none.
    fn unreported(&mut self) -> &'static str {
        let mut guest = self.guest();
        let said = guest.exception().map_err(Failure::from).and_then(|thrown| {
            let message = guest.member(thrown, "message")?;
            guest.text_of(message)
        });
        match said {
            Ok(said) if !said.contains("out of memory") => BROKEN_REPORT,
            Ok(_) | Err(_) => {
                self.store.data_mut().ran_out_of_memory = true;
                NO_REPORT
            }
        }
    }

    /// Turns the event loop until the program that was begun is over.
    fn drive(&mut self) -> Outcome<String> {
        loop {
            self.run_jobs()?;
            let turn = self.control.turn;
            let turned = self.guest().call(turn, &[])?;
            let is_over = self.guest().is_true(turned)?;
            self.guest().free(turned)?;
            if is_over {
                break;
            }
        }
        self.finish()
    }

    /// The outcome, with the reasons of rejections that nobody heard of.
    fn finish(&mut self) -> Outcome<String> {
        let rejections = std::mem::take(&mut self.store.data_mut().rejections);
        let finish = self.control.finish;
        let reasons: Vec<Value> = rejections.iter().map(|rejection| rejection.reason).collect();
        let mut guest = self.guest();
        for rejection in &rejections {
            guest.free(rejection.promise)?;
        }
        let reasons = guest.array(&reasons)?;
        let outcome = guest.call(finish, &[reasons])?;
        let text = guest.text_of(outcome)?;
        guest.free(outcome)?;
        Ok(text)
    }

    /// Everything that promises have left to do.
    fn run_jobs(&mut self) -> Outcome<()> {
        while self.guest().raw(|e| &e.is_job_pending, ())? != 0 {
            if self.guest().raw(|e| &e.execute_pending_job, ())? < 0 {
                let uncaught = self.control.uncaught;
                let mut guest = self.guest();
                let exception = guest.exception()?;
                let heard = guest.call(uncaught, &[exception])?;
                guest.free(heard)?;
            }
        }
        Ok(())
    }
}

/// Gives the interpreter a larger stack, and brings it up.
fn initialize(exports: &mut Exports, store: &mut Store<Host>) -> wasmtime::Result<()> {
    exports.initialize.call(&mut *store, ())?;
    let stack = exports.malloc.call(&mut *store, STACK_BYTES)?;
    exports.scratch = exports.malloc.call(&mut *store, 64)?;
    if stack == 0 || exports.scratch == 0 {
        return Err(wasmtime::Error::msg("no memory for a stack"));
    }
    let top = (stack + STACK_BYTES) & !15;
    exports.stack_pointer.set(&mut *store, Val::I32(top))?;
    if exports.init.call(&mut *store, ())? != 0 {
        return Err(wasmtime::Error::msg("QuickJS does not start"));
    }
    exports.set_max_stack_size.call(&mut *store, STACK_BYTES - STACK_BYTES_SPARE)?;
    exports.set_gc_threshold.call(&mut *store, COLLECT_AFTER_BYTES)?;
    exports.set_promise_rejection_handler.call(&mut *store, 1)
}

fn evaluate_prelude(guest: &mut Guest<&mut Store<Host>>) -> Outcome<Control> {
    let source = guest.text(PRELUDE)?;
    let prelude = guest.evaluate(source, PRELUDE_NAME)?;
    let functions = guest.functions(host_functions::NAMES)?;
    let control = guest.call(prelude, &[functions])?;
    for value in [source, prelude] {
        guest.free(value)?;
    }
    Ok(Control {
        warm: guest.member(control, "warm")?,
        cool: guest.member(control, "cool")?,
        ready: guest.member(control, "ready")?,
        begin: guest.member(control, "begin")?,
        uncaught: guest.member(control, "uncaught")?,
        turn: guest.member(control, "turn")?,
        finish: guest.member(control, "finish")?,
    })
}

/// A failure in words, with the exception that waits.
fn told(failure: Failure, store: &mut Store<Host>, exports: &Arc<Exports>) -> wasmtime::Error {
    let mut guest = Guest::new(store, Arc::clone(exports));
    match failure {
        Failure::Fatal(error) => error,
        Failure::Thrown => {
            let thrown = guest.exception();
            let said = thrown.ok().and_then(|exception| {
                let stack = guest.member(exception, "stack").and_then(|stack| guest.text_of(stack));
                let said = guest.text_of(exception).ok()?;
                Some(format!("{said}\n{}", stack.unwrap_or_default()))
            });
            wasmtime::Error::msg(said.unwrap_or_else(|| "an exception".to_owned()))
        }
    }
}

impl Interpreter for Instance {
    fn engine(&self) -> EngineId {
        EngineId::TypeScript
    }

    fn warm(&mut self) -> Result<(), EngineError> {
        let warmed = self.run_warm_up();
        warmed.map_err(|failure| self.engine_error(failure))
    }

    fn ready(&mut self) -> Result<(), EngineError> {
        let readied = self.call(self.control.ready);
        readied.map_err(|failure| self.engine_error(failure))
    }

    fn channel(&mut self) -> &mut Channel {
        &mut self.store.data_mut().channel
    }

    fn give(&mut self, folders: Vec<MountedFolder>, limits: &ProgramLimits) {
        let quota =
            Quota::new(quota_limits(limits), limits.workspace_bytes_used, limits.workspace_files_used);
        self.store.data_mut().folders.mount(folders, quota);
        self.limit_memory(limits);
    }

    fn renew(&mut self, limits: &ProgramLimits) {
        let host = self.store.data_mut();
        host.channel.discard_answers();
        host.folders.continue_with(
            quota_limits(limits),
            limits.workspace_bytes_used,
            limits.workspace_files_used,
        );
        self.limit_memory(limits);
    }

    fn run(&mut self, program: &Program) -> Result<String, Trap> {
        match self.run_program(program) {
            Ok(outcome) => Ok(outcome),
            Err(Failure::Thrown) => Ok(self.unreported().to_owned()),
            Err(Failure::Fatal(error)) => Err(trap_from(&error)),
        }
    }

    fn used(&self) -> EngineUse {
        let host = self.store.data();
        let quota = host.folders.quota();
        let is_full = host.memory.refused() || host.ran_out_of_memory;
        let memory = is_full.then_some(WorkerLimit::Memory);
        let (workspace_bytes, workspace_files) = quota.map_or((0, 0), Quota::used);
        EngineUse {
            memory_peak_bytes: host.memory.bytes_peak() as u64,
            limits_hit: memory.into_iter().chain(quota.into_iter().flat_map(Quota::limits_hit)).collect(),
            workspace_bytes,
            workspace_files,
        }
    }
}

impl Instance {
    /// The interpreter's own limit lies below the cap, so that a program meets an error and not a wall.
    fn limit_memory(&mut self, limits: &ProgramLimits) {
        let host = self.store.data_mut();
        host.memory.set(limits.memory_bytes);
        host.ran_out_of_memory = false;
        let own = limits.memory_bytes.saturating_sub(MEMORY_BYTES_SPARE + limits.memory_bytes / 32);
        let own = u32::try_from(own.max(MEMORY_BYTES_MIN)).unwrap_or(u32::MAX);
        // It only sets a number. Should it fail, the cap still holds.
        let _ = self.guest().raw(|e| &e.set_memory_limit, own as i32);
    }
}
