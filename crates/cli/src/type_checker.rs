//! The type checker for TypeScript programs: which one is used, and how it is started. It's another's program, of
//! the npm package `typescript` from version 7 on; without one, programs run unchecked.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gristmill_config::TypesMode;
use gristmill_gateway::{ConfinedBy, Folders, TypeCheckCommand};
use gristmill_worker::{SERVER_SANDBOX_COMMAND, TYPE_CHECKER_COMMAND};
use serde_json::Value;

/// The version that `gristmill setup --typescript` installs.
pub const VERSION: &str = "7.0.2";

/// Names a checker in place of any other.
pub const VARIABLE: &str = "GRISTMILL_TYPE_CHECKER";

/// The first version that is a native program.
const MAJOR_MIN: u64 = 7;

/// What it is called on the search path.
const NAMES: [&str; 2] = ["tsgo", "tsc"];

/// More of a package's description than there is.
const PACKAGE_BYTES_MAX: u64 = 64 * 1024;

/// A checker that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub path: PathBuf,
    /// Who says so, for people.
    pub by: &'static str,
}

/// How the checker is started, if there is one and the configuration lets it be used.
pub fn command(mode: TypesMode) -> Option<TypeCheckCommand> {
    let found = match mode {
        TypesMode::Auto => find()?,
        TypesMode::Off => return None,
    };
    let program = env::current_exe().ok()?;
    let confined =
        ConfinedBy { supervise: TYPE_CHECKER_COMMAND.into(), sandbox: SERVER_SANDBOX_COMMAND.into() };
    Some(TypeCheckCommand { program, checker: found.path, confined: Some(confined) })
}

/// The one that a variable names, or that we installed, or on the search path.
pub fn find() -> Option<Found> {
    let named = env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    if let Some(path) = named {
        return real(&path).map(|path| Found { path, by: VARIABLE });
    }
    let cache = Folders::from_environment().ok()?.cache;
    let installed = binary_in(&folder_in(&cache));
    if let Some(path) = real(&installed) {
        return Some(Found { path, by: "gristmill setup --typescript" });
    }
    let searched = env::var_os("PATH")?;
    env::split_paths(&searched).filter(|folder| folder.is_absolute()).find_map(|folder| on_path(&folder))
}

/// Where it is installed to.
pub fn folder_in(cache: &Path) -> PathBuf {
    cache.join("typescript").join(VERSION)
}

/// The checker in an unpacked package.
pub fn binary_in(package: &Path) -> PathBuf {
    package.join("lib").join("tsc")
}

/// The package with the native program for this machine; `None` where there is none.
pub fn platform() -> Option<&'static str> {
    Some(match (env::consts::OS, env::consts::ARCH) {
        ("linux", "x86_64") => "linux-x64",
        ("linux", "aarch64") => "linux-arm64",
        ("macos", "x86_64") => "darwin-x64",
        ("macos", "aarch64") => "darwin-arm64",
        _ => return None,
    })
}

fn real(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().filter(|path| path.is_file())
}

fn on_path(folder: &Path) -> Option<Found> {
    let found = NAMES.iter().filter_map(|name| real(&folder.join(name)));
    let checker = found.filter_map(|path| match is_program(&path) {
        true => has_version(&path).then_some(path),
        false => of_package(&path),
    });
    checker.map(|path| Found { path, by: "PATH" }).next()
}

/// Whether it is a program of the machine's own, and no script.
fn is_program(path: &Path) -> bool {
    let mut beginning = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut beginning));
    read.is_ok() && matches!(beginning, [0x7f, b'E', b'L', b'F'] | [0xcf, 0xfa, 0xed, 0xfe])
}

/// Asks it.
fn has_version(path: &Path) -> bool {
    let asked =
        Command::new(path).arg("--version").env_clear().stdin(Stdio::null()).stderr(Stdio::null()).output();
    let said = asked.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    said.trim().strip_prefix("Version ").is_some_and(is_new_enough)
}

/// The program behind the script `node_modules/typescript/bin/tsc`, where npm has put it.
fn of_package(script: &Path) -> Option<PathBuf> {
    let package =
        script.parent()?.parent().filter(|package| package.file_name() == Some(OsStr::new("typescript")))?;
    let mut text = String::new();
    File::open(package.join("package.json")).ok()?.take(PACKAGE_BYTES_MAX).read_to_string(&mut text).ok()?;
    let described: Value = serde_json::from_str(&text).ok()?;
    if !described["version"].as_str().is_some_and(is_new_enough) {
        return None;
    }
    let native = Path::new("@typescript").join(format!("typescript-{}", platform()?));
    let places = [package.parent()?.join(&native), package.join("node_modules").join(&native)];
    places.iter().find_map(|place| real(&binary_in(place)))
}

fn is_new_enough(version: &str) -> bool {
    version
        .split('.')
        .next()
        .and_then(|major| major.parse().ok())
        .is_some_and(|major: u64| major >= MAJOR_MIN)
}

/// Whether the one that we installed is there.
pub fn is_installed(cache: &Path) -> bool {
    fs::metadata(binary_in(&folder_in(cache))).is_ok_and(|about| about.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_version_7_and_later_is_used() {
        for (version, expected) in [("7.0.2", true), ("8.1.0-beta", true), ("5.9.3", false), ("", false)] {
            assert_eq!(is_new_enough(version), expected, "{version}");
        }
    }

    #[test]
    fn npms_script_leads_to_the_program_beside_it() {
        let Some(platform) = platform() else { return };
        let modules = tempfile::tempdir().expect("a folder");
        let package = modules.path().join("typescript");
        let native = modules.path().join(format!("@typescript/typescript-{platform}/lib"));
        fs::create_dir_all(package.join("bin")).expect("a folder");
        fs::create_dir_all(&native).expect("a folder");
        let script = package.join("bin/tsc");
        fs::write(&script, "#!/usr/bin/env node\n").expect("a file");
        fs::write(native.join("tsc"), "x").expect("a file");
        fs::write(package.join("package.json"), r#"{"version":"5.9.3"}"#).expect("a file");
        assert_eq!(of_package(&script), None, "it is too old");
        fs::write(package.join("package.json"), r#"{"version":"7.0.2"}"#).expect("a file");
        assert_eq!(of_package(&script), real(&native.join("tsc")));
    }
}
