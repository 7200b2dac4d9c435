//! How guests are compiled. The build script compiles by these settings and the engine runs by them: it
//! refuses code that was compiled by others.

use wasmtime::Config;

/// What the compiled code needs of an x86-64 CPU (x86-64-v2, which CPUs have had since 2009), as the
/// compiler calls it. A program of CPython runs no faster with all that a newer one has.
pub const X86_64_BASELINE: &[&str] = &["has_sse3", "has_ssse3", "has_sse41", "has_sse42", "has_popcnt"];

/// What both sides must agree on.
pub fn code_settings() -> Config {
    let mut config = Config::new();
    // No epochs and no fuel: the deadline kills the process, which nothing can argue with.
    config.epoch_interruption(false);
    config.consume_fuel(false);
    config
}
