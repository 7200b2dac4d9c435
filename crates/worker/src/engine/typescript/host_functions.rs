//! What the guest's JavaScript can ask of its host, by name: the three calls that everything
//! asynchronous is built on, output, clocks, randomness, text, and files.

use std::sync::Arc;
use std::time::Duration;

use gristmill_protocol::{CallKind, Stream};
use wasmtime::{AsContextMut, Caller};

use super::file_functions;
use super::guest::{Failure, Guest, Outcome, Value, span};
use super::instance::{Host, Rejection};
use super::preview1::now_ns;

/// Rejected promises that are remembered for the report.
const REJECTIONS_MAX: usize = 100;

/// What one call may ask for.
const RANDOM_BYTES_MAX: usize = 1024 * 1024;

/// Each of them is a member of the object that the guest is started with.
pub const NAMES: &[&str] = &[
    "startCall",
    "waitAny",
    "cancelCall",
    "write",
    "now",
    "random",
    "evaluate",
    "decode",
    "encode",
    "byteLength",
    "promise",
    "proxyTarget",
    "outOfMemory",
    "readText",
    "readInto",
    "writeFile",
    "list",
    "stat",
    "makeFolder",
    "removeFolder",
    "removeFile",
    "rename",
];

/// What a function was called with. Missing arguments are not there.
pub struct Arguments(Vec<Value>);

impl Arguments {
    pub fn get(&self, index: usize) -> Outcome<Value> {
        self.0
            .get(index)
            .copied()
            .ok_or_else(|| Failure::Fatal(wasmtime::Error::msg("a host function without its arguments")))
    }
}

/// The one function through which QuickJS calls its host. Gives the box of the value, or 0 where an
/// exception waits.
pub fn host_call(
    mut caller: Caller<'_, Host>,
    name: i32,
    name_length: i32,
    _this: i32,
    count: i32,
    list: i32,
) -> wasmtime::Result<i32> {
    let Some(exports) = caller.data().exports.clone() else { return Ok(0) };
    let mut guest = Guest::new(&mut caller, exports);
    let name = String::from_utf8_lossy(guest.bytes(span(name, name_length as u32 as usize))?).into_owned();
    let words = guest.bytes(span(list, 4 * count as u32 as usize))?;
    let arguments =
        Arguments(words.as_chunks::<4>().0.iter().map(|word| Value(i32::from_le_bytes(*word))).collect());
    match call(&mut guest, &name, &arguments) {
        Ok(value) => Ok(value.0),
        Err(Failure::Thrown) => Ok(0),
        Err(Failure::Fatal(error)) => Err(error),
    }
}

fn call<C: AsContextMut<Data = Host>>(
    guest: &mut Guest<C>,
    name: &str,
    arguments: &Arguments,
) -> Outcome<Value> {
    match name {
        "startCall" => start_call(guest, arguments),
        "waitAny" => wait_any(guest, arguments),
        "cancelCall" => {
            let id = guest.number_of(arguments.get(0)?)?;
            guest.host().channel.cancel_call(id as u64).map_err(fatal)?;
            guest.undefined()
        }
        "write" => write(guest, arguments),
        "now" => guest.number(now_ns() as f64 / 1e6),
        "random" => random(guest, arguments),
        "evaluate" => {
            let filename = guest.text_of(arguments.get(1)?)?;
            guest.evaluate(arguments.get(0)?, &filename)
        }
        "decode" => {
            let (address, length) = guest.array_bytes(arguments.get(0)?)?;
            guest.text_at(address, length)
        }
        "encode" => {
            guest.with_text(arguments.get(0)?, |guest, address, length| guest.byte_array(address, length))
        }
        "byteLength" => guest.with_text(arguments.get(0)?, |guest, _, length| guest.number(length as f64)),
        "promise" => promise(guest, arguments.get(0)?),
        "proxyTarget" => {
            let value = arguments.get(0)?;
            match guest.raw(|e| &e.is_proxy, value.0)? {
                0 => guest.undefined(),
                _ => {
                    let target = guest.raw(|e| &e.get_proxy_target, value.0)?;
                    guest.checked(target)
                }
            }
        }
        "outOfMemory" => {
            guest.host().ran_out_of_memory = true;
            guest.undefined()
        }
        name => file_functions::call(guest, name, arguments),
    }
}

fn start_call<C: AsContextMut<Data = Host>>(guest: &mut Guest<C>, arguments: &Arguments) -> Outcome<Value> {
    let kind = guest.text_of(arguments.get(0)?)?;
    let payload = guest.text_of(arguments.get(1)?)?;
    let channel = &mut guest.host().channel;
    let id = match CallKind::from_name(&kind) {
        Some(kind) => channel.start_call(kind, payload),
        None => channel.refuse_kind(&kind),
    };
    guest.number(id.map_err(fatal)? as f64)
}

/// A flat list: number, whether it went well, payload; and so on. Waits microseconds, or for ever.
fn wait_any<C: AsContextMut<Data = Host>>(guest: &mut Guest<C>, arguments: &Arguments) -> Outcome<Value> {
    let timeout = arguments.get(0)?;
    let timeout = match guest.is_undefined(timeout)? {
        true => None,
        false => Some(Duration::from_micros(guest.number_of(timeout)?.max(0.0) as u64)),
    };
    let completions = guest.host().channel.wait_any(timeout).map_err(fatal)?;
    let mut members = Vec::with_capacity(3 * completions.len());
    for done in completions {
        members.push(guest.number(done.id as f64)?);
        members.push(guest.boolean(done.ok)?);
        members.push(guest.text(&done.payload)?);
    }
    guest.array(&members)
}

fn write<C: AsContextMut<Data = Host>>(guest: &mut Guest<C>, arguments: &Arguments) -> Outcome<Value> {
    let stream = match guest.number_of(arguments.get(0)?)? {
        2.0 => Stream::Stderr,
        _ => Stream::Stdout,
    };
    let text = arguments.get(1)?;
    guest.with_text(text, |guest, address, length| {
        let (bytes, host) = guest.bytes_and_host(span(address, length))?;
        let text = String::from_utf8_lossy(bytes);
        Ok(host.channel.output(stream, text.as_bytes()).map_err(fatal)?)
    })?;
    guest.undefined()
}

fn random<C: AsContextMut<Data = Host>>(guest: &mut Guest<C>, arguments: &Arguments) -> Outcome<Value> {
    let length = (guest.number_of(arguments.get(0)?)?.max(0.0) as usize).min(RANDOM_BYTES_MAX);
    let mut bytes = vec![0; length];
    getrandom::fill(&mut bytes).map_err(|error| wasmtime::Error::msg(error.to_string()))?;
    let address = guest.allocate(length)?;
    guest.bytes_mut(span(address, length))?.copy_from_slice(&bytes);
    let made = guest.byte_array(address, length);
    guest.release(address)?;
    made
}

/// A promise's state, 0 while it is pending, and its value or reason; undefined for anything else.
fn promise<C: AsContextMut<Data = Host>>(guest: &mut Guest<C>, value: Value) -> Outcome<Value> {
    if guest.raw(|e| &e.is_promise, value.0)? == 0 {
        return guest.undefined();
    }
    let state = guest.raw(|e| &e.promise_state, value.0)?;
    let settled = match state {
        0 => guest.undefined()?,
        _ => {
            let settled = guest.raw(|e| &e.promise_result, value.0)?;
            guest.checked(settled)?
        }
    };
    let state = guest.number(f64::from(state))?;
    guest.array(&[state, settled])
}

/// A promise was rejected with nobody to hear of it; or somebody came after all.
pub fn note_rejection(
    mut caller: Caller<'_, Host>,
    promise: i32,
    reason: i32,
    is_handled: i32,
) -> wasmtime::Result<()> {
    let Some(exports) = caller.data().exports.clone() else { return Ok(()) };
    let mut guest = Guest::new(&mut caller, Arc::clone(&exports));
    let identity = guest.raw(|e| &e.get_value_ptr, promise)?;
    if is_handled == 0 && guest.host().rejections.len() < REJECTIONS_MAX {
        // The promise is kept as well: while it lives, nothing else has its address.
        guest.host().rejections.push(Rejection { identity, promise: Value(promise), reason: Value(reason) });
        return Ok(());
    }
    guest.free(Value(promise))?;
    guest.free(Value(reason))?;
    let rejections = &mut guest.host().rejections;
    if let Some(index) = rejections.iter().position(|known| is_handled != 0 && known.identity == identity) {
        let known = rejections.remove(index);
        guest.free(known.promise)?;
        guest.free(known.reason)?;
    }
    Ok(())
}

fn fatal(error: impl std::error::Error + Send + Sync + 'static) -> wasmtime::Error {
    wasmtime::Error::new(error)
}
