//! `gristmill disconnect CLIENT`: our entry out of another client's list of servers.

use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;

use gristmill_clients::backup;
use gristmill_clients::client_file::{ClientFile, short};
use gristmill_clients::disconnect::{MovedServers, Plan, plan};
use gristmill_clients::places::{self, FileScope, Place};
use gristmill_clients::records::Records;
use gristmill_config::Surroundings;
use gristmill_config::problem::shown;

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
        print_lines(&format!("{} is not connected in {shown_path}", arguments.client));
        if records.of(&place.path).is_some_and(|known| known.moved.is_empty()) && !arguments.dry_run {
            records.forget(&place.path).map_err(usage)?;
        }
        return Ok(ExitCode::SUCCESS);
    };
    print!("{}", Printable::all(&plan.diff(&shown_path)));
    print_moved(&plan);
    if plan.removes_file() {
        eprint_lines(&format!("note: connecting made {shown_path}, and nothing else is in it, so it goes"));
    }
    if arguments.dry_run {
        eprint_lines("nothing was changed");
        return Ok(ExitCode::SUCCESS);
    }
    if !arguments.yes && !agreed(&format!("change {shown_path}?")) {
        return Ok(exit_codes::usage());
    }
    let written = plan.carry_out(&mut records, SystemTime::now()).map_err(usage)?;
    renew(&surroundings, &place.path, &written)?;
    print_lines(&format!("{} is disconnected from Gristmill: {shown_path}", arguments.client));
    print_backups(&place, &records, home.as_deref());
    eprint_lines(&format!("hint: restart {}", arguments.client));
    Ok(ExitCode::SUCCESS)
}

fn print_moved(plan: &Plan) {
    if !plan.restored.is_empty() {
        let names: Vec<String> = plan.restored.iter().map(|name| shown(name)).collect();
        eprint_lines(&format!("note: put back, and still in your configuration, too: {}", names.join(", ")));
    }
    for (name, why) in &plan.kept {
        eprint_lines(&format!("note: {} stays behind Gristmill: {why}", shown(name)));
    }
}

fn print_backups(place: &Place, records: &Records, home: Option<&Path>) {
    for path in backup::list(place, records.folder()) {
        print_lines(&format!("backup: {}", short(&path, home)));
    }
}
