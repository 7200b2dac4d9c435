//! What the module itself imports: six functions of WASI's first preview, and those with which QuickJS
//! asks its host.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};
use wasmtime::{Caller, Extern, Linker};

use super::guest::span;
use super::host_functions;
use super::instance::Host;

const SUCCESS: i32 = 0;
const BAD_DESCRIPTOR: i32 = 8;
const NOT_SUPPORTED: i32 = 52;

/// The real clock's number; any other is the monotonic one.
const REALTIME: i32 = 0;

/// More random bytes than the interpreter ever asks for.
const RANDOM_BYTES_MAX: usize = 64 * 1024;

pub fn add_to_linker(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    let wasi = "wasi_snapshot_preview1";
    linker.func_wrap(
        wasi,
        "clock_time_get",
        |mut caller: Caller<'_, Host>, clock: i32, _: i64, out: i32| {
            let now = if clock == REALTIME { wall_ns() } else { now_ns() };
            write(&mut caller, out, &now.to_le_bytes())
        },
    )?;
    linker.func_wrap(wasi, "random_get", |mut caller: Caller<'_, Host>, out: i32, length: i32| {
        let mut bytes = vec![0; (length as u32 as usize).min(RANDOM_BYTES_MAX)];
        getrandom::fill(&mut bytes).map_err(|error| wasmtime::Error::msg(error.to_string()))?;
        write(&mut caller, out, &bytes)
    })?;
    // The interpreter writes only when it is about to abort, and nobody reads it.
    linker.func_wrap(wasi, "fd_write", |_: i32, _: i32, _: i32, _: i32| NOT_SUPPORTED)?;
    linker.func_wrap(wasi, "fd_close", |_: i32| NOT_SUPPORTED)?;
    linker.func_wrap(wasi, "fd_seek", |_: i32, _: i64, _: i32, _: i32| NOT_SUPPORTED)?;
    linker.func_wrap(wasi, "fd_fdstat_get", |_: i32, _: i32| BAD_DESCRIPTOR)?;

    linker.func_wrap("env", "host_call", host_functions::host_call)?;
    linker.func_wrap("env", "host_promise_rejection", host_functions::note_rejection)?;
    // The deadline kills the process; the time zone is UTC; modules are the guest's own matter.
    linker.func_wrap("env", "host_interrupt", || 0i32)?;
    linker.func_wrap("env", "host_get_timezone_offset", |_: i32, _: i32| 0i32)?;
    linker.func_wrap("env", "host_module_normalize", |_: i32, _: i32| 0i32)?;
    linker.func_wrap("env", "host_module_load", |_: i32, _: i32| 0i32)?;
    Ok(())
}

/// Nanoseconds of the monotonic clock.
pub fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    (now.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(now.tv_nsec as u64)
}

fn wall_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

fn write(caller: &mut Caller<'_, Host>, address: i32, bytes: &[u8]) -> wasmtime::Result<i32> {
    let Some(Extern::Memory(memory)) = caller.get_export("memory") else { return Ok(NOT_SUPPORTED) };
    let data = memory.data_mut(&mut *caller);
    match data.get_mut(span(address, bytes.len())) {
        Some(room) => room.copy_from_slice(bytes),
        None => return Err(wasmtime::Error::msg("an address outside of the guest's memory")),
    }
    Ok(SUCCESS)
}
