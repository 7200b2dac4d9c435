//! pip of the configured interpreter: finds out which wheels are wanted, and installs exactly those.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, anyhow, bail};
use serde_json::Value;

use super::wanted_package::WantedPackage;
use crate::python_environment::{LockedPackage, canonical, name_in, requirements};

/// What is repeated of pip's own words.
const LINES_SHOWN: usize = 12;

/// Packages that are tried one by one for what is missing.
const NEEDED_MAX: usize = 5;

/// The interpreter behind a name, which may be a script that picks one, and its version.
pub fn interpreter(python: &Path) -> anyhow::Result<(PathBuf, String)> {
    let shown = python.display();
    let question = "import sys; print(sys.executable); print(sys.version.split()[0])";
    let asked = Command::new(python).args(["-I", "-c", question]).stdin(Stdio::null()).output();
    let asked = asked.with_context(|| format!("can't start {shown}"))?;
    let told = String::from_utf8_lossy(&asked.stdout).into_owned();
    match told.lines().collect::<Vec<_>>()[..] {
        [executable, version] if executable.starts_with('/') => Ok((executable.into(), version.to_owned())),
        _ => bail!("{shown} doesn't work\nhint: set `python` in [engines.native] to a Python 3.11 or newer"),
    }
}

/// Which wheels these requirements come to. Nothing is installed, and nothing of a package runs.
pub fn resolve(python: &Path, requested: &[String]) -> anyhow::Result<Vec<LockedPackage>> {
    if requested.is_empty() {
        return Ok(Vec::new());
    }
    reported(pip(python).arg("install").args(DRY_RUN).args(WHEELS_ONLY).arg("--").args(requested))
}

/// The same for the WebAssembly engine: wheels of pure Python, for its own version. `nowhere` is a folder that pip wants
/// to be told of and leaves alone.
pub fn resolve_pure(
    python: &Path,
    requested: &[String],
    nowhere: &Path,
) -> anyhow::Result<Vec<LockedPackage>> {
    if requested.is_empty() {
        return Ok(Vec::new());
    }
    let error = match reported(pure(python, nowhere)?.args(DRY_RUN).arg("--").args(requested)) {
        Ok(packages) => return Ok(packages),
        Err(error) => error,
    };
    let refused = |name: &str, why: String| {
        anyhow!(
            "{name} has no wheel of pure Python, so WebAssembly can't run it{why}; nothing was changed\nhint: \
             `gristmill python add` adds packages to the native engine"
        )
    };
    let said = format!("{error:#}");
    if let Some(name) = without_pure_wheel(&said) {
        let asked = requested.iter().find(|requirement| name_in(requirement) == canonical(name));
        let asked = asked.map_or(name, String::as_str);
        // If it isn't there for this Python either, pip's own words say more: a name that nobody has, an index that
        // doesn't answer.
        let mut elsewhere = pip(python);
        elsewhere.arg("install").args(DRY_RUN).args(WHEELS_ONLY).args(["--no-deps", "--", asked]);
        return Err(if run(&mut elsewhere).is_ok() { refused(name, String::new()) } else { error });
    }
    // pip has looked at every version of something for want of one that it needs, which it tells only at length.
    if said.contains("ResolutionImpossible") {
        for (needing, name) in needed(python, requested, nowhere)? {
            let alone = reported(pure(python, nowhere)?.args(DRY_RUN).args(["--no-deps", "--", &name]));
            if alone.is_err_and(|error| without_pure_wheel(&format!("{error:#}")).is_some()) {
                return Err(refused(&name, format!(", and {needing} needs it")));
            }
        }
    }
    Err(error)
}

/// pip, looking for wheels of pure Python. `nowhere` is a folder that it wants to be told of and leaves alone.
fn pure(python: &Path, nowhere: &Path) -> anyhow::Result<Command> {
    let mut command = pip(python);
    command
        .args(["install", "--target"])
        .arg(std::path::absolute(nowhere)?)
        .args(WHEELS_ONLY)
        .args(PURE_ONLY);
    Ok(command)
}

/// What packages need that pip could find no way with: each with who needs it.
fn needed(python: &Path, requested: &[String], nowhere: &Path) -> anyhow::Result<Vec<(String, String)>> {
    let mut command = pure(python, nowhere)?;
    command.args(["--dry-run", "--ignore-installed", "--report", "/dev/null", "--"]).args(requested);
    let done = command.output().context("can't start pip")?;
    let told = String::from_utf8_lossy(&done.stdout);
    let mut found: Vec<(String, String)> = Vec::new();
    for line in told.lines() {
        let Some((needing, name)) = line.trim().split_once(" depends on ") else { continue };
        let needing = needing.split(' ').next().unwrap_or_default().to_owned();
        let name = name_in(name);
        if !name.is_empty() && found.len() < NEEDED_MAX && found.iter().all(|(_, other)| *other != name) {
            found.push((needing, name));
        }
    }
    Ok(found)
}

/// What pip has found nothing for, in its own words.
fn without_pure_wheel(said: &str) -> Option<&str> {
    let (_, rest) = said.split_once("No matching distribution found for ")?;
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c))).unwrap_or(rest.len());
    Some(rest[..end].trim_end_matches('.')).filter(|name| !name.is_empty())
}

/// Downloads exactly these wheels of pure Python into a folder.
pub fn download_pure(python: &Path, packages: &[LockedPackage], folder: &Path) -> anyhow::Result<()> {
    if packages.is_empty() {
        return Ok(());
    }
    let list = folder.with_extension("requirements");
    std::fs::write(&list, requirements(packages))?;
    let mut command = pip(python);
    command.args(["download", "--quiet", "--require-hashes", "--no-deps"]).args(WHEELS_ONLY).args(PURE_ONLY);
    command.arg("--dest").arg(std::path::absolute(folder)?);
    let outcome = run(command.arg("-r").arg(std::path::absolute(&list)?));
    let _ = std::fs::remove_file(&list);
    outcome.map(drop)
}

/// Which wheels of a lock are for this interpreter: each by one of its hashes, and nothing else.
pub fn resolve_exactly(
    python: &Path,
    wanted: &[WantedPackage],
    list: &Path,
) -> anyhow::Result<Vec<LockedPackage>> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let text: String = wanted.iter().map(WantedPackage::line).collect();
    std::fs::write(list, text).with_context(|| format!("can't write {}", list.display()))?;
    let mut command = pip(python);
    command.arg("install").args(DRY_RUN).args(WHEELS_ONLY).args(["--no-deps", "--require-hashes", "-r"]);
    command.arg(std::path::absolute(list)?);
    let packages = reported(&mut command);
    let _ = std::fs::remove_file(list);
    packages
}

/// Finds out what would be installed, and how it is told.
const DRY_RUN: [&str; 5] = ["--dry-run", "--ignore-installed", "--quiet", "--report", "-"];

fn reported(command: &mut Command) -> anyhow::Result<Vec<LockedPackage>> {
    let report = run(command)?;
    let report: Value = serde_json::from_str(&report).context("pip's report can't be read")?;
    let mut packages = Vec::new();
    for entry in report["install"].as_array().into_iter().flatten() {
        let url = entry["download_info"]["url"].as_str().unwrap_or_default();
        if entry["is_direct"] == true || !url.ends_with(".whl") {
            bail!("pip would install {url}, which isn't a wheel from an index; nothing was changed");
        }
        packages.push(locked(entry).ok_or_else(|| anyhow!("pip's report names a package without a hash"))?);
    }
    packages.sort_by(|one: &LockedPackage, other| one.name.cmp(&other.name));
    Ok(packages)
}

fn locked(entry: &Value) -> Option<LockedPackage> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let download = &entry["download_info"];
    let archive = &download["archive_info"];
    let plain = archive["hash"].as_str().and_then(|hash| hash.strip_prefix("sha256="));
    let sha256 = text(&archive["hashes"]["sha256"]).or_else(|| plain.map(str::to_owned))?;
    let url = download["url"].as_str()?;
    Some(LockedPackage {
        name: canonical(entry["metadata"]["name"].as_str()?),
        version: text(&entry["metadata"]["version"])?,
        sha256,
        file: file_in(url),
    })
}

/// The file that an address leads to: versions have a few characters that addresses write otherwise.
fn file_in(url: &str) -> String {
    let file = url.rsplit('/').next().unwrap_or_default();
    [("%2B", "+"), ("%2b", "+"), ("%21", "!")]
        .iter()
        .fold(file.to_owned(), |file, (written, meant)| file.replace(written, meant))
}

/// Installs exactly these into a folder.
pub fn install(python: &Path, packages: &[LockedPackage], folder: &Path) -> anyhow::Result<()> {
    if packages.is_empty() {
        return Ok(());
    }
    let list = folder.with_extension("requirements");
    std::fs::write(&list, requirements(packages))?;
    let mut command = pip(python);
    command.args(["install", "--quiet", "--require-hashes", "--no-deps", "--target"]);
    command.arg(std::path::absolute(folder)?).args(WHEELS_ONLY);
    let outcome = run(command.arg("-r").arg(std::path::absolute(&list)?));
    let _ = std::fs::remove_file(&list);
    outcome.map(drop)
}

/// A package that has to be built would run its author's code here.
const WHEELS_ONLY: [&str; 2] = ["--only-binary", ":all:"];

/// For the interpreter of the WebAssembly engine, and for no machine.
const PURE_ONLY: [&str; 8] =
    ["--platform", "any", "--implementation", "py", "--abi", "none", "--python-version", "3.14"];

/// Where nobody's project lies: Python takes modules from the folder that it's started in, before its own.
pub const NO_PROJECT: &str = "/";

fn pip(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.current_dir(NO_PROJECT);
    command.args(["-m", "pip", "--disable-pip-version-check", "--no-input"]).stdin(Stdio::null());
    command
}

fn run(command: &mut Command) -> anyhow::Result<String> {
    let done = command.output().context("can't start pip")?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    if said.contains("No module named pip") {
        bail!("this Python has no pip\nhint: install it (Debian and Ubuntu: apt install python3-pip)");
    }
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let tail = lines[lines.len().saturating_sub(LINES_SHOWN)..].join("\n");
    let hint = match said.contains("No matching distribution") {
        true => {
            "\nhint: check the name and the version; or there's no wheel for this Python and this machine, and \
             packages are never built here"
        }
        false => "",
    };
    bail!("pip failed; nothing was changed\n{tail}{hint}")
}
