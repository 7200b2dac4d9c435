//! `gristmill skills …`: saved code that programs import.

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
use gristmill_gateway::skills::{HandOver, SkillError, Skills};

use super::{Failure, Outcome};
use crate::arguments::ConfigFile;
use crate::audit_log;
use crate::local_time::TimeArguments;
use crate::skill_folders;
use crate::upstreams::{self, Configured};
use approve::Approve;

#[derive(Args)]
pub struct SkillsArguments {
    #[command(subcommand)]
    pub command: SkillsCommand,

    #[command(flatten)]
    pub times: TimeArguments,

    #[command(flatten)]
    pub config: ConfigFile,
}

#[derive(Subcommand)]
pub enum SkillsCommand {
    /// List skills, or search them
    List {
        /// Words to search for
        query: Vec<String>,
        /// Only skills with this tag; repeatable
        #[arg(long, value_name = "TAG")]
        tag: Vec<String>,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a skill's SKILL.md and code
    Show {
        /// Skill name
        name: String,
        /// Only the project's version, even if it isn't approved yet
        #[arg(long, conflicts_with = "version")]
        project: bool,
        /// Show an earlier version
        #[arg(long, value_name = "NUMBER")]
        version: Option<i64>,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Add a skill from a Python or TypeScript file, or a folder
    Add {
        /// File such as report.py or report.ts, or a folder
        path: PathBuf,
        /// Skill name [default: the file's or folder's name]
        #[arg(long)]
        name: Option<String>,
        /// What it does [default: its docstring or first comment]
        #[arg(long)]
        description: Option<String>,
        /// Add a tag; repeatable
        #[arg(long, value_name = "TAG")]
        tag: Vec<String>,
        /// File with asserts that must pass, in the same language
        #[arg(long, value_name = "FILE")]
        test: Option<PathBuf>,
        /// Save to the project's .gristmill/skills instead of your own
        #[arg(long)]
        project: bool,
    },
    /// Edit a skill in $EDITOR; it's checked before it's saved
    Edit {
        /// Skill name
        name: String,
    },
    /// Run the tests of one skill, or of all skills
    Test {
        /// Skill name
        name: Option<String>,
    },
    /// Show a skill's versions
    History {
        /// Skill name
        name: String,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Restore an earlier version, as a new one
    Rollback {
        /// Skill name
        name: String,
        /// Version to restore
        version: i64,
    },
    /// Remove a skill; its versions are kept
    #[command(alias = "delete")]
    Remove {
        /// Skill name
        name: String,
    },
    /// Export skills to a folder
    Export {
        /// Folder to export to
        folder: PathBuf,
        /// Skills to export [default: all]
        names: Vec<String>,
    },
    /// Import skills from a folder
    Import {
        /// Folder with skills, or of one skill
        folder: PathBuf,
        /// Save to the project's .gristmill/skills instead of your own
        #[arg(long)]
        project: bool,
    },
    /// Review and approve this project's skills, and changes by agents to skills that aren't theirs
    Approve {
        /// Skills to approve
        names: Vec<String>,
        /// All that need approval
        #[arg(long, conflicts_with = "names")]
        all: bool,
        /// Let the agent change the skill without approval from now on
        #[arg(long)]
        hand_over: bool,
        /// Don't ask for confirmation
        #[arg(long)]
        yes: bool,
    },
    /// Reject the changes to a skill that wait for approval
    Reject {
        /// Skill name
        name: String,
    },
}

pub async fn skills(arguments: SkillsArguments) -> Outcome {
    let configured = upstreams::read(&Flags { config: arguments.config.config, ..Flags::default() })?;
    let (store, _audit) = audit_log::open(&configured)?;
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
        SkillsCommand::History { name, json } => show::history(&place, &name, arguments.times, json).await,
        SkillsCommand::Add { path, name, description, tag, test, project } => {
            let new = change::New { path, name, description, tags: tag, test, project };
            change::add(&place, new).await
        }
        SkillsCommand::Edit { name } => edit::edit(&place, &name).await,
        SkillsCommand::Test { name } => change::test(&place, name.as_deref()).await,
        SkillsCommand::Rollback { name, version } => change::rollback(&place, &name, version).await,
        SkillsCommand::Remove { name } => change::remove(&place, &name).await,
        SkillsCommand::Approve { names, all, hand_over, yes } => {
            let hand_over = if hand_over { HandOver::Yes } else { HandOver::No };
            approve::approve(&place, Approve { names, all, hand_over, yes }).await
        }
        SkillsCommand::Reject { name } => approve::reject(&place, &name).await,
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
        SkillError::Unknown { name, nearest } if nearest.is_empty() => {
            Failure::Usage(anyhow!("no skill `{name}`; `gristmill skills list` shows your skills"))
        }
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
        | SkillError::TooManyHeld(_)
        | SkillError::ReadOnly(_)
        | SkillError::NotAllowed(_)
        | SkillError::Disk { .. }
        | SkillError::Store(_) => Failure::Usage(anyhow!(error)),
    }
}

fn done(line: &str) -> Outcome {
    println!("{line}");
    Ok(ExitCode::SUCCESS)
}
