//! `gristmill disconnect CLIENT`: our entry out of another client's list of servers.

use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;

use super::Outcome;
use super::connect::{agreed, data_folder, renew, usage};
use crate::client_arguments::DisconnectArguments;
use crate::clients::backup;
use crate::clients::client_file::{ClientFile, short};
use crate::clients::disconnect::{MovedServers, Plan, plan};
use crate::clients::places::{self, Place, Reach};
use crate::clients::records::Records;
use crate::commands::Failure;
use crate::config::Surroundings;
use crate::config::problem::shown;
use crate::exit_codes;
use crate::terminal::{Printable, tell, tell_beside};

pub fn disconnect(arguments: DisconnectArguments) -> Outcome {
    let surroundings = Surroundings::of_this_process().map_err(|error| Failure::Ours(error.into()))?;
    let home = surroundings.home();
    let reach = if arguments.project { Reach::Project } else { Reach::User };
    let place = places::to_write(arguments.client, reach, &surroundings).map_err(usage)?;
    let shown_path = short(&place.path, home.as_deref());
    let file = ClientFile::read(&place).map_err(usage)?;
    let mut records = Records::load(&data_folder(&surroundings)?).map_err(usage)?;
    let moved = if arguments.keep_moved { MovedServers::Keep } else { MovedServers::Restore };
    let plan = match &file {
        Some(file) => plan(&place, file, &records, moved).map_err(usage)?,
        None => None,
    };
    let Some(plan) = plan else {
        tell(&format!("{} is not connected in {shown_path}", arguments.client));
        if records.of(&place.path).is_some_and(|known| known.moved.is_empty()) && !arguments.dry_run {
            records.forget(&place.path).map_err(usage)?;
        }
        return Ok(ExitCode::SUCCESS);
    };
    print!("{}", Printable::all(&plan.diff(&shown_path)));
    tell_moved(&plan);
    if plan.removes_file() {
        tell_beside(&format!("note: connecting made {shown_path}, and nothing else is in it, so it goes"));
    }
    if arguments.dry_run {
        tell_beside("nothing was changed");
        return Ok(ExitCode::SUCCESS);
    }
    if !arguments.yes && !agreed(&format!("change {shown_path}?")) {
        return Ok(exit_codes::usage());
    }
    let written = plan.carry_out(&mut records, SystemTime::now()).map_err(usage)?;
    renew(&surroundings, &place.path, &written)?;
    tell(&format!("{} is disconnected from Gristmill: {shown_path}", arguments.client));
    tell_backups(&place, &records, home.as_deref());
    tell_beside(&format!("hint: restart {}", arguments.client));
    Ok(ExitCode::SUCCESS)
}

fn tell_moved(plan: &Plan) {
    if !plan.restored.is_empty() {
        let names: Vec<String> = plan.restored.iter().map(|name| shown(name)).collect();
        tell_beside(&format!("note: put back, and still in your configuration, too: {}", names.join(", ")));
    }
    for (name, why) in &plan.kept {
        tell_beside(&format!("note: {} stays behind Gristmill: {why}", shown(name)));
    }
}

fn tell_backups(place: &Place, records: &Records, home: Option<&Path>) {
    for path in backup::list(place, records.folder()) {
        tell(&format!("backup: {}", short(&path, home)));
    }
}
