//! A component of the world `sandbox`, brought to life.

use gristmill_protocol::{EngineId, Program, ProgramLimits, Trap, TrapKind, WorkerLimit};
use wasmtime::Store;
use wasmtime::component::{Component, Linker, TypedFunc};

use super::wasi::{self, MountedFolder, Quota, QuotaLimits, Wasi};
use super::{GuestExit, Host, MemoryCap, host_calls};
use crate::channel::{Channel, ChannelClosed};
use crate::engine::{EngineError, EngineUse, Interpreter};

/// How much one host call may copy out of the guest: the largest payload, and room for the rest.
const HOSTCALL_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Code, its name, context, the limits of the result (bytes, bytes of a large one, depth), and whether
/// variables are kept.
type RunParameters = (String, String, String, u64, u64, u32, bool);

pub struct Instance {
    engine: EngineId,
    store: Store<Host>,
    warm: TypedFunc<(), ()>,
    ready: TypedFunc<(), ()>,
    run: TypedFunc<RunParameters, (String,)>,
}

impl Instance {
    pub fn start(
        id: EngineId,
        engine: &wasmtime::Engine,
        component: &Component,
    ) -> Result<Self, EngineError> {
        Self::instantiate(id, engine, component).map_err(|error| failed(id, &error))
    }

    fn instantiate(id: EngineId, engine: &wasmtime::Engine, component: &Component) -> wasmtime::Result<Self> {
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
        Ok(Self { engine: id, store, warm, ready, run })
    }
}

impl Interpreter for Instance {
    fn engine(&self) -> EngineId {
        self.engine
    }

    fn warm(&mut self) -> Result<(), EngineError> {
        self.warm.call(&mut self.store, ()).map_err(|error| failed(self.engine, &error))
    }

    fn ready(&mut self) -> Result<(), EngineError> {
        self.ready.call(&mut self.store, ()).map_err(|error| failed(self.engine, &error))
    }

    fn channel(&mut self) -> &mut Channel {
        &mut self.store.data_mut().channel
    }

    fn give(&mut self, folders: Vec<MountedFolder>, limits: &ProgramLimits) {
        let quota =
            Quota::new(quota_limits(limits), limits.workspace_bytes_used, limits.workspace_files_used);
        let host = self.store.data_mut();
        host.wasi.folders.mount(folders, quota);
        host.memory.set(limits.memory_bytes);
    }

    fn renew(&mut self, limits: &ProgramLimits) {
        let host = self.store.data_mut();
        host.channel.discard_answers();
        host.wasi.folders.continue_with(
            quota_limits(limits),
            limits.workspace_bytes_used,
            limits.workspace_files_used,
        );
        host.memory.set(limits.memory_bytes);
    }

    fn run(&mut self, program: &Program) -> Result<String, Trap> {
        // Most programs bring no variables, and then there is nothing to parse.
        let context = if program.context == "{}" { String::new() } else { program.context.clone() };
        let limits = &program.limits;
        let parameters = (
            program.code.clone(),
            program.filename.clone(),
            context,
            limits.result_bytes,
            limits.large_result_bytes,
            limits.result_depth,
            program.stay,
        );
        match self.run.call(&mut self.store, parameters) {
            Ok((outcome,)) => Ok(outcome),
            Err(error) => Err(trap_from(&error)),
        }
    }

    fn used(&self) -> EngineUse {
        let host = self.store.data();
        let quota = host.wasi.folders.quota();
        let memory = host.memory.refused().then_some(WorkerLimit::Memory);
        let (workspace_bytes, workspace_files) = quota.map_or((0, 0), Quota::used);
        EngineUse {
            memory_peak_bytes: host.memory.bytes_peak() as u64,
            limits_hit: memory.into_iter().chain(quota.into_iter().flat_map(Quota::limits_hit)).collect(),
            workspace_bytes,
            workspace_files,
        }
    }
}

/// Of a program's limits, those on its files.
pub fn quota_limits(limits: &ProgramLimits) -> QuotaLimits {
    QuotaLimits {
        file_bytes: limits.file_bytes,
        workspace_bytes: limits.workspace_bytes,
        workspace_files: limits.workspace_files,
        open_files: limits.open_files,
    }
}

fn failed(engine: EngineId, error: &wasmtime::Error) -> EngineError {
    EngineError { engine, reason: format!("{error:#}") }
}

/// How an interpreter was lost.
pub fn trap_from(error: &wasmtime::Error) -> Trap {
    let kind =
        if error.downcast_ref::<GuestExit>().is_some() || error.downcast_ref::<ChannelClosed>().is_some() {
            TrapKind::Exit
        } else {
            match error.downcast_ref::<wasmtime::Trap>() {
                Some(wasmtime::Trap::StackOverflow) => TrapKind::StackOverflow,
                Some(_) | None => TrapKind::Crash,
            }
        };
    Trap { kind, message: format!("{error:#}") }
}
