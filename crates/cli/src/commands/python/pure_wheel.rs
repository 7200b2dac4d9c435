//! Packages of the WebAssembly engine: wheels of pure Python, checked and unpacked. Nothing of them runs here.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, anyhow, bail};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::pip::NO_PROJECT;
use crate::python_environment::{LockedPackage, hex};

/// Unpacks one, in the configured interpreter.
const UNPACKER: &str = include_str!("unpack_wheel.py");

/// The largest wheel.
const WHEEL_BYTES_MAX: u64 = 128 << 20;

/// Modules of ours, and of what is bundled with the engine. The standard library's are known to the unpacker; those
/// that only newer Pythons have are here.
const TAKEN: &str = "servers skills gristmill gristmill_guest gristmill_native wit_world componentize_py_runtime \
    componentize_py_types componentize_py_async_support poll_loop annotationlib compression dateutil jsonpath_ng \
    sortedcontainers tabulate tzdata yaml _yaml";

/// What is bundled, as packages are called. Whoever needs one has it.
const BUNDLED: [&str; 6] =
    ["jsonpath-ng", "python-dateutil", "pyyaml", "sortedcontainers", "tabulate", "tzdata"];

pub fn is_bundled(name: &str) -> bool {
    BUNDLED.contains(&name)
}

/// Those that are to be unpacked: what is bundled is left out.
pub fn without_bundled(packages: Vec<LockedPackage>) -> anyhow::Result<Vec<LockedPackage>> {
    let packages: Vec<LockedPackage> =
        packages.into_iter().filter(|package| !is_bundled(&package.name)).collect();
    match packages.iter().find(|package| !is_for_all(&package.file)) {
        Some(package) => Err(anyhow!("{} is not a wheel of pure Python; nothing was changed", package.file)),
        None => Ok(packages),
    }
}

/// Whether the name of a wheel says that it is for every machine: `name-1.0-py3-none-any.whl`.
fn is_for_all(file: &str) -> bool {
    let Some(stem) = file.strip_suffix(".whl") else { return false };
    let mut parts = stem.rsplit('-');
    let (platform, abi, python) = (parts.next(), parts.next(), parts.next());
    let is_python_3 = |tags: &str| tags.split('.').any(|tag| tag.starts_with("py3"));
    platform == Some("any") && abi == Some("none") && python.is_some_and(is_python_3) && parts.count() >= 2
}

/// Unpacks wheels that lie in a folder into another one.
pub fn unpack_all(
    python: &Path,
    wheels: &Path,
    packages: &[LockedPackage],
    folder: &Path,
) -> anyhow::Result<()> {
    let known: BTreeSet<&str> = packages.iter().map(|package| package.file.as_str()).collect();
    if known.len() != packages.len() {
        bail!("two packages have the same file; nothing was changed");
    }
    for package in packages {
        let refused = |why: String| {
            anyhow!(
                "{} {} can't be used in WebAssembly: {why}; nothing was changed",
                package.name,
                package.version
            )
        };
        let wheel = wheels.join(&package.file);
        check_hash(&wheel, &package.sha256).map_err(|error| refused(format!("{error:#}")))?;
        unpack(python, &wheel, folder)?.map_err(refused)?;
    }
    Ok(())
}

fn check_hash(wheel: &Path, expected: &str) -> anyhow::Result<()> {
    let file = std::fs::File::open(wheel).context("it wasn't downloaded")?;
    let mut bytes = Vec::new();
    file.take(WHEEL_BYTES_MAX + 1).read_to_end(&mut bytes).context("it can't be read")?;
    if bytes.len() as u64 > WHEEL_BYTES_MAX {
        bail!("its wheel is larger than {} MB", WHEEL_BYTES_MAX >> 20);
    }
    if hex(&Sha256::digest(&bytes)) != expected {
        bail!("its wheel isn't the one that was found before");
    }
    Ok(())
}

#[derive(Deserialize)]
struct Unpacked {
    problem: Option<String>,
}

/// The inner error is why the wheel is none that can be used.
fn unpack(python: &Path, wheel: &Path, folder: &Path) -> anyhow::Result<Result<(), String>> {
    let asked = Command::new(python)
        .args(["-I", "-c", UNPACKER])
        .arg(std::path::absolute(wheel)?)
        .arg(std::path::absolute(folder)?)
        .arg(TAKEN)
        .current_dir(NO_PROJECT)
        .stdin(Stdio::null())
        .output();
    let asked = asked.with_context(|| format!("can't start {}", python.display()))?;
    let told: Unpacked = serde_json::from_slice(&asked.stdout).map_err(|_| {
        let said = String::from_utf8_lossy(&asked.stderr);
        anyhow!("can't unpack {}: {}", wheel.display(), said.lines().last().unwrap_or("nothing was said"))
    })?;
    Ok(told.problem.map_or(Ok(()), Err))
}

#[cfg(test)]
#[path = "pure_wheel_tests.rs"]
mod tests;
