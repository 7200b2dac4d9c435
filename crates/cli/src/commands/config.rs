//! `gristmill config …`: shows and checks the configuration, and approves a project's.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use gristmill_config::{self as config, Flags, Surroundings};
use gristmill_gateway::audit::AuditEvent;

use super::{
    Failure, Outcome, config_approve, config_check, config_edit, config_path, config_schema, config_show,
};
use crate::arguments::ConfigFile;
use crate::audit_log::note_changes;
use crate::exit_codes;
use crate::terminal::{Printable, print_json};

#[derive(Args)]
pub struct ConfigArguments {
    #[command(subcommand)]
    pub command: ConfigCommand,

    #[command(flatten)]
    pub config: ConfigFile,
}

#[derive(Subcommand)]
pub enum ConfigCommand {
    /// Show the full configuration and where each setting comes from
    Show {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Check the configuration: mistakes, unset variables, missing commands
    Check {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show where configuration files are looked up, and which exist
    Path {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON Schema of the configuration, for your editor
    Schema,
    /// Edit the configuration in $VISUAL or $EDITOR; it's checked before it's saved
    Edit {
        /// Edit the project's configuration instead of your own
        #[arg(long)]
        project: bool,
    },
    /// Approve a project's file as it is now
    Approve {
        /// File to approve [default: the project's]
        file: Option<PathBuf>,
        /// Revoke the approval
        #[arg(long)]
        revoke: bool,
        /// Don't ask for confirmation
        #[arg(long)]
        yes: bool,
    },
}

pub fn config(arguments: ConfigArguments) -> Outcome {
    let surroundings = Surroundings::of_this_process().map_err(|error| Failure::Internal(error.into()))?;
    let flags = Flags { config: arguments.config.config, ..Flags::default() };
    match arguments.command {
        ConfigCommand::Schema => return config_schema::print(),
        ConfigCommand::Edit { project } => {
            return config_edit::edit(
                &surroundings,
                &config_edit::scope(flags.config.clone(), project),
                &flags,
            );
        }
        ConfigCommand::Show { json } => {
            let loaded = config::load(&surroundings, &flags);
            let (config, _) = loaded.into_result().map_err(|error| Failure::Usage(error.into()))?;
            match json {
                true => print_json(&config_show::as_json(&config)),
                false => print!("{}", Printable::all(&config_show::as_toml(&config))),
            }
        }
        ConfigCommand::Check { json } => {
            let checked = config_check::check(&config::load(&surroundings, &flags), &surroundings);
            match json {
                true => print_json(&checked.json),
                false => print!("{}", Printable::all(&checked.text)),
            }
            if !checked.is_usable {
                return Ok(exit_codes::usage());
            }
        }
        ConfigCommand::Path { json } => {
            let loaded = config::load(&surroundings, &flags);
            match json {
                true => print_json(&config_path::as_json(&loaded.config)),
                false => print!("{}", Printable::all(&config_path::as_text(&loaded.config))),
            }
        }
        ConfigCommand::Approve { file, revoke: true, .. } => {
            let file = file.ok_or_else(|| {
                Failure::Usage(anyhow!("pass the file: gristmill config approve --revoke FILE"))
            })?;
            return revoke(&surroundings, &flags, &file);
        }
        ConfigCommand::Approve { file, revoke: false, yes } => {
            return approve(&surroundings, &flags, file.as_deref(), yes);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn approve(surroundings: &Surroundings, flags: &Flags, file: Option<&Path>, yes: bool) -> Outcome {
    let request = config_approve::prepare(surroundings, file);
    let request = request.map_err(|error| Failure::Usage(error.into()))?;
    print!("{}", Printable::all(&request.text));
    if !yes && !confirmed() {
        eprintln!("nothing approved");
        return Ok(exit_codes::usage());
    }
    let files = request.grant().map_err(|error| Failure::Usage(error.into()))?;
    note_changes(flags, files.iter().map(|file| AuditEvent::config_approved(&file.display().to_string())));
    for file in files {
        eprintln!("approved {}", file.display());
    }
    Ok(ExitCode::SUCCESS)
}

fn revoke(surroundings: &Surroundings, flags: &Flags, file: &Path) -> Outcome {
    let was = config_approve::revoke(surroundings, file).map_err(|error| Failure::Usage(error.into()))?;
    if was {
        let file = surroundings.absolute(file).display().to_string();
        note_changes(flags, [AuditEvent::config_revoked(&file)]);
    }
    let told = if was { "approval revoked; its servers are no longer used" } else { "it wasn't approved" };
    println!("{told}");
    Ok(ExitCode::SUCCESS)
}

fn confirmed() -> bool {
    if !std::io::stdin().is_terminal() {
        eprintln!("not a terminal, so there is no one to ask; pass --yes to approve");
        return false;
    }
    eprint!("Approve this? [y/N] ");
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}
