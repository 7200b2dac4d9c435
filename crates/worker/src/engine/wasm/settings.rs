//! How WebAssembly is run.

use wasmtime::Engine;

use super::code_settings::code_settings;

/// The native stack that a guest may use. CPython's own recursion limits must come first, so that
/// a program that recurses too deep gets a RecursionError and not the end of its interpreter:
/// with 16 MiB a deeply nested JSON text still ran out.
const STACK_BYTES_WANTED: usize = 32 * 1024 * 1024;

/// Left for the host functions below the guest's frames.
const STACK_BYTES_RESERVED: usize = 1024 * 1024;

/// Lets the stack of this process grow as far as guests may use it. The kernel looks at the limit
/// whenever the stack grows, so raising it now is early enough.
pub fn raise_stack_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let wanted = (STACK_BYTES_WANTED + 2 * STACK_BYTES_RESERVED) as u64;
    let limit = getrlimit(Resource::Stack);
    if limit.current.is_some_and(|current| current < wanted) {
        let current = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
        // Where it is refused, guests get a smaller stack.
        let _ = setrlimit(Resource::Stack, Rlimit { current: Some(current), maximum: limit.maximum });
    }
}

/// An engine that runs what the build has compiled. There is no compiler in it, and no thread.
pub fn runtime() -> wasmtime::Result<Engine> {
    let mut config = code_settings();
    config.wasm_backtrace_max_frames(None);
    let stack = stack_bytes();
    config.max_wasm_stack(stack);
    // No such stack is ever made, but the engine insists that it would not be smaller.
    config.async_stack_size(stack + STACK_BYTES_RESERVED);
    Engine::new(&config)
}

/// As much as the process's own stack permits.
fn stack_bytes() -> usize {
    let soft = rustix::process::getrlimit(rustix::process::Resource::Stack).current;
    let available = soft.map_or(STACK_BYTES_WANTED * 2, |bytes| bytes as usize);
    STACK_BYTES_WANTED.min(available.saturating_sub(STACK_BYTES_RESERVED)).max(256 * 1024)
}
