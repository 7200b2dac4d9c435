#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| gristmill_fuzzing::run("http", input));
