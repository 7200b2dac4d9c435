//! CPython, as a component: instantiate, warm, run one program, or those of one session.

use gristmill_protocol::{Program, Trap, TrapKind};
use wasmtime::component::{Component, Linker, TypedFunc};
use wasmtime::{Engine, Store};

use super::{GuestExit, Host, MemoryCap, host_calls};
use crate::channel::{Channel, ChannelGone};
use crate::wasi::{self, Wasi};

/// How much one host call may copy out of the guest: the largest payload, and room for the rest.
const HOSTCALL_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Code, context, the limits of the result (bytes and depth), and whether variables are kept.
type RunParameters = (String, String, u64, u32, bool);

/// A live interpreter.
pub struct Python {
    store: Store<Host>,
    warm: TypedFunc<(), ()>,
    ready: TypedFunc<(), ()>,
    run: TypedFunc<RunParameters, (String,)>,
}

/// The interpreter could not be brought up.
#[derive(Debug, thiserror::Error)]
#[error("the Python engine does not start: {0}")]
pub struct PythonError(String);

impl Python {
    /// What doctor and the hello call it.
    pub const NAME: &'static str = "CPython 3.14 in WebAssembly (wasmtime 48)";

    /// Brings up an interpreter that is not yet connected to anything.
    pub fn instantiate(engine: &Engine, component: &Component) -> Result<Self, PythonError> {
        Self::try_instantiate(engine, component).map_err(|error| PythonError(format!("{error:#}")))
    }

    fn try_instantiate(engine: &Engine, component: &Component) -> wasmtime::Result<Self> {
        let mut linker = Linker::<Host>::new(engine);
        wasi::add_to_linker(&mut linker)?;
        host_calls::add_to_linker(&mut linker)?;
        wasi::refuse_the_rest(&mut linker, engine, component)?;
        let host =
            Host { wasi: Wasi::new(), channel: Channel::unconnected(), memory: MemoryCap::unlimited() };
        let mut store = Store::new(engine, host);
        store.limiter(|host| &mut host.memory);
        store.set_hostcall_fuel(HOSTCALL_BYTES_MAX);
        let instance = linker.instantiate(&mut store, component)?;
        let warm = instance.get_typed_func(&mut store, "warm")?;
        let ready = instance.get_typed_func(&mut store, "ready")?;
        let run = instance.get_typed_func(&mut store, "run")?;
        Ok(Self { store, warm, ready, run })
    }

    /// Touches what a run will touch, so that the run itself finds it in memory.
    pub fn warm(&mut self) -> Result<(), PythonError> {
        self.warm.call(&mut self.store, ()).map_err(|error| PythonError(format!("{error:#}")))
    }

    /// Does, in a fresh process, what does not depend on the program: new random state, streams,
    /// the working folder.
    pub fn ready(&mut self) -> Result<(), PythonError> {
        self.ready.call(&mut self.store, ()).map_err(|error| PythonError(format!("{error:#}")))
    }

    /// Runs a typical small program, for the sake of the memory it touches.
    pub fn run_sample(&mut self) -> Result<String, Trap> {
        const SAMPLE: &str = "import json\nrows = [{'id': i, 'name': f'row {i}'} for i in range(20)]\nawait asyncio.sleep(0)\nresult = {'count': len(rows), 'rows': json.loads(json.dumps(rows))}";
        self.run(&Program {
            version: gristmill_protocol::PROTOCOL_VERSION,
            code: SAMPLE.to_owned(),
            context: "{}".to_owned(),
            limits: gristmill_protocol::ProgramLimits::TRUSTED,
            mounts: Vec::new(),
            stay: false,
        })
    }

    /// What the host functions work on.
    pub fn host(&mut self) -> &mut Host {
        self.store.data_mut()
    }

    /// Runs one program to its end: the guest's answer, or how the interpreter was lost.
    pub fn run(&mut self, program: &Program) -> Result<String, Trap> {
        // Most programs bring no variables, and then there is nothing to parse.
        let context = if program.context == "{}" { String::new() } else { program.context.clone() };
        let limits = &program.limits;
        let parameters =
            (program.code.clone(), context, limits.result_bytes, limits.result_depth, program.stay);
        match self.run.call(&mut self.store, parameters) {
            Ok((outcome,)) => Ok(outcome),
            Err(error) => Err(trap_from(&error)),
        }
    }
}

fn trap_from(error: &wasmtime::Error) -> Trap {
    let kind = if error.downcast_ref::<GuestExit>().is_some() || error.downcast_ref::<ChannelGone>().is_some()
    {
        TrapKind::Exit
    } else {
        match error.downcast_ref::<wasmtime::Trap>() {
            Some(wasmtime::Trap::StackOverflow) => TrapKind::StackOverflow,
            Some(_) | None => TrapKind::Crash,
        }
    };
    Trap { kind, message: format!("{error:#}") }
}
