//! What a program's interpreter can call of ours: the same few functions that the guest has in WebAssembly,
//! and output. `unsafe` lives here: C calls these.
//!
//! Invariants: one interpreter and one line in each process, and the interpreter's lock is held in every call and
//! never let go, so that no two of them are ever at the line at once.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;

use gristmill_protocol::{CallKind, FromWorker, Outcome, RunStats, Stream, Trap, TrapKind};

use super::c_api::{Object, Python};
use crate::channel::{Channel, ChannelClosed};
use crate::fork::exit_now;

/// The interpreter and the line of this process. Set once, and alive to its end.
static PYTHON: OnceLock<AtLarge> = OnceLock::new();
static LINE: AtomicPtr<Channel> = AtomicPtr::new(std::ptr::null_mut());

/// The interpreter, for functions that C calls.
struct AtLarge(Python);

// SAFETY: the process has one thread that calls; see the module.
unsafe impl Send for AtLarge {}
// SAFETY: the same.
unsafe impl Sync for AtLarge {}

/// Keeps the interpreter for good.
pub fn keep(python: Python) -> &'static Python {
    let _ = LINE.compare_exchange(
        std::ptr::null_mut(),
        Box::into_raw(Box::new(Channel::unconnected())),
        Ordering::Relaxed,
        Ordering::Relaxed,
    );
    &PYTHON.get_or_init(|| AtLarge(python)).0
}

/// The line to the gateway. Whoever holds it must let go before the interpreter runs.
pub fn line() -> &'static mut Channel {
    // SAFETY: set by `keep` before anybody asks, never freed; one thread, and nobody holds on to it while he
    // calls into the interpreter.
    unsafe { &mut *LINE.load(Ordering::Relaxed) }
}

/// Our functions by the names under which the guest knows them.
pub fn table(python: &Python) -> Object {
    let functions = python.dict();
    python.set(functions, "start_call", python.function(c"start_call", start_call));
    python.set(functions, "wait_any", python.function(c"wait_any", wait_any));
    python.set(functions, "cancel_call", python.function(c"cancel_call", cancel_call));
    python.set(functions, "output", python.function(c"output", output));
    python.set(functions, "leave", python.function(c"leave", leave));
    functions
}

/// What a function gives whose arguments are none: C's way to say that an error is set.
const ERROR_IS_SET: Object = std::ptr::null_mut();

fn python() -> Option<&'static Python> {
    PYTHON.get().map(|at_large| &at_large.0)
}

/// Without a gateway there is nobody left to work for.
fn or_end<T>(outcome: Result<T, ChannelClosed>) -> T {
    outcome.unwrap_or_else(|_| exit_now(1))
}

unsafe extern "C" fn start_call(_nobody: Object, arguments: Object) -> Object {
    let Some(python) = python() else { return ERROR_IS_SET };
    let (Some(kind), Some(payload)) =
        (python.text_argument(arguments, 0), python.text_argument(arguments, 1))
    else {
        return ERROR_IS_SET;
    };
    let started = match CallKind::from_name(&kind) {
        Some(kind) => line().start_call(kind, payload),
        None => line().refuse_kind(&kind),
    };
    python.number(or_end(started))
}

unsafe extern "C" fn wait_any(_nobody: Object, arguments: Object) -> Object {
    let Some(python) = python() else { return ERROR_IS_SET };
    let timeout = match python.is_none(arguments, 0) {
        true => None,
        false => match python.number_argument(arguments, 0) {
            Some(us) => Some(Duration::from_micros(us)),
            None => return ERROR_IS_SET,
        },
    };
    let done = or_end(line().wait_any(timeout));
    python.list(done.into_iter().map(|completion| {
        let told =
            [python.number(completion.id), python.truth(completion.ok), python.text(&completion.payload)];
        python.tuple(&told)
    }))
}

unsafe extern "C" fn cancel_call(_nobody: Object, arguments: Object) -> Object {
    let Some(python) = python() else { return ERROR_IS_SET };
    let Some(id) = python.number_argument(arguments, 0) else { return ERROR_IS_SET };
    or_end(line().cancel_call(id));
    python.none()
}

unsafe extern "C" fn output(_nobody: Object, arguments: Object) -> Object {
    let Some(python) = python() else { return ERROR_IS_SET };
    let (Some(number), Some(bytes)) =
        (python.number_argument(arguments, 0), python.bytes_argument(arguments, 1))
    else {
        return ERROR_IS_SET;
    };
    let stream = if number == 2 { Stream::Stderr } else { Stream::Stdout };
    or_end(line().output(stream, &bytes));
    python.none()
}

/// `os._exit`: the program ends the interpreter, and says so itself.
unsafe extern "C" fn leave(_nobody: Object, _arguments: Object) -> Object {
    let trap = Trap { kind: TrapKind::Exit, message: "the program ended the interpreter".to_owned() };
    let outcome = Outcome::Trapped(trap);
    let _ = line().send(&FromWorker::Done { outcome, stats: RunStats::default() });
    exit_now(0)
}
