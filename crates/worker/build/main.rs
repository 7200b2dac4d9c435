//! Brings the engines into the binary: builds the Python guest (or takes the component that
//! `GRISTMILL_PYTHON_COMPONENT` points to), fetches QuickJS (or takes the module that
//! `GRISTMILL_QUICKJS_MODULE` points to), compiles both to machine code, packs that, and tells the crate
//! where it is.
//!
//! Each step is cached by content outside the target folder, under `$GRISTMILL_BUILD_CACHE` or the
//! user's cache folder.

#[path = "../src/engine/wasm/code_settings.rs"]
mod code_settings;
mod engine_code;
mod guest;
mod native_guest;
mod quickjs;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use engine_code::Kind;

fn main() {
    for path in ["build", "src/engine/wasm/code_settings.rs"] {
        println!("cargo::rerun-if-changed={path}");
    }
    for name in [
        "GRISTMILL_PYTHON_COMPONENT",
        "GRISTMILL_QUICKJS_MODULE",
        "GRISTMILL_BUILD_CACHE",
        "GRISTMILL_PYTHON",
        "GRISTMILL_NPM",
    ] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    if let Err(message) = embed() {
        for line in message.lines() {
            println!("cargo::error={line}");
        }
    }
}

fn embed() -> Result<(), String> {
    let cache = cache_folder()?;
    fs::create_dir_all(&cache).map_err(|error| format!("{}: {error}", cache.display()))?;
    embed_python(&cache)?;
    embed_quickjs(&cache)
}

fn embed_python(cache: &Path) -> Result<(), String> {
    let guests = here().join("../../guests");
    let (component, bundled) = match env::var_os("GRISTMILL_PYTHON_COMPONENT") {
        Some(ready) => (PathBuf::from(ready), None),
        None => {
            let python = guests.join("python");
            (guest::build(&python, cache)?, Some(guest::bundled(&python, cache)?))
        }
    };
    native_guest::pack(&guests, bundled.as_deref())?;
    let bytes = read_wasm(&component)?;
    println!("cargo::rustc-env=GRISTMILL_PYTHON_COMPONENT_HASH={}", blake3::hash(&bytes).to_hex());
    write_source(
        "python_code.rs",
        &engine_code::compile("python", Kind::Component, &bytes, cache)?.as_source(),
    )
}

fn embed_quickjs(cache: &Path) -> Result<(), String> {
    let module = match env::var_os("GRISTMILL_QUICKJS_MODULE") {
        Some(ready) => PathBuf::from(ready),
        None => quickjs::fetch(cache)?,
    };
    let bytes = read_wasm(&module)?;
    let prelude = quickjs::prelude(&here().join("../../guests/javascript"))?;
    let hash = blake3::Hasher::new().update(&bytes).update(prelude.as_bytes()).finalize();
    println!("cargo::rustc-env=GRISTMILL_QUICKJS_HASH={}", hash.to_hex());
    write_source("prelude.js", &prelude)?;
    write_source(
        "quickjs_code.rs",
        &engine_code::compile("quickjs", Kind::Module, &bytes, cache)?.as_source(),
    )
}

fn read_wasm(path: &Path) -> Result<Vec<u8>, String> {
    println!("cargo::rerun-if-changed={}", path.display());
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    match bytes.starts_with(b"\0asm") {
        true => Ok(bytes),
        false => Err(format!("{} is not WebAssembly", path.display())),
    }
}

/// Writes what the crate includes.
fn write_source(name: &str, text: &str) -> Result<(), String> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    let path = out.join(name);
    fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// cargo keeps what a build script prints to itself, so a long step is told to the terminal, if
/// there is one, as well.
fn tell(line: &str) {
    eprintln!("{line}");
    if let Ok(mut terminal) = fs::OpenOptions::new().write(true).open("/dev/tty") {
        let _ = writeln!(terminal, "\r\x1b[K       guest {}", line.trim_start_matches("guest: "));
    }
}

fn cache_folder() -> Result<PathBuf, String> {
    if let Some(folder) = env::var_os("GRISTMILL_BUILD_CACHE") {
        return Ok(PathBuf::from(folder));
    }
    let base = env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))
        .ok_or("neither GRISTMILL_BUILD_CACHE, XDG_CACHE_HOME nor HOME is set: set one of them")?;
    Ok(base.join("gristmill").join("build"))
}

fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    fs::write(&temporary, bytes)
        .and_then(|()| fs::rename(&temporary, path))
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// Asked when it runs: another clone may have compiled this script into the same target folder.
fn here() -> PathBuf {
    PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default())
}
