//! The database in the data folder, opened for a command.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::anyhow;
use gristmill_config::{self as config, Flags, Problem, Severity, Surroundings};
use gristmill_config::{audit_table, history_table, results_table};
use gristmill_gateway::audit::AuditSettings;
use gristmill_gateway::history::{History, HistorySettings};
use gristmill_gateway::ports::SharedState;
use gristmill_gateway::results::ResultSettings;
use gristmill_gateway::store::{Store, StoreError};
use gristmill_gateway::{BuildError, BuildProblem, FolderError, Gateway};

use crate::arguments::ConfigFile;
use crate::failure::Failure;
use crate::own_sessions;
use crate::terminal::eprint_lines;
use crate::upstreams::Configured;

/// Where the database is, and how much goes into it.
pub struct DataPlace {
    /// None without a home.
    folder: Option<PathBuf>,
    pub history: HistorySettings,
    pub results: ResultSettings,
    /// None if there is to be no audit.
    pub audit: Option<AuditSettings>,
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
                audit: config.audit.wanted(),
            });
        }
        let surroundings =
            Surroundings::of_this_process().map_err(|error| Failure::Internal(error.into()))?;
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
            audit: config.audit.wanted(),
        })
    }

    pub fn folder(&self) -> Result<&Path, Failure> {
        let missing = || Failure::Usage(FolderError::NoData.into());
        self.folder.as_deref().ok_or_else(missing)
    }

    /// The database. Whatever is wrong is the machine's or the user's to change.
    pub fn open_store(&self) -> Result<Store, Failure> {
        Store::open(self.folder()?).map_err(failure)
    }

    /// The same for a command that says so and does without a record, if there can be none. Where the state is shared and
    /// kept elsewhere there is one, though, and budgets and approvals with it: nothing is to go past them.
    pub fn open_store_to_record(&self) -> Result<Option<Store>, Failure> {
        let opened = self.folder().map(Store::open);
        match opened {
            Ok(Ok(store)) => Ok(Some(store)),
            Ok(Err(error @ StoreError::StandsBy { .. })) => Err(failure(error)),
            Ok(Err(error)) => Ok(not_recorded(failure(error))),
            Err(failure) => Ok(not_recorded(failure)),
        }
    }

    /// The same for the gateway that leads those that share it. Bringing a database up to date takes a while, and the
    /// others must hear meanwhile that somebody leads.
    pub async fn open_shared(&self, shared: Arc<dyn SharedState>) -> Result<Store, Failure> {
        let folder = self.folder()?.to_owned();
        let opened = tokio::task::spawn_blocking(move || Store::open_shared(&folder, shared)).await;
        opened.map_err(|error| Failure::Internal(error.into()))?.map_err(failure)
    }

    /// The history in it.
    pub async fn open_history(&self) -> Result<History, Failure> {
        History::open(self.open_store()?, self.history).await.map_err(failure)
    }
}

/// Says what a gateway does without; a command works all the same.
pub fn print_problems(gateway: &Gateway) {
    for problem in gateway.problems() {
        match problem {
            BuildProblem::NoHistory(error) => {
                eprint_lines(&format!("note: this run isn't recorded: {error:#}"))
            }
            BuildProblem::NoAudit(error) => {
                eprint_lines(&format!("note: this run isn't in the audit: {error:#}"))
            }
            BuildProblem::NoResults(error) => eprint_lines(&format!("note: no results are kept: {error}")),
        }
    }
}

/// As a command ends by a gateway that cannot be built.
pub fn build_failure(error: BuildError) -> Failure {
    match error {
        BuildError::History(error) => failure(error),
        BuildError::Sessions(error) => own_sessions::failure(error),
        BuildError::Folders(_) | BuildError::Scratch(_) => Failure::Internal(error.into()),
    }
}

/// Says that what a command runs is not recorded, and why.
fn not_recorded(failure: Failure) -> Option<Store> {
    let (Failure::Usage(error) | Failure::Configuration(error) | Failure::Internal(error)) = failure;
    eprint_lines(&format!("note: this run isn't recorded: {error:#}"));
    None
}

fn is_about_data(problem: &Problem) -> bool {
    let key = problem.place.key.as_deref().unwrap_or_default();
    let table = key.split('.').next().unwrap_or_default();
    let is_in_table = [history_table::TABLE, results_table::TABLE, audit_table::TABLE].contains(&table);
    problem.severity == Severity::Error && is_in_table
}

/// As a command ends by it.
pub fn failure(error: StoreError) -> Failure {
    match error {
        StoreError::Folder { .. }
        | StoreError::Newer { .. }
        | StoreError::NotOurs { .. }
        | StoreError::StandsBy { .. }
        | StoreError::NotShared(_)
        | StoreError::ReadOnly => Failure::Usage(error.into()),
        StoreError::Full
        | StoreError::Busy
        | StoreError::Damaged(_)
        | StoreError::Other(_)
        | StoreError::Refused(_)
        | StoreError::Closed => Failure::Internal(error.into()),
    }
}
