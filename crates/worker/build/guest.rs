//! The Python guest: built by its own script, once for each change of its sources.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use crate::tell;

/// The component of exactly these inputs, built unless it is there already.
pub fn build(guest: &Path, cache: &Path) -> Result<PathBuf, String> {
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

/// The folder of the packages that are bundled with it, fetched unless it is there already.
pub fn bundled(guest: &Path, cache: &Path) -> Result<PathBuf, String> {
    let python = env::var("GRISTMILL_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let script = guest.join("build.py");
    let told = run(Command::new(&python).arg(script).arg("--bundled").arg("--cache").arg(cache), &python)?;
    Ok(PathBuf::from(told.trim()))
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
