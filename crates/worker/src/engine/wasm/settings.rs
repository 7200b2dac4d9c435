//! How WebAssembly is run.

use wasmtime::Engine;

use super::code_settings::code_settings;

/// Left for the host functions below the guest's frames.
const STACK_BYTES_RESERVED: usize = 1024 * 1024;

/// Lets the stack of this process grow as far as a guest wants it. The kernel looks at the limit whenever
/// the stack grows, so raising it now is early enough.
pub fn raise_stack_limit(stack_bytes: usize) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let wanted = (stack_bytes + 2 * STACK_BYTES_RESERVED) as u64;
    let limit = getrlimit(Resource::Stack);
    if limit.current.is_some_and(|current| current < wanted) {
        let current = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
        // Where it is refused, guests get a smaller stack.
        let _ = setrlimit(Resource::Stack, Rlimit { current: Some(current), maximum: limit.maximum });
    }
}

/// An engine that runs what the build has compiled, on this much native stack. There is no compiler in it,
/// and no thread.
pub fn runtime(stack_bytes: usize) -> wasmtime::Result<Engine> {
    let mut config = code_settings();
    config.wasm_backtrace_max_frames(None);
    let stack = within_limit(stack_bytes);
    config.max_wasm_stack(stack);
    // No such stack is ever made, but the engine insists that it would not be smaller.
    config.async_stack_size(stack + STACK_BYTES_RESERVED);
    Engine::new(&config)
}

/// As much as the process's own stack permits.
fn within_limit(wanted: usize) -> usize {
    let soft = rustix::process::getrlimit(rustix::process::Resource::Stack).current;
    let available = soft.map_or(wanted * 2, |bytes| bytes as usize);
    wanted.min(available.saturating_sub(STACK_BYTES_RESERVED)).max(256 * 1024)
}
