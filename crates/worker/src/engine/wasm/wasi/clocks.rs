//! `wasi:clocks`, and `wasi:io/poll` as far as time goes: what a program can wait for in WASI is
//! a moment; everything else here is always ready.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};
use wasmtime::component::{Linker, Resource, ResourceType};

use super::interface;
use super::types::Datetime;
use crate::engine::wasm::Host;

/// Something to wait for.
pub enum Pollable {
    /// Nothing: it is ready.
    Ready,
    /// A moment of the monotonic clock, in nanoseconds.
    At(u64),
}

impl Pollable {
    fn due_ns(&self) -> u64 {
        match self {
            Pollable::Ready => 0,
            Pollable::At(due_ns) => *due_ns,
        }
    }
}

pub fn add_to_linker(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    let mut poll = linker.instance(&interface("io/poll"))?;
    poll.resource("pollable", ResourceType::host::<Pollable>(), |mut store, rep| {
        store.data_mut().wasi.table.delete(Resource::<Pollable>::new_own(rep))?;
        Ok(())
    })?;
    poll.func_wrap("[method]pollable.ready", |store, (pollable,): (Resource<Pollable>,)| {
        Ok((store.data().wasi.table.get(&pollable)?.due_ns() <= now_ns(),))
    })?;
    poll.func_wrap("[method]pollable.block", |store, (pollable,): (Resource<Pollable>,)| {
        sleep_until(store.data().wasi.table.get(&pollable)?.due_ns());
        Ok(())
    })?;
    poll.func_wrap("poll", |store, (pollables,): (Vec<Resource<Pollable>>,)| {
        let table = &store.data().wasi.table;
        let due =
            pollables.iter().map(|p| Ok(table.get(p)?.due_ns())).collect::<wasmtime::Result<Vec<_>>>()?;
        let Some(&first) = due.iter().min() else {
            return Err(wasmtime::Error::msg("poll of nothing"));
        };
        sleep_until(first);
        let now = now_ns();
        let ready = (0u32..).zip(&due).filter(|(_, due_ns)| **due_ns <= now).map(|(index, _)| index);
        Ok((ready.collect::<Vec<u32>>(),))
    })?;

    let mut monotonic = linker.instance(&interface("clocks/monotonic-clock"))?;
    monotonic.func_wrap("now", |_, (): ()| Ok((now_ns(),)))?;
    monotonic.func_wrap("resolution", |_, (): ()| Ok((1u64,)))?;
    monotonic.func_wrap("subscribe-instant", |mut store, (when,): (u64,)| {
        Ok((store.data_mut().wasi.table.push(Pollable::At(when))?,))
    })?;
    monotonic.func_wrap("subscribe-duration", |mut store, (duration,): (u64,)| {
        let when = now_ns().saturating_add(duration);
        Ok((store.data_mut().wasi.table.push(Pollable::At(when))?,))
    })?;

    let mut wall = linker.instance(&interface("clocks/wall-clock"))?;
    wall.func_wrap("now", |_, (): ()| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Ok((Datetime { seconds: since.as_secs(), nanoseconds: since.subsec_nanos() },))
    })?;
    wall.func_wrap("resolution", |_, (): ()| Ok((Datetime { seconds: 0, nanoseconds: 1 },)))
}

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    (now.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(now.tv_nsec as u64)
}

fn sleep_until(due_ns: u64) {
    loop {
        let now = now_ns();
        if due_ns <= now {
            return;
        }
        std::thread::sleep(Duration::from_nanos(due_ns - now));
    }
}
