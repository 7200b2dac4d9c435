//! `gristmill disconnect CLIENT`: removes Gristmill from a client's list of servers.

use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::anyhow;
use gristmill_clients::backup;
use gristmill_clients::client_file::{ClientFile, short};
use gristmill_clients::disconnect::{MovedServers, Plan, plan};
use gristmill_clients::places::{self, FileScope, Place};
use gristmill_clients::records::Records;
use gristmill_config::Surroundings;
use gristmill_config::problem::shown;
use gristmill_gateway::domain::counted;

use super::Outcome;
use super::client_arguments::DisconnectArguments;
use super::connect::{agreed, renew, usage};
use crate::exit_codes;
use crate::failure::Failure;
use crate::terminal::{Printable, eprint_lines, print_lines};
use crate::upstreams::default_data_folder;

pub fn disconnect(arguments: DisconnectArguments) -> Outcome {
    let surroundings = Surroundings::of_this_process().map_err(|error| Failure::Internal(error.into()))?;
    let home = surroundings.home();
    let file_scope = if arguments.project { FileScope::Project } else { FileScope::User };
    let place = places::to_write(arguments.client, file_scope, &surroundings).map_err(usage)?;
    let shown_path = short(&place.path, home.as_deref());
    let file = ClientFile::read(&place).map_err(usage)?;
    let mut records = Records::load(&default_data_folder(&surroundings)?).map_err(usage)?;
    let moved = if arguments.keep_moved { MovedServers::Keep } else { MovedServers::Restore };
    let plan = match &file {
        Some(file) => plan(&place, file, &records, moved).map_err(usage)?,
        None => None,
    };
    let Some(plan) = plan else {
        print_lines(&format!("{} isn't connected in {shown_path}", arguments.client));
        if records.of(&place.path).is_some_and(|known| known.moved.is_empty()) && !arguments.dry_run {
            records.forget(&place.path).map_err(usage)?;
        }
        return match arguments.purge {
            true => purge(&arguments, &place, &records, home.as_deref()),
            false => Ok(ExitCode::SUCCESS),
        };
    };
    print!("{}", Printable::all(&plan.diff(&shown_path)));
    print_moved(&plan);
    if plan.removes_file() {
        eprint_lines(&format!(
            "note: {shown_path} was created by `connect` and is otherwise empty, so it's deleted"
        ));
    }
    if arguments.dry_run {
        eprint_lines("nothing changed (dry run)");
        return Ok(ExitCode::SUCCESS);
    }
    if !arguments.yes && !agreed(&format!("Change {shown_path}?")) {
        return Ok(exit_codes::usage());
    }
    let restored = plan.restored.clone();
    let written = plan.carry_out(&mut records, SystemTime::now()).map_err(usage)?;
    renew(&surroundings, &place.path, &written)?;
    print_lines(&format!("disconnected {} in {shown_path}", arguments.client));
    print_left_servers(&restored);
    match arguments.purge {
        true => delete_backups(&place, &records, home.as_deref())?,
        false => print_backups(&arguments, &place, &records, home.as_deref()),
    }
    eprint_lines(&format!("Restart {} to finish.", arguments.client));
    Ok(ExitCode::SUCCESS)
}

fn print_moved(plan: &Plan) {
    if !plan.restored.is_empty() {
        let names: Vec<String> = plan.restored.iter().map(|name| shown(name)).collect();
        eprint_lines(&format!("note: moves back to the client: {}", names.join(", ")));
    }
    for (name, why) in &plan.kept {
        eprint_lines(&format!("note: {} stays in Gristmill: {why}", shown(name)));
    }
}

/// The servers that are in both places now, with their secrets.
fn print_left_servers(restored: &[String]) {
    let Some(first) = restored.first() else { return };
    let names: Vec<String> = restored.iter().map(|name| shown(name)).collect();
    eprint_lines(&format!(
        "note: still in Gristmill, with their secrets in .env: {}; `gristmill remove {} --purge` removes one with its secrets",
        names.join(", "),
        shown(first)
    ));
}

/// Deletes the backups of a file that does not have us.
fn purge(arguments: &DisconnectArguments, place: &Place, records: &Records, home: Option<&Path>) -> Outcome {
    let count = backup::list(place, records.folder()).len();
    if count == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.dry_run {
        eprint_lines(&format!("would delete {}", counted(count, "backup")));
        return Ok(ExitCode::SUCCESS);
    }
    if !arguments.yes && !agreed(&format!("Delete {}?", counted(count, "backup"))) {
        return Ok(exit_codes::usage());
    }
    delete_backups(place, records, home)?;
    Ok(ExitCode::SUCCESS)
}

fn delete_backups(place: &Place, records: &Records, home: Option<&Path>) -> Result<(), Failure> {
    for path in backup::list(place, records.folder()) {
        std::fs::remove_file(&path).map_err(|error| {
            Failure::Internal(anyhow!("can't delete the backup {}: {error}", path.display()))
        })?;
        print_lines(&format!("deleted backup {}", short(&path, home)));
    }
    Ok(())
}

fn print_backups(arguments: &DisconnectArguments, place: &Place, records: &Records, home: Option<&Path>) {
    let backups = backup::list(place, records.folder());
    backups.iter().for_each(|path| print_lines(&format!("backup: {}", short(path, home))));
    if !backups.is_empty() {
        let project = if arguments.project { " --project" } else { "" };
        eprint_lines(&format!(
            "note: backups hold the client's file with any secrets in it; `gristmill disconnect {}{project} --purge` deletes them",
            arguments.client.name()
        ));
    }
}
