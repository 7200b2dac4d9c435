//! `gristmill import`: imports servers from your MCP clients.

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

use anyhow::anyhow;
use gristmill_clients::Client;
use gristmill_clients::client_file::short;
use gristmill_clients::import::{Imported, import as import_servers};
use gristmill_clients::places::FileScope;
use gristmill_clients::still_missing::{Missing, missing};
use gristmill_clients::survey::{FoundServer, PlainValues, Survey, Target, Verdict, survey};
use gristmill_clients::variables::VariableNames;
use gristmill_config::edit::{self, is_left_to_owner};
use gristmill_config::load::env_path;
use gristmill_config::locations::SHARED_NAME;
use gristmill_config::problem::{closest, shown};
use gristmill_config::{Approval, Surroundings};
use gristmill_gateway::audit::{AuditEvent, ConfigChange};
use gristmill_gateway::domain::{counted, cut_to_width};
use serde_json::{Value as Json, json};

use super::add::{Scope, file_of};
use super::client_arguments::{ImportArguments, ImportSource};
use super::import_answer::Answer;
use super::import_file::import_file;
use super::servers::{flags_of, print_by_hand, scope};
use super::{Failure, Outcome};
use crate::audit_log::note_changes;
use crate::exit_codes;
use crate::hints::hint;
use crate::terminal::{Printable, ask, eprint_lines, print_json, print_lines, width, wrapped};

pub fn import(arguments: ImportArguments) -> Outcome {
    let surroundings = Surroundings::of_this_process().map_err(|error| Failure::Internal(error.into()))?;
    let clients = match sources(&arguments.from)? {
        Sources::Clients(clients) => clients,
        Sources::File(file) => return import_file(&arguments, file, &surroundings),
    };
    let scope = scope(arguments.scope.clone());
    let path = file_of(&surroundings, &scope).map_err(|error| Failure::Usage(error.into()))?;
    refuse_shared_file(&path, &scope)?;
    edit::check(&path).map_err(|error| Failure::Usage(error.into()))?;
    if arguments.keep_values && is_left_to_owner(&path) {
        return Err(Failure::Usage(anyhow!(
            "{} is YAML, which Gristmill doesn't edit, so your secrets would be printed; leave out --keep-values",
            shown(&path.display().to_string())
        )));
    }
    let target = Target::read(&path, scope == Scope::Project, &surroundings);
    let target = target.map_err(|error| Failure::Usage(error.into()))?;
    let plain = if arguments.keep_values { PlainValues::Keep } else { PlainValues::Move };
    let mut naming = VariableNames::new(&surroundings, target.variables());
    let survey = survey(&clients, &surroundings, &target, plain, &mut naming);
    let home = surroundings.home();
    let listing = Listing { survey: &survey, home: home.as_deref(), replace: arguments.replace };
    // What is named needs no list of everything, and a wrong name least of all.
    let named = match arguments.names.is_empty() {
        true => None,
        false => Some(listing.by_name(&arguments.names)?),
    };
    if !arguments.json {
        listing.print(named.as_deref());
    }
    let picked = match named {
        Some(named) => Some(named),
        None => listing.pick(&arguments),
    };
    let imported = match &picked {
        Some(picked) if !arguments.dry_run => import_servers(picked, &target, &naming, &surroundings)
            .map_err(|error| Failure::Usage(error.into()))?,
        Some(_) | None => Imported::default(),
    };
    note_changes(&flags_of(&scope), events(&imported, &target.path));
    let missing = missing_of(picked.as_deref().unwrap_or_default(), &target, &surroundings);
    match arguments.json {
        true => print_json(&listing.json(picked.as_deref(), &imported, &missing, &target.path)),
        false => {
            listing.print_outcome(picked.as_deref(), &imported, &target.path, arguments.dry_run);
            imported.by_hand.iter().for_each(print_by_hand);
            print_missing(&missing, &target.path, home.as_deref());
            listing.print_next(picked.as_deref().unwrap_or_default(), &arguments);
        }
    }
    let is_done = survey.broken.is_empty() && imported.by_hand.is_none();
    Ok(if is_done { ExitCode::SUCCESS } else { exit_codes::usage() })
}

/// What an auditor may ask about later.
pub fn events(imported: &Imported, file: &Path) -> impl Iterator<Item = AuditEvent> {
    let file = file.display().to_string();
    let event = move |server: &String| {
        AuditEvent::config_changed(ConfigChange::ServerImported, &file).of_server(server)
    };
    imported.servers.iter().map(event)
}

/// Where servers come from.
enum Sources<'a> {
    Clients(Vec<Client>),
    File(&'a Path),
}

fn sources(from: &[ImportSource]) -> Result<Sources<'_>, Failure> {
    match from {
        [] => return Ok(Sources::Clients(Client::ALL.to_vec())),
        [ImportSource::File(file)] => return Ok(Sources::File(file)),
        _ => {}
    }
    let client = |source: &ImportSource| match source {
        ImportSource::Client(client) => Some(*client),
        ImportSource::File(_) => None,
    };
    let clients: Option<Vec<Client>> = from.iter().map(client).collect();
    clients
        .map(Sources::Clients)
        .ok_or_else(|| Failure::Usage(anyhow!("import one file at a time, and no client with it")))
}

/// A project's `.mcp.json` belongs to its other clients as well: they would start what is put there.
fn refuse_shared_file(path: &Path, scope: &Scope) -> Result<(), Failure> {
    if *scope != Scope::Project || path.file_name().is_none_or(|name| name != SHARED_NAME) {
        return Ok(());
    }
    Err(Failure::Usage(anyhow!(
        "this project uses {}, which its other clients read and would start the servers from, too; leave out \
         --project, or create a gristmill.toml next to it, which Gristmill reads instead",
        shown(&path.display().to_string())
    )))
}

/// What these servers lack, apart from what is taken with them.
pub fn missing_of(picked: &[&FoundServer], target: &Target, surroundings: &Surroundings) -> Missing {
    let is_set = |name: &str| {
        let is_taken = picked.iter().any(|found| found.variables.iter().any(|variable| variable == name));
        is_taken || target.has_variable(name) || surroundings.variable(name).is_some()
    };
    let servers = picked.iter().filter_map(|found| {
        let there = || target.server(&found.becomes);
        found.settings.as_ref().or_else(there)
    });
    missing(servers, is_set, surroundings)
}

pub fn print_missing(missing: &Missing, target: &Path, home: Option<&Path>) {
    let lines = missing.lines(&short(&env_path(target), home));
    if !lines.is_empty() {
        eprint_lines("Before they work:");
    }
    lines.iter().for_each(|line| eprint_lines(&format!("  {line}")));
}

pub struct Listing<'a> {
    pub survey: &'a Survey,
    pub home: Option<&'a Path>,
    pub replace: bool,
}

impl<'a> Listing<'a> {
    /// Those that can be taken, in the order of their numbers.
    fn numbered(&self) -> Vec<&'a FoundServer> {
        self.survey.found.iter().filter(|found| found.can_be_imported(self.replace)).collect()
    }

    /// All of them, or only these.
    fn print(&self, only: Option<&[&FoundServer]>) {
        for (client, error) in &self.survey.broken {
            eprint_lines(&format!("error: {client}: {}", Printable::all(&error.to_string())));
        }
        if self.survey.found.is_empty() {
            let files = self.survey.files.len();
            eprintln!("No servers found (read {}).", counted(files, "file"));
            return;
        }
        let numbered = self.numbered();
        let name_width = self.survey.found.iter().map(|found| shown(&found.name).chars().count());
        let name_width = name_width.max().unwrap_or(0).min(18);
        let indent = name_width + 7;
        let room = width().saturating_sub(indent).max(20);
        let mut heading = None;
        let is_shown =
            |found: &&FoundServer| only.is_none_or(|only| only.iter().any(|one| std::ptr::eq(*one, *found)));
        for found in self.survey.found.iter().filter(is_shown) {
            if heading != Some((found.client, &found.file)) {
                heading = Some((found.client, &found.file));
                println!("{}  {}", found.client, short(&found.file, self.home));
            }
            let number = numbered.iter().position(|other| std::ptr::eq(*other, found));
            let number = number.map_or_else(|| "-".to_owned(), |index| (index + 1).to_string());
            let name = cut_to_width(&shown(&found.name), name_width);
            println!(
                "{number:>4} {name:<name_width$}  {}",
                cut_to_width(&Printable::all(&found.shown), room)
            );
            for line in wrapped(&Printable::all(&self.remarks(found).join("; ")), room) {
                println!("{:indent$}{line}", "");
            }
        }
    }

    /// The verdict, and everything worth knowing.
    pub fn remarks(&self, found: &FoundServer) -> Vec<String> {
        let mut remarks = vec![match &found.verdict {
            Verdict::New if found.becomes == found.name => "new".to_owned(),
            Verdict::New => format!("new, as {}", shown(&found.becomes)),
            Verdict::AlreadyThere => "already imported".to_owned(),
            Verdict::Differs if self.replace => "replaces yours".to_owned(),
            Verdict::Differs => "differs from yours; use --replace to import this one".to_owned(),
            Verdict::OwnFile(Approval::Given) => "already used: Gristmill reads this file".to_owned(),
            Verdict::OwnFile(Approval::Missing | Approval::Outdated) => {
                "not used yet: Gristmill reads this file once you review it and run \
                 gristmill config approve"
                    .to_owned()
            }
            Verdict::SameAs { client, name, has_other_limits } => {
                let name = if *name == found.name { String::new() } else { format!("{} ", shown(name)) };
                let limits = if *has_other_limits { ", with different time limits" } else { "" };
                format!("same as {name}in {client}{limits}")
            }
            Verdict::Ourselves => "skipped: this is Gristmill".to_owned(),
            Verdict::Refused(why) => format!("can't be imported: {why}"),
        }];
        if let Some(project) = &found.project {
            remarks[0].push_str(&format!("; for {}", short(Path::new(project), self.home)));
        }
        if found.can_be_imported(self.replace) && found.file_scope == FileScope::Project {
            remarks.push("in a project file: review it, then import it by name or number".to_owned());
        }
        if found.can_be_imported(self.replace) && !found.variables.is_empty() {
            let (verb, what) =
                if found.variables.len() == 1 { ("moves", "a secret") } else { ("move", "secrets") };
            remarks.push(format!("{what} {verb} to .env: {}", found.variables.join(", ")));
        }
        if found.verdict == Verdict::New || found.verdict == Verdict::Differs {
            remarks.extend(found.remarks.iter().cloned());
        }
        remarks
    }

    /// What the user wants; none if nobody said.
    fn pick(&self, arguments: &ImportArguments) -> Option<Vec<&'a FoundServer>> {
        let numbered = self.numbered();
        let all = || numbered.iter().copied().filter(|found| found.is_among_all(self.replace)).collect();
        if arguments.all {
            return Some(all());
        }
        let can_ask = std::io::stdin().is_terminal() && !arguments.json && !arguments.dry_run;
        if numbered.is_empty() || !can_ask {
            return None;
        }
        let mut question = "\nImport which? Numbers such as `1 3-5`, all, or none:".to_owned();
        loop {
            // Nobody there any more is none.
            let answer = ask(&question).unwrap_or_default();
            match Answer::of(&answer, numbered.len()) {
                Some(Answer::None) => return Some(Vec::new()),
                Some(Answer::All) => return Some(all()),
                Some(Answer::Numbers(numbers)) => {
                    return Some(
                        numbers.iter().filter_map(|number| numbered.get(*number - 1)).copied().collect(),
                    );
                }
                None => question = format!("Numbers from 1 to {}, all, or none:", numbered.len()),
            }
        }
    }

    fn by_name(&self, names: &[String]) -> Result<Vec<&'a FoundServer>, Failure> {
        let mut picked = Vec::new();
        for name in names {
            let is_named = |found: &&FoundServer| found.becomes == *name || found.name == *name;
            let named: Vec<&FoundServer> = self.survey.found.iter().filter(is_named).collect();
            let exact =
                named.iter().find(|found| found.can_be_imported(self.replace) && found.becomes == *name);
            let any = named.iter().find(|found| found.can_be_imported(self.replace));
            match (exact.or(any), named.first()) {
                (Some(found), _) => picked.push(*found),
                // What is there already needs no taking.
                (None, Some(found))
                    if matches!(found.verdict, Verdict::AlreadyThere | Verdict::OwnFile(Approval::Given)) =>
                {
                    eprintln!("{} is already imported", shown(name));
                }
                (None, Some(found)) => {
                    let why = self.remarks(found).swap_remove(0);
                    return Err(Failure::Usage(anyhow!("nothing imported: `{}`: {why}", shown(name))));
                }
                (None, None) => {
                    let known: Vec<&str> =
                        self.survey.found.iter().map(|found| found.becomes.as_str()).collect();
                    let near =
                        closest(name, &known).map(|near| format!(" (did you mean `{}`?)", shown(&near)));
                    let near = near.unwrap_or_default();
                    return Err(Failure::Usage(anyhow!(
                        "nothing imported: no client has a server `{}`{near}",
                        shown(name)
                    )));
                }
            }
        }
        Ok(once_each(picked))
    }

    fn print_outcome(&self, picked: Option<&[&FoundServer]>, imported: &Imported, path: &Path, is_dry: bool) {
        match picked {
            None if self.numbered().is_empty() => {
                if !self.survey.found.is_empty() {
                    eprintln!("Nothing new to import.");
                }
            }
            None => {
                eprintln!("nothing imported");
                eprintln!("hint: gristmill import --all, or gristmill import NAME…");
            }
            Some([]) => eprintln!("nothing imported"),
            Some(picked) if is_dry => {
                let names: Vec<String> = picked.iter().map(|found| shown(&found.becomes)).collect();
                let target = short(path, self.home);
                let count = counted(names.len(), "server");
                let names = names.join(", ");
                match is_left_to_owner(path) {
                    true => print_lines(&format!("would print what to add to {target} for {count}: {names}")),
                    false => print_lines(&format!("would import {count} to {target}: {names}")),
                }
            }
            Some(_) => imported.lines(path, self.home).iter().for_each(|line| print_lines(line)),
        }
    }

    /// What `all` left out, and what comes after this.
    fn print_next(&self, picked: &[&FoundServer], arguments: &ImportArguments) {
        let is_picked = |found: &FoundServer| picked.iter().any(|one| std::ptr::eq(*one, found));
        let (own, of_projects): (Vec<&FoundServer>, Vec<&FoundServer>) =
            self.numbered().into_iter().partition(|found| found.file_scope == FileScope::User);
        let left: Vec<String> =
            of_projects.into_iter().filter(|found| !is_picked(found)).map(named).collect();
        let is_all = arguments.all || (!picked.is_empty() && own.iter().all(|found| is_picked(found)));
        if is_all && arguments.names.is_empty() && !left.is_empty() {
            eprint_lines(&format!(
                "not imported, because a project file has them: {}; if you trust it: gristmill import {}",
                left.join(", "),
                left.join(" ")
            ));
        }
        let Some(first) = picked.first().filter(|_| !arguments.dry_run) else { return };
        hint("`gristmill list` shows whether they answer");
        hint(&format!(
            "`gristmill connect {} --move-servers` replaces them with Gristmill in {}",
            first.client.name(),
            first.client
        ));
    }

    pub fn json(
        &self,
        picked: Option<&[&FoundServer]>,
        imported: &Imported,
        missing: &Missing,
        target: &Path,
    ) -> Json {
        let is_picked =
            |found: &FoundServer| picked.is_some_and(|all| all.iter().any(|one| std::ptr::eq(*one, found)));
        let row = |found: &FoundServer| {
            json!({
                "name": found.name,
                "client": found.client.name(),
                "file": found.file.display().to_string(),
                "project": found.project,
                "of_project_file": found.file_scope == FileScope::Project,
                "transport": found.shown,
                "becomes": found.becomes,
                "verdict": match &found.verdict {
                    Verdict::New => "new",
                    Verdict::AlreadyThere => "already_there",
                    Verdict::Differs => "differs",
                    Verdict::OwnFile(Approval::Given) => "already_there",
                    Verdict::OwnFile(Approval::Missing | Approval::Outdated) => "not_approved",
                    Verdict::SameAs { .. } => "same",
                    Verdict::Ourselves => "gristmill",
                    Verdict::Refused(_) => "refused",
                },
                "remarks": self.remarks(found),
                "variables": found.variables,
                "picked": is_picked(found),
            })
        };
        json!({
            "target": target.display().to_string(),
            "env_file": env_path(target).display().to_string(),
            "servers": self.survey.found.iter().map(row).collect::<Vec<_>>(),
            "broken": self.survey.broken.iter().map(|(client, error)| {
                json!({ "client": client.name(), "problem": error.to_string() })
            }).collect::<Vec<_>>(),
            "taken": imported.servers,
            "moved_variables": imported.variables,
            "by_hand": imported.by_hand.iter().flat_map(|by_hand| &by_hand.steps).map(|step| {
                json!({ "instruction": step.instruction(), "text": step.text() })
            }).collect::<Vec<_>>(),
            "missing": {
                "variables": missing.variables,
                "programs": missing.programs,
                "logins": missing.logins,
            },
        })
    }
}

fn named(found: &FoundServer) -> String {
    shown(&found.becomes)
}

fn once_each(picked: Vec<&FoundServer>) -> Vec<&FoundServer> {
    let mut once: Vec<&FoundServer> = Vec::new();
    for found in picked {
        if once.iter().all(|other| !std::ptr::eq(*other, found)) {
            once.push(found);
        }
    }
    once
}
