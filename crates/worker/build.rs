//! Brings the Python guest into the binary: builds the component (or takes the one that
//! `GRISTMILL_PYTHON_COMPONENT` points to), compresses it, and tells the crate where it is.
//!
//! Both steps are cached by content outside the target folder, under
//! `$GRISTMILL_BUILD_CACHE` or the user's cache folder.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for name in ["GRISTMILL_PYTHON_COMPONENT", "GRISTMILL_BUILD_CACHE", "GRISTMILL_PYTHON"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    match embed() {
        Ok(()) => {}
        Err(message) => {
            for line in message.lines() {
                println!("cargo::error={line}");
            }
        }
    }
}

fn embed() -> Result<(), String> {
    let guest = here().join("../../guests/python");
    let cache = cache_folder()?;
    fs::create_dir_all(&cache).map_err(|error| format!("{}: {error}", cache.display()))?;
    let component = match env::var_os("GRISTMILL_PYTHON_COMPONENT") {
        Some(ready) => PathBuf::from(ready),
        None => build_component(&guest, &cache)?,
    };
    println!("cargo::rerun-if-changed={}", component.display());
    let bytes = fs::read(&component).map_err(|error| format!("{}: {error}", component.display()))?;
    if !bytes.starts_with(b"\0asm") {
        return Err(format!("{} is not a WebAssembly component", component.display()));
    }
    let hash = blake3::hash(&bytes).to_hex().to_string();
    let compressed = cache.join(format!("{hash}.wasm.zst"));
    if !compressed.exists() {
        let packed = zstd::bulk::compress(&bytes, COMPRESSION_LEVEL).map_err(|error| error.to_string())?;
        write_atomically(&compressed, &packed)?;
    }
    println!("cargo::rustc-env=GRISTMILL_PYTHON_COMPONENT_ZST={}", compressed.display());
    println!("cargo::rustc-env=GRISTMILL_PYTHON_COMPONENT_HASH={hash}");
    Ok(())
}

/// High enough to matter in the binary's size, low enough not to be felt in the build.
const COMPRESSION_LEVEL: i32 = 12;

/// The component for exactly these inputs, built unless it is there already.
fn build_component(guest: &Path, cache: &Path) -> Result<PathBuf, String> {
    let python = env::var("GRISTMILL_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let script = guest.join("build.py");
    let inputs = run(Command::new(&python).arg(&script).arg("--print-inputs"), &python)?;
    let mut hasher = blake3::Hasher::new();
    for input in inputs.lines() {
        let path = guest.join(input);
        println!("cargo::rerun-if-changed={}", path.display());
        let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        hasher.update(input.as_bytes()).update(&(bytes.len() as u64).to_le_bytes()).update(&bytes);
    }
    println!("cargo::rerun-if-changed={}", guest.display());
    let component = cache.join(format!("python-{}.wasm", &hasher.finalize().to_hex()[..32]));
    if !component.exists() {
        tell("building the Python guest: about half a minute, once for each change of guests/python");
        run(
            Command::new(&python).arg(&script).arg("--out").arg(&component).arg("--cache").arg(cache),
            &python,
        )?;
    }
    Ok(component)
}

/// Runs a step of the guest's build, and shows what it says while it says it.
fn run(command: &mut Command, python: &str) -> Result<String, String> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(|error| {
        format!(
            "the Python guest is built with Python, and `{python}` does not start: {error}\n\
             install Python 3.9 or newer with pip and venv (Debian: apt install python3 python3-venv),\n\
             or set GRISTMILL_PYTHON to an interpreter, or GRISTMILL_PYTHON_COMPONENT to a ready component"
        )
    })?;
    let mut said = Vec::new();
    for line in child
        .stderr
        .take()
        .into_iter()
        .flat_map(|stderr| BufReader::new(stderr).lines().map_while(Result::ok))
    {
        tell(&line);
        said.push(line);
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        let tail = &said[said.len().saturating_sub(15)..];
        return Err(format!("building the Python guest failed ({}):\n{}", output.status, tail.join("\n")));
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
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
