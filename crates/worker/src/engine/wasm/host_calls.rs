//! `gristmill:guest/host`: the two calls that everything asynchronous in a program is built on,
//! start a call and wait for any to end, and a third to give one up.

use std::time::Duration;

use gristmill_protocol::CallKind;
use wasmtime::component::{ComponentType, Lift, Linker, Lower};

use super::Host;

#[derive(ComponentType, Lift, Lower)]
#[component(record)]
struct Completion {
    id: u64,
    ok: bool,
    payload: String,
}

pub fn add_to_linker(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    let mut host = linker.instance("gristmill:guest/host@0.1.0")?;
    host.func_wrap("start-call", |mut store, (kind, payload): (String, String)| {
        let channel = &mut store.data_mut().channel;
        Ok((match CallKind::from_name(&kind) {
            Some(kind) => channel.start_call(kind, payload)?,
            None => channel.refuse_kind(&kind)?,
        },))
    })?;
    host.func_wrap("wait-any", |mut store, (timeout_us,): (Option<u64>,)| {
        let timeout = timeout_us.map(Duration::from_micros);
        let completions = store.data_mut().channel.wait_any(timeout)?;
        let completions = completions.into_iter().map(|done| Completion {
            id: done.id,
            ok: done.ok,
            payload: done.payload,
        });
        Ok((completions.collect::<Vec<_>>(),))
    })?;
    host.func_wrap("cancel-call", |mut store, (id,): (u64,)| {
        store.data_mut().channel.cancel_call(id)?;
        Ok(())
    })
}
