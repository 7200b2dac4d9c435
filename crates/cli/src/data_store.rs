//! The database in the data folder, opened for a command.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use gristmill_gateway::ExecuteRequest;
use gristmill_gateway::domain::Level;
use gristmill_gateway::executions::{ExecutionId, Owner};
use gristmill_gateway::history::{Beginning, History, HistorySettings};
use gristmill_gateway::results::{ResultSettings, Results};
use gristmill_gateway::store::{Store, StoreError};

use crate::arguments::ConfigFile;
use crate::commands::Failure;
use crate::config::{self, Flags, Problem, Severity, Surroundings};
use crate::config::{history_table, results_table};
use crate::terminal::tell_beside;
use crate::upstreams::Configured;

/// Where the database is, and how much goes into it.
pub struct DataPlace {
    /// None without a home.
    folder: Option<PathBuf>,
    pub history: HistorySettings,
    pub results: ResultSettings,
}

impl DataPlace {
    /// By the configuration. Where a command does not use it otherwise, only what it says about the
    /// history and results must be right.
    pub fn of(configured: Option<&Configured>, file: &ConfigFile) -> Result<Self, Failure> {
        if let Some(configured) = configured {
            let config = &configured.config;
            return Ok(Self {
                folder: config.data_folder.clone(),
                history: config.history.settings,
                results: config.results.settings,
            });
        }
        let surroundings = Surroundings::of_this_process().map_err(|error| Failure::Ours(error.into()))?;
        let flags = Flags { config: file.config.clone(), ..Flags::default() };
        let loaded = config::load(&surroundings, &flags);
        if let Some(problem) = loaded.problems.iter().find(|problem| is_about_data(problem)) {
            return Err(Failure::Configuration(anyhow!("{problem}")));
        }
        let config = loaded.config;
        Ok(Self {
            folder: config.data_folder,
            history: config.history.settings,
            results: config.results.settings,
        })
    }

    /// The data folder.
    pub fn folder(&self) -> Result<&Path, Failure> {
        let missing = || Failure::Usage(anyhow!("no folder for data: set GRISTMILL_DATA_DIR, or HOME"));
        self.folder.as_deref().ok_or_else(missing)
    }

    /// The database. Whatever is wrong is the machine's or the user's to change.
    pub fn open_store(&self) -> Result<Store, Failure> {
        Store::open(self.folder()?).map_err(failure)
    }

    /// The history in it.
    pub async fn open_history(&self) -> Result<History, Failure> {
        History::open(self.open_store()?, self.history).await.map_err(failure)
    }
}

/// Where whole values are kept; without it a command works all the same, and that is said.
pub async fn open_results(store: Store, place: &DataPlace) -> Option<Results> {
    let folder = store.folder()?.join("results");
    match Results::open(store, folder, place.results).await {
        Ok(results) => Some(results),
        Err(error) => {
            tell_beside(&format!("note: no results are kept: {error}"));
            None
        }
    }
}

/// Records what a command runs; without it the command works all the same.
pub struct Recorder(History);

impl Recorder {
    /// If the database can be used; if not, that is said.
    pub async fn open(store: Store, place: &DataPlace) -> Option<Self> {
        match History::open(store, place.history).await {
            Ok(history) => Some(Self(history)),
            Err(error) => {
                not_recorded(failure(error));
                None
            }
        }
    }

    /// Where it records.
    pub fn history(&self) -> &History {
        &self.0
    }

    /// Takes note of a program of whoever is at the terminal.
    pub fn about_to_run(&self, request: &mut ExecuteRequest, level: Level) -> Option<Beginning> {
        let id = ExecutionId::new().ok()?;
        Some(self.0.about_to_run(&id, &Owner("local".to_owned()), request, level))
    }

    /// Lets go of what is too old or too much, and closes the file.
    pub async fn close(self) {
        // What fails now is tried again by the next.
        let _ = self.0.sweep().await;
        self.0.close().await;
    }
}

/// Says that what a command runs is not recorded, and why.
pub fn not_recorded(failure: Failure) {
    let (Failure::Usage(error) | Failure::Configuration(error) | Failure::Ours(error)) = failure;
    tell_beside(&format!("note: this is not recorded: {error:#}"));
}

fn is_about_data(problem: &Problem) -> bool {
    let key = problem.place.key.as_deref().unwrap_or_default();
    let table = key.split('.').next().unwrap_or_default();
    let is_in_table = [history_table::TABLE, results_table::TABLE].contains(&table);
    problem.severity == Severity::Error && is_in_table
}

/// As a command ends by it.
pub fn failure(error: StoreError) -> Failure {
    match error {
        StoreError::Folder { .. }
        | StoreError::Newer { .. }
        | StoreError::NotOurs { .. }
        | StoreError::ReadOnly => Failure::Usage(error.into()),
        StoreError::Full
        | StoreError::Busy
        | StoreError::Damaged(_)
        | StoreError::Other(_)
        | StoreError::Closed => Failure::Ours(error.into()),
    }
}
