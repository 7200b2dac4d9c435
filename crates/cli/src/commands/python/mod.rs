//! `gristmill python …`: the packages that programs import, of the native engine or in WebAssembly.

mod check;
mod pip;
mod pure_wheel;
mod uv_lock;
mod wanted_package;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use gristmill_config::{self as config, Config, Flags, Surroundings};
use gristmill_files::remove_tree;
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
        /// For programs in WebAssembly: pure Python only
        #[arg(long, conflicts_with = "from")]
        wasm: bool,
    },
    /// List the packages
    List {
        /// Those for programs in WebAssembly
        #[arg(long)]
        wasm: bool,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove packages, and what only they needed
    Remove {
        /// Packages that were added, by their names
        #[arg(value_name = "PACKAGE", required = true)]
        packages: Vec<String>,
        /// Of those for programs in WebAssembly
        #[arg(long)]
        wasm: bool,
    },
    /// Print every package with its version and hash, as pip reads them
    Lock {
        /// Those for programs in WebAssembly
        #[arg(long)]
        wasm: bool,
    },
    /// Import every package that was added, in the sandbox
    Check {
        /// Those for programs in WebAssembly
        #[arg(long)]
        wasm: bool,
    },
}

impl PythonCommand {
    fn packages_for(&self) -> PackagesFor {
        let (Self::Add { wasm, .. }
        | Self::List { wasm, .. }
        | Self::Remove { wasm, .. }
        | Self::Lock { wasm }
        | Self::Check { wasm }) = self;
        if *wasm { PackagesFor::Wasm } else { PackagesFor::Native }
    }
}

/// Whose packages they are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PackagesFor {
    Native,
    /// Pure Python only.
    Wasm,
}

impl PackagesFor {
    fn command(self) -> &'static str {
        match self {
            Self::Native => "gristmill python add numpy pandas",
            Self::Wasm => "gristmill python add --wasm attrs",
        }
    }
}

/// The packages of an engine, and their place.
struct Packages<'a> {
    whose: PackagesFor,
    environment: PythonEnvironment,
    config: &'a Config,
}

pub async fn python(arguments: PythonArguments) -> Outcome {
    let surroundings = Surroundings::of_this_process().map_err(|error| Failure::Internal(error.into()))?;
    let flags = Flags { config: arguments.config.config.clone(), ..Flags::default() };
    let config = config::load(&surroundings, &flags).config;
    let data = config.data_folder.as_deref().ok_or_else(|| {
        Failure::Usage(anyhow!("there is no data folder\nhint: set GRISTMILL_DATA_DIR or HOME"))
    })?;
    let whose = arguments.command.packages_for();
    let environment = match whose {
        PackagesFor::Native => PythonEnvironment::in_data(data),
        PackagesFor::Wasm => PythonEnvironment::of_wasm(data),
    };
    let packages = Packages { whose, environment, config: &config };
    match arguments.command {
        PythonCommand::Add { from: Some(lock), .. } => packages.add_locked(&lock),
        PythonCommand::Add { packages: named, requirements, from: None, .. } => {
            packages.add(named, requirements.as_deref())
        }
        PythonCommand::Remove { packages: named, .. } => packages.remove(&named),
        PythonCommand::List { json, .. } => packages.list(json),
        PythonCommand::Lock { .. } => {
            print!("{}", packages.added()?.requirements());
            Ok(ExitCode::SUCCESS)
        }
        PythonCommand::Check { .. } => check::check(&config, &packages.added()?, whose).await,
    }
}

impl Packages<'_> {
    fn add(&self, mut packages: Vec<String>, requirements: Option<&Path>) -> Outcome {
        match requirements.map(requirements_in).transpose().map_err(Failure::Usage)? {
            None => {}
            Some(Requirements::Open(more)) => packages.extend(more),
            Some(Requirements::Exact(_)) if self.whose == PackagesFor::Wasm => {
                let what = anyhow!(
                    "hashes in a requirements file are for the native engine; with --wasm, list names and versions"
                );
                return Err(Failure::Usage(what));
            }
            Some(Requirements::Exact(wanted)) if packages.is_empty() => {
                return self.add_exactly(interpreter(self.config)?, &wanted);
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
        let is_there =
            |package: &&String| self.whose == PackagesFor::Wasm && pure_wheel::is_bundled(&name_in(package));
        if let Some(there) = packages.iter().find(is_there) {
            return Err(Failure::Usage(anyhow!("{} is part of the engine already", name_in(there))));
        }
        let _held = self.environment.hold().map_err(Failure::Internal)?;
        let before = self.environment.lock().map_err(Failure::Internal)?;
        let new: BTreeSet<String> = packages.iter().map(|package| name_in(package)).collect();
        // What is written anew takes the place of what was.
        let kept = before.iter().flat_map(|lock| lock.requested.iter().cloned());
        let mut requested: Vec<String> = kept.filter(|old| !new.contains(&name_in(old))).collect();
        requested.extend(packages);
        self.tell_added(&self.change(requested)?);
        Ok(ExitCode::SUCCESS)
    }

    fn add_locked(&self, path: &Path) -> Outcome {
        let python = interpreter(self.config)?;
        let wanted = uv_lock::read(&python.0, path).map_err(Failure::Usage)?;
        self.add_exactly(python, &wanted)
    }

    /// These packages and no others, whatever was added before.
    fn add_exactly(&self, python: (PathBuf, String), wanted: &[WantedPackage]) -> Outcome {
        let _held = self.environment.hold().map_err(Failure::Internal)?;
        let list = self.environment.wanted_list();
        let packages = pip::resolve_exactly(&python.0, wanted, &list).map_err(Failure::Usage)?;
        let requested = wanted.iter().map(|one| one.requirement.clone()).collect();
        self.tell_added(&self.install(python, requested, packages)?);
        Ok(ExitCode::SUCCESS)
    }

    fn tell_added(&self, lock: &PythonLock) {
        for one in &lock.packages {
            println!("{} {}", one.name, one.version);
        }
        if self.whose == PackagesFor::Native && !self.config.engines.native.enabled {
            eprint_lines(
                "note: the native engine is off; set `enabled = true` in [engines.native] to use them",
            );
        }
        eprint_lines("note: restart `gristmill serve` to use them there");
    }

    fn remove(&self, packages: &[String]) -> Outcome {
        let _held = self.environment.hold().map_err(Failure::Internal)?;
        let before = self.added()?;
        let gone: BTreeSet<String> = packages.iter().map(|package| name_in(package)).collect();
        let known: BTreeSet<String> = before.requested.iter().map(|one| name_in(one)).collect();
        if let Some(unknown) = gone.iter().find(|name| !known.contains(*name)) {
            let names: Vec<&str> = known.iter().map(String::as_str).collect();
            let what = anyhow!("{unknown} wasn't added; added were: {}", names.join(", "));
            return Err(Failure::Usage(what));
        }
        let requested = before.requested.into_iter().filter(|one| !gone.contains(&name_in(one))).collect();
        let lock = self.change(requested)?;
        match lock.packages.len() {
            0 => println!("no package is left"),
            1 => println!("1 package is left"),
            count => println!("{count} packages are left"),
        }
        Ok(ExitCode::SUCCESS)
    }

    fn change(&self, requested: Vec<String>) -> Result<PythonLock, Failure> {
        let python = interpreter(self.config)?;
        let packages = match self.whose {
            PackagesFor::Native => pip::resolve(&python.0, &requested),
            PackagesFor::Wasm => {
                let nowhere = self.environment.wanted_list();
                pip::resolve_pure(&python.0, &requested, &nowhere).and_then(pure_wheel::without_bundled)
            }
        };
        self.install(python, requested, packages.map_err(Failure::Usage)?)
    }

    fn install(
        &self,
        python: (PathBuf, String),
        requested: Vec<String>,
        packages: Vec<LockedPackage>,
    ) -> Result<PythonLock, Failure> {
        let (whose, interpreter, wheels) = (self.whose, python.0.clone(), packages.clone());
        let install = move |folder: &Path| match whose {
            PackagesFor::Native => pip::install(&interpreter, &wheels, folder),
            PackagesFor::Wasm => unpack_pure(&interpreter, &wheels, folder),
        };
        let fails = match whose {
            PackagesFor::Native => Failure::Internal,
            // What is in a wheel is its author's doing.
            PackagesFor::Wasm => Failure::Usage,
        };
        self.environment.replace(python, requested, packages, install).map_err(fails)
    }

    fn list(&self, is_json: bool) -> Outcome {
        let lock = self.environment.lock().map_err(Failure::Internal)?;
        if is_json {
            let packages = lock.iter().flat_map(|lock| &lock.packages);
            let packages: Vec<_> = packages
                .map(|one| json!({ "name": one.name, "version": one.version, "sha256": one.sha256, "file": one.file }))
                .collect();
            let python = lock.as_ref().filter(|_| self.whose == PackagesFor::Native);
            let python = python.map(|lock| json!({ "path": lock.python, "version": lock.python_version }));
            let requested = lock.as_ref().map(|lock| lock.requested.clone()).unwrap_or_default();
            println!("{:#}", json!({ "python": python, "requested": requested, "packages": packages }));
            return Ok(ExitCode::SUCCESS);
        }
        let Some(lock) = lock.filter(|lock| !lock.packages.is_empty()) else {
            println!("no packages");
            eprint_lines(&format!("hint: add some with `{}`", self.whose.command()));
            return Ok(ExitCode::SUCCESS);
        };
        let wanted: BTreeSet<String> = lock.requested.iter().map(|one| name_in(one)).collect();
        for one in &lock.packages {
            let why = if wanted.contains(&one.name) { "" } else { "  (needed by others)" };
            println!("{} {}{why}", one.name, one.version);
        }
        Ok(ExitCode::SUCCESS)
    }

    fn added(&self) -> Result<PythonLock, Failure> {
        self.environment.lock().map_err(Failure::Internal)?.ok_or_else(|| {
            let command = self.whose.command();
            Failure::Usage(anyhow!("no packages were added\nhint: add some with `{command}`"))
        })
    }
}

/// The interpreter that packages are for, and its version.
fn interpreter(config: &Config) -> Result<(PathBuf, String), Failure> {
    pip::interpreter(&native_engine::interpreter(&config.engines.native)?).map_err(Failure::Usage)
}

fn unpack_pure(python: &Path, packages: &[LockedPackage], folder: &Path) -> anyhow::Result<()> {
    let wheels = folder.with_extension("wheels");
    let _ = remove_tree(&wheels);
    std::fs::create_dir(&wheels)?;
    let done = pip::download_pure(python, packages, &wheels)
        .and_then(|()| pure_wheel::unpack_all(python, &wheels, packages, folder));
    let _ = remove_tree(&wheels);
    done
}
