//! Brings the engines into the binary: builds the Python guest (or takes the component that
//! `GRISTMILL_PYTHON_COMPONENT` points to), compiles it to machine code, packs that, and tells the crate
//! where it is.
//!
//! Each step is cached by content outside the target folder, under `$GRISTMILL_BUILD_CACHE` or the
//! user's cache folder.

#[path = "../src/engine/wasm/code_settings.rs"]
mod code_settings;
mod engine_code;
mod guest;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    for path in ["build", "src/engine/wasm/code_settings.rs"] {
        println!("cargo::rerun-if-changed={path}");
    }
    for name in ["GRISTMILL_PYTHON_COMPONENT", "GRISTMILL_BUILD_CACHE", "GRISTMILL_PYTHON"] {
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
    let component = match env::var_os("GRISTMILL_PYTHON_COMPONENT") {
        Some(ready) => PathBuf::from(ready),
        None => guest::build(&here().join("../../guests/python"), &cache)?,
    };
    println!("cargo::rerun-if-changed={}", component.display());
    let bytes = fs::read(&component).map_err(|error| format!("{}: {error}", component.display()))?;
    if !bytes.starts_with(b"\0asm") {
        return Err(format!("{} is not a WebAssembly component", component.display()));
    }
    println!("cargo::rustc-env=GRISTMILL_PYTHON_COMPONENT_HASH={}", blake3::hash(&bytes).to_hex());
    let code = engine_code::compile("python", &bytes, &cache)?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    let path = out.join("python_code.rs");
    fs::write(&path, code.as_source()).map_err(|error| format!("{}: {error}", path.display()))
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
