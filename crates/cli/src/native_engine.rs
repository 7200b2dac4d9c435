//! The machine's own Python as the configuration wants it: the interpreter, the packages that were added, and which
//! modules only they bring.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::anyhow;
use gristmill_config::engines_table::NativeConfig;
use gristmill_config::{self as config, Config, Flags, Surroundings};
use gristmill_gateway::{NativeEngine, NativeStart, WasmPackages};

use crate::arguments::ConfigFile;
use crate::failure::Failure;
use crate::python_environment::{PythonEnvironment, canonical, name_in};
use crate::terminal::eprint_lines;

/// Loaded ahead if they were added and nothing else is said: they take longest.
const PRELOADED: [&str; 2] = ["numpy", "pandas"];

/// The same for a command that has not read the configuration.
pub fn of_command(file: &ConfigFile) -> Result<Option<NativeEngine>, Failure> {
    let surroundings = Surroundings::of_this_process().map_err(|error| Failure::Internal(error.into()))?;
    let flags = Flags { config: file.config.clone(), ..Flags::default() };
    of(&config::load(&surroundings, &flags).config)
}

/// The same for a command that can't do without it.
pub fn wanted(file: &ConfigFile) -> Result<NativeEngine, Failure> {
    of_command(file)?.ok_or_else(|| {
        Failure::Usage(anyhow!("the native engine is off\nhint: set `enabled = true` in [engines.native]"))
    })
}

/// None where it is off.
pub fn of(config: &Config) -> Result<Option<NativeEngine>, Failure> {
    let native = &config.engines.native;
    if !native.enabled {
        return Ok(None);
    }
    let environment = config.data_folder.as_deref().map(PythonEnvironment::in_data);
    let lock = environment.as_ref().map(PythonEnvironment::lock).transpose();
    // Programs that need no packages run all the same.
    let lock = lock.unwrap_or_else(|error| {
        eprint_lines(&format!("warning: no packages for the native engine: {error:#}"));
        None
    });
    let lock = lock.flatten();
    let packages = environment.zip(lock.as_ref()).map(|(environment, lock)| environment.packages(lock));
    let mut modules = BTreeSet::new();
    for folder in packages.iter().cloned().chain(native.path.iter().map(PathBuf::from)) {
        modules.extend(modules_in(&folder));
    }
    let asked_for = match (&packages, &lock) {
        (Some(packages), Some(lock)) => {
            let requested: BTreeSet<String> = lock.requested.iter().map(|one| name_in(one)).collect();
            modules_of(packages, &requested, &modules)
        }
        _ => Vec::new(),
    };
    let preload = native.preload.clone().unwrap_or_else(|| {
        PRELOADED.iter().filter(|name| modules.contains(**name)).map(|name| (*name).to_owned()).collect()
    });
    let text = |path: &Path| path.to_string_lossy().into_owned();
    Ok(Some(NativeEngine {
        start: NativeStart {
            python: text(&match (&native.python, lock) {
                // Their compiled parts are for this one and no other.
                (None, Some(lock)) => lock.python,
                _ => real_interpreter(&interpreter(native)?),
            }),
            packages: packages.as_deref().map(text),
            path: native.path.clone(),
            preload,
        },
        in_hardened: native.hardened,
        without_namespaces: native.without_namespaces,
        is_automatic: native.auto,
        modules,
        asked_for,
        tokens: native.tokens.clone(),
        sessions: native.sessions.clone(),
    }))
}

/// The packages that were added to the WebAssembly engine; none if none were.
pub fn wasm_packages(config: &Config) -> Option<WasmPackages> {
    let environment = PythonEnvironment::of_wasm(config.data_folder.as_deref()?);
    // Programs that need none of them run all the same.
    let lock = environment.lock().unwrap_or_else(|error| {
        eprint_lines(&format!("warning: no added packages for WebAssembly: {error:#}"));
        None
    });
    let lock = lock.filter(|lock| !lock.packages.is_empty())?;
    let folder = environment.packages(&lock);
    Some(WasmPackages { modules: modules_in(&folder), folder })
}

/// The same for a command that may not have read the configuration.
pub fn wasm_packages_of(configured: Option<&Config>, file: &ConfigFile) -> Option<WasmPackages> {
    if let Some(config) = configured {
        return wasm_packages(config);
    }
    let flags = Flags { config: file.config.clone(), ..Flags::default() };
    wasm_packages(&config::load(&Surroundings::of_this_process().ok()?, &flags).config)
}

/// The interpreter that is configured, or the first one there is.
pub fn interpreter(native: &NativeConfig) -> Result<PathBuf, Failure> {
    if let Some(python) = &native.python {
        return Ok(PathBuf::from(python));
    }
    let places = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&places).map(|place| place.join("python3")).find(|path| path.is_file());
    found.ok_or_else(|| {
        Failure::Usage(anyhow!(
            "there is no python3 in PATH\nhint: install Python 3.11 or newer, or set `python` in [engines.native]"
        ))
    })
}

/// What a script that picks an interpreter would start; anything else as it is.
fn real_interpreter(path: &Path) -> PathBuf {
    let is_script = std::fs::File::open(path).is_ok_and(|mut file| {
        let mut beginning = [0; 2];
        file.read_exact(&mut beginning).is_ok() && &beginning == b"#!"
    });
    if !is_script {
        return path.to_owned();
    }
    let asked =
        Command::new(path).args(["-c", "import sys; print(sys.executable)"]).stdin(Stdio::null()).output();
    let told = asked.ok().map(|asked| String::from_utf8_lossy(&asked.stdout).trim().to_owned());
    told.filter(|told| told.starts_with('/')).map_or_else(|| path.to_owned(), PathBuf::from)
}

/// Those of these modules that some packages brought, by their own lists of files.
fn modules_of(folder: &Path, packages: &BTreeSet<String>, known: &BTreeSet<String>) -> Vec<String> {
    let about = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let about = about.filter(|path| path.extension().is_some_and(|extension| extension == "dist-info"));
    let about = about.filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.split_once('-').is_some_and(|(name, _version)| packages.contains(&canonical(name)))
    });
    let lists = about.filter_map(|path| std::fs::read_to_string(path.join("RECORD")).ok());
    let mut brought = BTreeSet::new();
    for list in lists {
        let first = list.lines().filter_map(|line| line.split(['/', '.', ',']).next());
        brought.extend(first.filter(|name| known.contains(*name)).map(str::to_owned));
    }
    brought.into_iter().collect()
}

/// The first names of what can be imported from a folder.
pub fn modules_in(folder: &Path) -> BTreeSet<String> {
    let mut modules = BTreeSet::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_folder = entry.path().is_dir();
        let stem = name.split('.').next().unwrap_or_default();
        let is_module = if is_folder {
            !name.contains(['.', '-'])
        } else {
            name.ends_with(".py") || name.ends_with(".so")
        };
        if is_module && !stem.is_empty() && stem != "__pycache__" && stem != "bin" {
            modules.insert(stem.to_owned());
        }
    }
    modules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_known_by_the_modules_that_it_brought() {
        let folder = gristmill_testkit::TestFolder::new("modules-of");
        let about = folder.path().join("scikit_learn-1.9.1.dist-info");
        for made in [&about, &folder.path().join("sklearn"), &folder.path().join("scikit_learn.libs")] {
            std::fs::create_dir(made).unwrap();
        }
        std::fs::write(folder.path().join("threadpoolctl.py"), "").unwrap();
        let list = "scikit_learn-1.9.1.dist-info/RECORD,,\nscikit_learn.libs/libgomp.so,sha256=0,1\n\
                    sklearn/__init__.py,sha256=0,1\nsklearn/base.py,sha256=0,1\n";
        std::fs::write(about.join("RECORD"), list).unwrap();
        let known = modules_in(folder.path());
        assert_eq!(known.len(), 2);
        let brought = |name: &str| modules_of(folder.path(), &BTreeSet::from([name.to_owned()]), &known);
        assert_eq!(brought("scikit-learn"), ["sklearn"]);
        assert_eq!(brought("threadpoolctl"), [""; 0]);
    }
}
