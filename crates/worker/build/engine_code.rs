//! Compiles a component or a module to machine code, for the baseline of the target's CPU family.

use std::path::{Path, PathBuf};
use std::{env, fs};

use wasmtime::{Config, Engine, OptLevel};

use crate::code_settings::{X86_64_BASELINE, code_settings};
use crate::{tell, write_atomically};

/// High enough to matter in the binary's size, low enough not to be felt in the build.
const PACKING_LEVEL: i32 = 9;

/// What an engine may unpack to. It is ours, so this only guards against a broken cache.
const CODE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Compiled and packed code.
pub struct EngineCode {
    name: &'static str,
    packed: PathBuf,
    bytes: usize,
    hash: String,
}

impl EngineCode {
    /// As the crate includes it: a `CompiledCode`.
    pub fn as_source(&self) -> String {
        let Self { name, packed, bytes, hash } = self;
        format!(
            "CompiledCode {{ name: {name:?}, packed: include_bytes!({packed:?}), bytes: {bytes}, hash: {hash:?} }}"
        )
    }
}

/// Which of the two kinds of WebAssembly it is.
#[derive(Clone, Copy)]
pub enum Kind {
    Component,
    Module,
}

/// The code of exactly this WebAssembly for the target, compiled unless it is in the cache.
pub fn compile(name: &'static str, kind: Kind, wasm: &[u8], cache: &Path) -> Result<EngineCode, String> {
    let target = env::var("TARGET").map_err(|error| format!("TARGET: {error}"))?;
    let engine = engine_for(&target).map_err(|error| format!("the compiler of engines: {error:#}"))?;
    let key = key(wasm, &engine).map_err(|error| format!("the compiler of engines: {error:#}"))?;
    let packed = cache.join(format!("{name}-{key}.cwasm.zst"));
    let code = match unpack(&packed) {
        Some(code) => code,
        None => {
            tell(&format!("guest: compiling the {name} engine for {target}: up to 20 s, once"));
            let code = match kind {
                Kind::Component => engine.precompile_component(wasm),
                Kind::Module => engine.precompile_module(wasm),
            };
            let code = code.map_err(|error| format!("{error:#}"))?;
            let bytes = zstd::bulk::compress(&code, PACKING_LEVEL).map_err(|error| error.to_string())?;
            write_atomically(&packed, &bytes)?;
            code
        }
    };
    println!("cargo::rerun-if-changed={}", packed.display());
    Ok(EngineCode { name, packed, bytes: code.len(), hash: blake3::hash(&code).to_hex().to_string() })
}

fn engine_for(target: &str) -> wasmtime::Result<Engine> {
    let mut config: Config = code_settings();
    // Naming the target, even where it is this machine's, keeps the features of this CPU out of it.
    config.target(target)?;
    if target.starts_with("x86_64") {
        for feature in X86_64_BASELINE {
            // SAFETY: these flags choose among instructions; the engine checks the CPU before it runs them.
            unsafe { config.cranelift_flag_enable(feature) };
        }
    }
    config.cranelift_opt_level(OptLevel::Speed);
    config.parallel_compilation(true);
    // Without backtraces nobody reads these tables.
    config.native_unwind_info(false);
    config.generate_address_map(false);
    Engine::new(&config)
}

/// A component with nothing in it.
const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";

/// What the code is made from: the WebAssembly, and the compiler's version, target and settings, which
/// stand in all that it compiles.
fn key(wasm: &[u8], engine: &Engine) -> wasmtime::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(blake3::hash(wasm).as_bytes());
    hasher.update(&engine.precompile_component(EMPTY)?);
    hasher.update(&PACKING_LEVEL.to_le_bytes());
    Ok(hasher.finalize().to_hex()[..32].to_owned())
}

fn unpack(path: &Path) -> Option<Vec<u8>> {
    zstd::bulk::decompress(&fs::read(path).ok()?, CODE_BYTES_MAX).ok()
}
