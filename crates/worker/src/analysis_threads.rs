//! How many threads the analysis engine starts. `unsafe` lives here.

/// Under which names the engine and its thread pool look it up. Left to themselves they count cores,
/// by files that are not there.
const NAMES: [&str; 2] = ["POLARS_MAX_THREADS", "RAYON_NUM_THREADS"];

/// Tells the engine, before it is first used. Only for a process that has one thread.
pub fn set(threads: u32) {
    for name in NAMES {
        // SAFETY: a child that has just been forked has one thread, so nobody reads the environment
        // meanwhile.
        unsafe { std::env::set_var(name, threads.max(1).to_string()) };
    }
}
