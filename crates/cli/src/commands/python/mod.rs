//! `gristmill python …`: the packages that programs of the native engine import.

mod check;
mod pip;
mod uv_lock;
mod wanted_package;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use gristmill_config::{self as config, Config, Flags, Surroundings};
use serde_json::json;

use super::{Failure, Outcome};
use crate::arguments::ConfigFile;
use crate::native_engine;
use crate::python_environment::{LockedPackage, PythonEnvironment, PythonLock, name_in};
use crate::terminal::{eprint_lines, one_line};
use wanted_package::{Requirements, WantedPackage, is_of_index, requirements_in};

#[derive(Args)]
pub struct PythonArguments {
    #[command(subcommand)]
    pub command: PythonCommand,

    #[command(flatten)]
    pub config: ConfigFile,
}

#[derive(Subcommand)]
pub enum PythonCommand {
    /// Add packages, such as `numpy` or `pandas>=2`, with what they need
    ///
    /// Only wheels are installed, and the hash of each is kept. Nothing of a package runs meanwhile.
    Add {
        /// Packages, as pip takes them
        #[arg(value_name = "PACKAGE", required_unless_present_any = ["requirements", "from"])]
        packages: Vec<String>,
        /// Also those in a requirements file; one with hashes is taken exactly, in place of what was added before
        #[arg(short = 'r', long = "requirements", value_name = "FILE")]
        requirements: Option<PathBuf>,
        /// Exactly what a uv.lock has for its project, in place of what was added before
        #[arg(long, value_name = "FILE", conflicts_with_all = ["packages", "requirements"])]
        from: Option<PathBuf>,
    },
    /// List the packages
    List {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove packages, and what only they needed
    Remove {
        /// Packages that were added, by their names
        #[arg(value_name = "PACKAGE", required = true)]
        packages: Vec<String>,
    },
    /// Print every package with its version and hash, as pip reads them
    Lock,
    /// Import every package that was added, in the sandbox
    Check,
}

pub async fn python(arguments: PythonArguments) -> Outcome {
    let surroundings = Surroundings::of_this_process().map_err(|error| Failure::Internal(error.into()))?;
    let flags = Flags { config: arguments.config.config.clone(), ..Flags::default() };
    let config = config::load(&surroundings, &flags).config;
    let data = config.data_folder.as_deref().ok_or_else(|| {
        Failure::Usage(anyhow!("there is no data folder\nhint: set GRISTMILL_DATA_DIR or HOME"))
    })?;
    let environment = PythonEnvironment::in_data(data);
    match arguments.command {
        PythonCommand::Add { from: Some(lock), .. } => add_locked(&environment, &config, &lock),
        PythonCommand::Add { packages, requirements, from: None } => {
            add(&environment, &config, packages, requirements.as_deref())
        }
        PythonCommand::Remove { packages } => remove(&environment, &config, &packages),
        PythonCommand::List { json } => list(&environment, json),
        PythonCommand::Lock => {
            print!("{}", added(&environment)?.requirements());
            Ok(ExitCode::SUCCESS)
        }
        PythonCommand::Check => check::check(&config, &added(&environment)?).await,
    }
}

fn add(
    environment: &PythonEnvironment,
    config: &Config,
    mut packages: Vec<String>,
    requirements: Option<&Path>,
) -> Outcome {
    match requirements.map(requirements_in).transpose().map_err(Failure::Usage)? {
        None => {}
        Some(Requirements::Open(more)) => packages.extend(more),
        Some(Requirements::Exact(wanted)) if packages.is_empty() => {
            return add_exactly(environment, config, interpreter(config)?, &wanted);
        }
        Some(Requirements::Exact(_)) => {
            let what = anyhow!(
                "a requirements file with hashes lists everything to install; add other packages separately"
            );
            return Err(Failure::Usage(what));
        }
    }
    if let Some(option) = packages.iter().find(|package| package.starts_with('-')) {
        let what = anyhow!("`{option}` is a pip option, not a package; pip options aren't accepted here");
        return Err(Failure::Usage(what));
    }
    if let Some(other) = packages.iter().find(|package| !is_of_index(package)) {
        let what = anyhow!(
            "`{}` isn't a package name such as numpy or pandas>=2; paths and URLs aren't accepted, since pip would run their code",
            one_line(other)
        );
        return Err(Failure::Usage(what));
    }
    let _held = environment.hold().map_err(Failure::Internal)?;
    let before = environment.lock().map_err(Failure::Internal)?;
    let new: BTreeSet<String> = packages.iter().map(|package| name_in(package)).collect();
    // What is written anew takes the place of what was.
    let kept = before.iter().flat_map(|lock| lock.requested.iter().cloned());
    let mut requested: Vec<String> = kept.filter(|old| !new.contains(&name_in(old))).collect();
    requested.extend(packages);
    tell_added(&change(environment, config, requested)?, config);
    Ok(ExitCode::SUCCESS)
}

fn add_locked(environment: &PythonEnvironment, config: &Config, path: &Path) -> Outcome {
    let python = interpreter(config)?;
    let wanted = uv_lock::read(&python.0, path).map_err(Failure::Usage)?;
    add_exactly(environment, config, python, &wanted)
}

/// These packages and no others, whatever was added before.
fn add_exactly(
    environment: &PythonEnvironment,
    config: &Config,
    python: (PathBuf, String),
    wanted: &[WantedPackage],
) -> Outcome {
    let _held = environment.hold().map_err(Failure::Internal)?;
    let packages =
        pip::resolve_exactly(&python.0, wanted, &environment.wanted_list()).map_err(Failure::Usage)?;
    let requested = wanted.iter().map(|one| one.requirement.clone()).collect();
    tell_added(&install(environment, python, requested, packages)?, config);
    Ok(ExitCode::SUCCESS)
}

fn tell_added(lock: &PythonLock, config: &Config) {
    for one in &lock.packages {
        println!("{} {}", one.name, one.version);
    }
    if !config.engines.native.enabled {
        eprint_lines("note: the native engine is off; set `enabled = true` in [engines.native] to use them");
    }
    eprint_lines("note: restart `gristmill serve` to use them there");
}

fn remove(environment: &PythonEnvironment, config: &Config, packages: &[String]) -> Outcome {
    let _held = environment.hold().map_err(Failure::Internal)?;
    let before = added(environment)?;
    let gone: BTreeSet<String> = packages.iter().map(|package| name_in(package)).collect();
    let known: BTreeSet<String> = before.requested.iter().map(|one| name_in(one)).collect();
    if let Some(unknown) = gone.iter().find(|name| !known.contains(*name)) {
        let names: Vec<&str> = known.iter().map(String::as_str).collect();
        let what = anyhow!("{unknown} wasn't added; added were: {}", names.join(", "));
        return Err(Failure::Usage(what));
    }
    let requested = before.requested.into_iter().filter(|one| !gone.contains(&name_in(one))).collect();
    let lock = change(environment, config, requested)?;
    match lock.packages.len() {
        0 => println!("no package is left"),
        1 => println!("1 package is left"),
        count => println!("{count} packages are left"),
    }
    Ok(ExitCode::SUCCESS)
}

fn change(
    environment: &PythonEnvironment,
    config: &Config,
    requested: Vec<String>,
) -> Result<PythonLock, Failure> {
    let python = interpreter(config)?;
    let packages = pip::resolve(&python.0, &requested).map_err(Failure::Usage)?;
    install(environment, python, requested, packages)
}

/// The interpreter that packages are for, and its version.
fn interpreter(config: &Config) -> Result<(PathBuf, String), Failure> {
    pip::interpreter(&native_engine::interpreter(&config.engines.native)?).map_err(Failure::Usage)
}

fn install(
    environment: &PythonEnvironment,
    python: (PathBuf, String),
    requested: Vec<String>,
    packages: Vec<LockedPackage>,
) -> Result<PythonLock, Failure> {
    let (interpreter, wheels) = (python.0.clone(), packages.clone());
    let install = move |folder: &Path| pip::install(&interpreter, &wheels, folder);
    environment.replace(python, requested, packages, install).map_err(Failure::Internal)
}

fn list(environment: &PythonEnvironment, is_json: bool) -> Outcome {
    let lock = environment.lock().map_err(Failure::Internal)?;
    if is_json {
        let packages = lock.iter().flat_map(|lock| &lock.packages);
        let packages: Vec<_> = packages
            .map(|one| json!({ "name": one.name, "version": one.version, "sha256": one.sha256, "file": one.file }))
            .collect();
        let python = lock.as_ref().map(|lock| json!({ "path": lock.python, "version": lock.python_version }));
        let requested = lock.as_ref().map(|lock| lock.requested.clone()).unwrap_or_default();
        println!("{:#}", json!({ "python": python, "requested": requested, "packages": packages }));
        return Ok(ExitCode::SUCCESS);
    }
    let Some(lock) = lock.filter(|lock| !lock.packages.is_empty()) else {
        println!("no packages");
        eprint_lines("hint: add some with `gristmill python add numpy pandas`");
        return Ok(ExitCode::SUCCESS);
    };
    let wanted: BTreeSet<String> = lock.requested.iter().map(|one| name_in(one)).collect();
    for one in &lock.packages {
        let why = if wanted.contains(&one.name) { "" } else { "  (needed by others)" };
        println!("{} {}{why}", one.name, one.version);
    }
    Ok(ExitCode::SUCCESS)
}

fn added(environment: &PythonEnvironment) -> Result<PythonLock, Failure> {
    environment.lock().map_err(Failure::Internal)?.ok_or_else(|| {
        Failure::Usage(anyhow!(
            "no packages were added\nhint: add some with `gristmill python add numpy pandas`"
        ))
    })
}
