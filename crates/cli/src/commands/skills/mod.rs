//! `gristmill skills …`: what was saved for programs to import.

mod approve;
mod change;
mod edit;
mod exchange;
mod show;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use gristmill_config::Flags;
use gristmill_gateway::skills::{SkillError, Skills};
use gristmill_gateway::store::Store;

use super::{Failure, Outcome};
use crate::arguments::ConfigFile;
use crate::data_store;
use crate::skill_folders;
use crate::upstreams::{self, Configured};

#[derive(Args)]
pub struct SkillsArguments {
    #[command(subcommand)]
    pub command: SkillsCommand,

    #[command(flatten)]
    pub config: ConfigFile,
}

#[derive(Subcommand)]
pub enum SkillsCommand {
    /// Show every skill, or those that fit some words
    List {
        /// What it should do, in words
        query: Vec<String>,
        /// Only skills with this tag; may repeat
        #[arg(long, value_name = "TAG")]
        tag: Vec<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one skill: its SKILL.md and its code; the project's as well, if both have one of that name
    Show {
        /// Its name
        name: String,
        /// Only the project's, which may wait for approval
        #[arg(long, conflicts_with = "version")]
        project: bool,
        /// An earlier version
        #[arg(long, value_name = "NUMBER")]
        version: Option<i64>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Save a Python file, or a folder with a skill in it
    Add {
        /// A file such as report.py, or a folder
        path: PathBuf,
        /// Its name, if it is not that of the file or the folder
        #[arg(long)]
        name: Option<String>,
        /// What it is for; otherwise its docstring says so
        #[arg(long)]
        description: Option<String>,
        /// A tag; may repeat
        #[arg(long, value_name = "TAG")]
        tag: Vec<String>,
        /// A Python file with asserts, which must pass
        #[arg(long, value_name = "FILE")]
        test: Option<PathBuf>,
        /// Into the project's .gristmill/skills instead of your own
        #[arg(long)]
        project: bool,
    },
    /// Edit a skill with $EDITOR; it is checked before it is saved
    Edit {
        /// Its name
        name: String,
    },
    /// Run the tests of one skill, or of all
    Test {
        /// Its name
        name: Option<String>,
    },
    /// Show the versions of a skill
    History {
        /// Its name
        name: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Bring an earlier version back, as a new one
    Rollback {
        /// Its name
        name: String,
        /// Which version
        version: i64,
    },
    /// Delete a skill; its history is kept
    Delete {
        /// Its name
        name: String,
    },
    /// Copy skills into a folder, one folder each
    Export {
        /// Where to
        folder: PathBuf,
        /// Which; all that can be used if none is named
        names: Vec<String>,
    },
    /// Save every skill of a folder: one folder each, or one skill alone
    Import {
        /// Where from
        folder: PathBuf,
        /// Into the project's .gristmill/skills instead of your own
        #[arg(long)]
        project: bool,
    },
    /// Say yes to skills of this project, as they are shown
    Approve {
        /// Which
        names: Vec<String>,
        /// All that wait
        #[arg(long, conflicts_with = "names")]
        all: bool,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

/// Who saves on the command line.
const BY: &str = "local";

pub async fn skills(arguments: SkillsArguments) -> Outcome {
    let configured = upstreams::read(&Flags { config: arguments.config.config, ..Flags::default() })?;
    let store = Store::open(&configured.data_folder()?).map_err(data_store::failure)?;
    let skills = skill_folders::with_store(store, &configured.surroundings)?;
    let place = Place { configured, skills };
    match arguments.command {
        SkillsCommand::List { query, tag, json } => show::list(&place, &query.join(" "), tag, json).await,
        SkillsCommand::Show { name, version: Some(version), json, .. } => {
            show::show_version(&place, &name, version, json).await
        }
        SkillsCommand::Show { name, version: None, project, json } => {
            show::show(&place, &name, project, json).await
        }
        SkillsCommand::History { name, json } => show::history(&place, &name, json).await,
        SkillsCommand::Add { path, name, description, tag, test, project } => {
            let new = change::New { path, name, description, tags: tag, test, project };
            change::add(&place, new).await
        }
        SkillsCommand::Edit { name } => edit::edit(&place, &name).await,
        SkillsCommand::Test { name } => change::test(&place, name.as_deref()).await,
        SkillsCommand::Rollback { name, version } => change::rollback(&place, &name, version).await,
        SkillsCommand::Delete { name } => change::delete(&place, &name).await,
        SkillsCommand::Approve { names, all, yes } => approve::approve(&place, names, all, yes).await,
        SkillsCommand::Export { folder, names } => exchange::export(&place, &folder, &names).await,
        SkillsCommand::Import { folder, project } => exchange::import(&place, &folder, project).await,
    }
}

/// Where the command works.
struct Place {
    configured: Configured,
    skills: Skills,
}

/// A failure of skills as one of the command.
fn failure(error: SkillError) -> Failure {
    match error {
        SkillError::Unknown { name, nearest } if nearest.is_empty() => Failure::Usage(anyhow!(
            "there is no skill `{name}`; `gristmill skills list` shows those there are"
        )),
        SkillError::Unchecked(_) => Failure::Internal(anyhow!(error)),
        SkillError::Name(_)
        | SkillError::Files(_)
        | SkillError::Md(_)
        | SkillError::Unknown { .. }
        | SkillError::NoVersion { .. }
        | SkillError::Waiting(_)
        | SkillError::Alike { .. }
        | SkillError::Syntax { .. }
        | SkillError::TestFailed { .. }
        | SkillError::Bad(_)
        | SkillError::TooMany(_)
        | SkillError::ReadOnly(_)
        | SkillError::Disk { .. }
        | SkillError::Store(_) => Failure::Usage(anyhow!(error)),
    }
}

fn done(line: &str) -> Outcome {
    println!("{line}");
    Ok(ExitCode::SUCCESS)
}
