//! `gristmill python add --from uv.lock`: exactly what uv has locked, as far as it is wheels.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, anyhow, bail};
use serde::Deserialize;

use super::pip::NO_PROJECT;
use super::wanted_package::{WantedPackage, check_file};

/// Reads the lock and answers its markers, in the interpreter that gets the packages.
const READER: &str = include_str!("uv_lock.py");

#[derive(Deserialize)]
struct Read {
    packages: Option<Vec<LockedByUv>>,
    problem: Option<String>,
}

#[derive(Deserialize)]
struct LockedByUv {
    name: String,
    version: String,
    sha256: Vec<String>,
}

/// What a lock comes to for this interpreter; development groups are left out.
pub fn read(python: &Path, path: &Path) -> anyhow::Result<Vec<WantedPackage>> {
    let shown = path.display();
    check_file(path)?;
    let path: PathBuf = std::fs::canonicalize(path).with_context(|| format!("can't read {shown}"))?;
    let asked = Command::new(python)
        .args(["-I", "-c", READER])
        .arg(path)
        .current_dir(NO_PROJECT)
        .stdin(Stdio::null())
        .output();
    let asked = asked.with_context(|| format!("can't start {}", python.display()))?;
    let read: Read = serde_json::from_slice(&asked.stdout).map_err(|_| {
        let said = String::from_utf8_lossy(&asked.stderr);
        anyhow!("can't read {shown}: {}", said.lines().last().unwrap_or("the interpreter said nothing"))
    })?;
    let packages = match read {
        Read { problem: Some(problem), .. } => bail!("can't use {shown}: {problem}"),
        Read { packages, problem: None } => packages.unwrap_or_default(),
    };
    let wanted = packages
        .into_iter()
        .map(|LockedByUv { name, version, sha256 }| WantedPackage::new(format!("{name}=={version}"), sha256));
    wanted.collect::<anyhow::Result<_>>().with_context(|| format!("can't use {shown}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

    /// The lock of a project that needs `numpy` everywhere and `colorama` elsewhere, with these packages.
    fn reading(packages: &str) -> Option<Result<Vec<String>, String>> {
        let folder = gristmill_testkit::TestFolder::new("uv-lock");
        let path = folder.path().join("uv.lock");
        let text = format!(
            "version = 1\nrevision = 3\nrequires-python = \">=3.11\"\n\n[[package]]\nname = \"project\"\n\
             version = \"0.1.0\"\nsource = {{ virtual = \".\" }}\ndependencies = [\n    {{ name = \"numpy\" }},\n    \
             {{ name = \"colorama\", marker = \"sys_platform == 'win32'\" }},\n]\n\n\
             [package.dev-dependencies]\ndev = [{{ name = \"pytest\" }}]\n\n{packages}"
        );
        std::fs::write(&path, text).expect("written");
        let packages = read(Path::new("python3"), &path);
        let path = path.display().to_string();
        let told = packages
            .map(|packages| packages.iter().map(WantedPackage::line).collect())
            .map_err(|error| format!("{error:#}").replace(&path, "uv.lock"));
        if told.as_ref().is_err_and(|error| error.contains("No module named 'pip")) {
            eprintln!("SKIPPED: python3 has no pip");
            return None;
        }
        Some(told)
    }

    fn package(name: &str, rest: &str) -> String {
        format!(
            "[[package]]\nname = \"{name}\"\nversion = \"2.0\"\nsource = {{ registry = \"https://index.test\" }}\n{rest}\n\n"
        )
    }

    fn wheel(name: &str) -> String {
        format!("wheels = [{{ url = \"https://index.test/{name}.whl\", hash = \"sha256:{HASH}\" }}]")
    }

    #[test]
    fn a_lock_is_what_its_project_needs_here() {
        let numpy =
            package("numpy", &format!("dependencies = [{{ name = \"tzdata\" }}]\n{}", wheel("numpy")));
        let others = ["tzdata", "colorama", "pytest"].map(|name| package(name, &wheel(name))).concat();
        let Some(lines) = reading(&(numpy + &others)) else { return };
        let lines = lines.expect("a lock");
        assert_eq!(
            lines,
            [format!("numpy==2.0 --hash=sha256:{HASH}\n"), format!("tzdata==2.0 --hash=sha256:{HASH}\n"),]
        );
    }

    #[test]
    fn what_would_have_to_be_built_or_cannot_be_checked_is_refused() {
        let check = |packages: String, words: &str| {
            let Some(told) = reading(&packages) else { return };
            assert_eq!(told, Err(format!("can't use uv.lock: {words}")));
        };
        let source = "sdist = { url = \"https://index.test/numpy.tar.gz\", hash = \"sha256:00\" }";
        check(
            package("numpy", source),
            "`numpy` 2.0 has no wheel, only its source; packages are never built here",
        );
        check(
            package("numpy", "wheels = [{ url = \"https://index.test/numpy.whl\" }]"),
            "`numpy` 2.0 has a wheel without a sha256 hash",
        );
        let from_git = package("numpy", &wheel("numpy")).replace("registry", "git");
        check(from_git, "`numpy` comes from git; only packages of an index are taken");
        check(String::new(), "it has 0 packages that `numpy` may mean");
        let odd = package("numpy", &wheel("numpy")).replace("2.0", "2.0 --pre");
        check(odd, "`numpy==2.0 --pre` isn't a package with its version");
    }
}
