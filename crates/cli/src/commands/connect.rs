//! `gristmill connect [CLIENT]`: adds Gristmill to a client's list of servers.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use anyhow::anyhow;
use gristmill_clients::Client;
use gristmill_clients::client_file::{ClientFile, short};
use gristmill_clients::connect::{ChangedFile, EntryRequest, Plan, State, plan};
use gristmill_clients::import::import as import_servers;
use gristmill_clients::our_entry::{self, OldArguments, Route};
use gristmill_clients::places::{self, FileScope, Place};
use gristmill_clients::records::Records;
use gristmill_clients::survey::{FoundServer, PlainValues, Survey, Target, Verdict};
use gristmill_clients::variables::VariableNames;
use gristmill_config::edit;
use gristmill_config::load::env_path;
use gristmill_config::problem::shown;
use gristmill_config::server_entry::is_name;
use gristmill_config::{Flags, Surroundings};

use super::add::{Scope, file_of, renew_approval};
use super::client_arguments::{ConnectArguments, ConnectOptions};
use super::client_choice::chosen;
use super::connect_token::{entry_token_for, keep_token_private, print_token_needed};
use super::import::{events, missing_of, print_missing};
use super::{Failure, Outcome};
use crate::audit_log::note_changes;
use crate::exit_codes;
use crate::hints::hint;
use crate::terminal::{Printable, confirmed, eprint_lines, print_lines};
use crate::upstreams::default_data_folder;

pub fn connect(arguments: ConnectArguments) -> Outcome {
    let surroundings = Surroundings::of_this_process().map_err(|error| Failure::Internal(error.into()))?;
    let clients = match arguments.client {
        Some(client) => vec![client],
        None => chosen(&surroundings)?,
    };
    let mut all_connected = ExitCode::SUCCESS;
    for client in clients {
        let connect = Connect { client, options: &arguments.options, stage: Stage::Whole };
        if connect_one(&connect, &surroundings)? == Connected::Declined {
            all_connected = exit_codes::usage();
        }
    }
    Ok(all_connected)
}

/// One client, and how it is to be connected.
pub struct Connect<'a> {
    pub client: Client,
    pub options: &'a ConnectOptions,
    pub stage: Stage,
}

/// How much of it is done: whoever asks once for many things shows them first and does them later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Show, ask, do.
    Whole,
    Show,
    /// What was shown and agreed to.
    Do,
}

/// What became of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connected {
    /// It was before.
    Already,
    /// What would change was shown, and nothing was done.
    Shown,
    /// The user said no.
    Declined,
    Now,
}

/// Connects one client, as far as its stage says.
pub fn connect_one(arguments: &Connect<'_>, surroundings: &Surroundings) -> Result<Connected, Failure> {
    let file_scope = if arguments.options.project { FileScope::Project } else { FileScope::User };
    let place = places::to_write(arguments.client, file_scope, surroundings).map_err(usage)?;
    let data = default_data_folder(surroundings)?;
    let route = route(arguments, surroundings, &data)?;
    if !is_name(&arguments.options.name) {
        return Err(Failure::Usage(anyhow!("`--name` must be 1 to 64 characters, without `.` or `/`")));
    }
    let entry = our_entry::entry(arguments.client, &route).map_err(usage)?;
    let file = ClientFile::read(&place).map_err(usage)?;
    let moving = Moving::of(arguments, file.as_ref(), surroundings)?;
    let mut naming = VariableNames::new(surroundings, moving.target.variables());
    let survey = moving.survey(file.as_ref(), surroundings, &mut naming);
    let movable: Vec<&FoundServer> = survey.found.iter().filter(|found| moves(found)).collect();
    moving.check_target(&movable)?;
    let moving_now: &[&FoundServer] = if moving.is_wanted { &movable } else { &[] };
    let has_profile = arguments.options.profile.is_some();
    let old_arguments = if has_profile { OldArguments::Replace } else { OldArguments::Keep };
    let wanted = EntryRequest {
        name: arguments.options.name.clone(),
        entry,
        arguments: old_arguments,
        move_away: moving_now.iter().map(|found| found.name.clone()).collect(),
    };
    let mut records = Records::load(&data).map_err(usage)?;
    let now = SystemTime::now();
    let plan = plan(&place, file.as_ref(), &wanted, &records, now).map_err(usage)?;
    let shown_path = short(&place.path, surroundings.home().as_deref());
    if plan.state == State::Connected {
        if arguments.stage != Stage::Do {
            print_lines(&format!(
                "{} is already connected as `{}` in {shown_path}",
                arguments.client, arguments.options.name
            ));
        }
        if arguments.stage != Stage::Do {
            print_left(arguments, &movable, &moving);
        }
        return Ok(Connected::Already);
    }
    plan.check().map_err(usage)?;
    let connecting = Connecting { arguments, surroundings, moving: &moving, moving_now };
    if arguments.stage != Stage::Do {
        connecting.show(&plan, &survey, &shown_path);
    }
    if arguments.stage == Stage::Show {
        return Ok(Connected::Shown);
    }
    if arguments.options.dry_run {
        eprintln!("nothing changed (dry run)");
        return Ok(Connected::Shown);
    }
    if arguments.stage == Stage::Whole
        && !may_change(arguments, &place, plan.state, surroundings, &shown_path)
    {
        return Ok(Connected::Declined);
    }
    connecting.take_servers(&naming)?;
    keep_token_private(&route, &place, &shown_path)?;
    let written = plan.carry_out(&mut records, now).map_err(usage)?;
    renew(surroundings, &place.path, &written)?;
    print_lines(&format!("connected {} as `{}` in {shown_path}", arguments.client, arguments.options.name));
    connecting.print_done(&written);
    print_left(arguments, &movable, &moving);
    print_next(arguments);
    print_token_needed(&route, &data, surroundings);
    if let Some(address) = silent_address(&route) {
        hint(&format!("nothing answers there yet: gristmill serve --http {address}"));
    }
    Ok(Connected::Now)
}

/// What is about to be done, and for whom.
struct Connecting<'a> {
    arguments: &'a Connect<'a>,
    surroundings: &'a Surroundings,
    moving: &'a Moving,
    /// The servers that leave the client.
    moving_now: &'a [&'a FoundServer],
}

impl Connecting<'_> {
    /// Before anyone is asked.
    fn show(&self, plan: &Plan, survey: &Survey, shown_path: &str) {
        print!("{}", Printable::all(&plan.diff(shown_path)));
        if self.moving.is_wanted {
            let home = self.surroundings.home();
            show_moving(survey, self.moving_now, &self.moving.target, home.as_deref());
        }
        if self.arguments.options.dry_run || !self.arguments.options.yes {
            self.print_missing();
        }
    }

    fn take_servers(&self, naming: &VariableNames<'_>) -> Result<(), Failure> {
        let target = &self.moving.target;
        let new: Vec<&FoundServer> =
            self.moving_now.iter().copied().filter(|found| found.can_be_imported(false)).collect();
        let imported = import_servers(&new, target, naming, self.surroundings).map_err(usage)?;
        note_changes(&Flags::default(), events(&imported, &target.path));
        let home = self.surroundings.home();
        imported.lines(&target.path, home.as_deref()).iter().for_each(|line| print_lines(line));
        Ok(())
    }

    fn print_done(&self, written: &ChangedFile) {
        if !self.moving_now.is_empty() {
            print_lines(&format!("moved to Gristmill: {}", names(self.moving_now)));
        }
        if let Some(backup) = &written.backup {
            let home = self.surroundings.home();
            print_lines(&format!("backup: {}", short(backup, home.as_deref())));
        }
        self.print_missing();
    }

    fn print_missing(&self) {
        let target = &self.moving.target;
        let missing = missing_of(self.moving_now, target, self.surroundings);
        print_missing(&missing, &target.path, self.surroundings.home().as_deref());
    }
}

fn names(found: &[&FoundServer]) -> String {
    found.iter().map(|found| shown(&found.name)).collect::<Vec<_>>().join(", ")
}

/// The servers that the client still reaches by itself, and how they move.
fn print_left(arguments: &Connect<'_>, movable: &[&FoundServer], moving: &Moving) {
    if moving.is_wanted || movable.is_empty() {
        return;
    }
    let client = arguments.client;
    eprint_lines(&format!("still in {client}'s own list: {}", names(movable)));
    if moving.can_be {
        let project = if arguments.options.project { " --project" } else { "" };
        let name = match arguments.options.name.as_str() {
            "gristmill" => String::new(),
            name => format!(" --name {name}"),
        };
        hint(&format!(
            "`gristmill connect {}{project}{name} --move-servers` moves them to Gristmill",
            client.name()
        ));
    }
}

fn print_next(arguments: &Connect<'_>) {
    let client = arguments.client;
    if arguments.options.project && arguments.options.command.is_none() && arguments.options.http.is_none() {
        hint("the entry has a path of this machine; use `--command gristmill` for a shared file");
    }
    let project = if arguments.options.project { " --project" } else { "" };
    eprint_lines(&format!("Restart {client} to use it."));
    hint(&format!("`gristmill disconnect {}{project}` undoes this", client.name()));
}

/// The address on this machine that the entry leads to, if nobody listens there.
fn silent_address(route: &Route) -> Option<SocketAddr> {
    const ANSWER_WAIT: Duration = Duration::from_secs(1);
    let Route::Http { url, .. } = route else { return None };
    let host = url.strip_prefix("http://")?.split(['/', '?', '#']).next()?.replace("localhost", "127.0.0.1");
    let address: SocketAddr = host.parse().ok()?;
    let is_silent = address.ip().is_loopback() && TcpStream::connect_timeout(&address, ANSWER_WAIT).is_err();
    is_silent.then_some(address)
}

fn route(arguments: &Connect<'_>, surroundings: &Surroundings, data: &Path) -> Result<Route, Failure> {
    if let Some(url) = &arguments.options.http {
        let url = our_entry::whole_address(url);
        let token = entry_token_for(arguments.client, arguments.options, &url, surroundings, data)?;
        return Ok(Route::Http { url, token });
    }
    let command = match &arguments.options.command {
        // A bare name is left to the client to find; a path must work from anywhere.
        Some(command) if command.components().count() == 1 => command.clone(),
        Some(command) => surroundings.absolute(command),
        None => our_entry::this_program(surroundings).map_err(|error| Failure::Internal(error.into()))?,
    };
    let command = command.into_os_string().into_string();
    let command = command
        .map_err(|_| Failure::Usage(anyhow!("the path of this program isn't UTF-8; use --command")))?;
    Ok(Route::Start { command, profile: arguments.options.profile.clone() })
}

/// What `--move-servers` means for this file.
struct Moving {
    /// Whether it was asked for, and there is a file.
    is_wanted: bool,
    /// Whether servers of this file can move at all.
    can_be: bool,
    target: Target,
}

impl Moving {
    fn of(
        arguments: &Connect<'_>,
        file: Option<&ClientFile>,
        surroundings: &Surroundings,
    ) -> Result<Self, Failure> {
        let scope = if arguments.options.project { Scope::Project } else { Scope::User };
        let is_wanted = arguments.options.move_servers && file.is_some();
        let path = match file_of(surroundings, &scope) {
            Ok(path) => path,
            Err(error) if is_wanted => return Err(usage(error)),
            Err(_) => PathBuf::new(),
        };
        // A project's `.mcp.json` is where we read servers ourselves: they cannot move there.
        let can_be = file.is_none_or(|file| file.place.path != path);
        if is_wanted && !can_be {
            return Err(Failure::Usage(anyhow!(
                "Gristmill already reads {}; leave out --move-servers, or create a gristmill.toml first",
                path.display()
            )));
        }
        if is_wanted {
            edit::check(&path).map_err(usage)?;
        }
        let target = Target::read(&path, arguments.options.project, surroundings).map_err(usage)?;
        Ok(Self { is_wanted, can_be, target })
    }

    /// Servers leave the client only for a file that has them, and YAML gets none from us.
    fn check_target(&self, movable: &[&FoundServer]) -> Result<(), Failure> {
        let are_new = movable.iter().any(|found| found.can_be_imported(false));
        if !(self.is_wanted && are_new && edit::is_left_to_owner(&self.target.path)) {
            return Ok(());
        }
        Err(Failure::Usage(anyhow!(
            "{} is YAML, which Gristmill doesn't edit; `gristmill import` prints what to add, then run this again",
            self.target.path.display()
        )))
    }

    fn survey(
        &self,
        file: Option<&ClientFile>,
        surroundings: &Surroundings,
        naming: &mut VariableNames<'_>,
    ) -> Survey {
        let mut survey = Survey::default();
        if let Some(file) = file {
            survey.add(file, surroundings, &self.target, PlainValues::Move, naming);
        }
        // Servers of single projects stay in their projects.
        survey.found.retain(|found| found.project.is_none());
        survey
    }
}

fn moves(found: &FoundServer) -> bool {
    match found.verdict {
        Verdict::New | Verdict::AlreadyThere => true,
        Verdict::Differs
        | Verdict::OwnFile(_)
        | Verdict::SameAs { .. }
        | Verdict::Ourselves
        | Verdict::Refused(_) => false,
    }
}

/// Before anyone is asked: what goes where, what stays, and what is worth knowing.
fn show_moving(survey: &Survey, moving: &[&FoundServer], target: &Target, home: Option<&Path>) {
    let (new, there): (Vec<&FoundServer>, Vec<&FoundServer>) =
        moving.iter().copied().partition(|found| found.can_be_imported(false));
    if !new.is_empty() {
        let path = short(&target.path, home);
        eprint_lines(&format!("note: moves to {path}: {}", names(&new)));
    }
    let variables: BTreeSet<&str> =
        new.iter().flat_map(|found| &found.variables).map(String::as_str).collect();
    if !variables.is_empty() {
        let variables: Vec<&str> = variables.into_iter().collect();
        let path = short(&env_path(&target.path), home);
        eprint_lines(&format!("note: secrets move to {path}: {}", variables.join(", ")));
    }
    if !there.is_empty() {
        eprint_lines(&format!("note: already in Gristmill: {}", names(&there)));
    }
    for found in &survey.found {
        let why = match &found.verdict {
            Verdict::Refused(why) => why.as_str(),
            Verdict::Differs => "you have a different server with that name",
            Verdict::New
            | Verdict::AlreadyThere
            | Verdict::OwnFile(_)
            | Verdict::SameAs { .. }
            | Verdict::Ourselves => continue,
        };
        eprint_lines(&format!("note: {} stays in the client: {}", shown(&found.name), Printable::all(why)));
    }
    for found in new.iter().filter(|found| !found.remarks.is_empty()) {
        let remarks = found.remarks.join("; ");
        eprint_lines(&format!("note: {}: {}", shown(&found.name), Printable::all(&remarks)));
    }
}

fn may_change(
    arguments: &Connect<'_>,
    place: &Place,
    state: State,
    surroundings: &Surroundings,
    shown_path: &str,
) -> bool {
    if arguments.options.yes {
        return true;
    }
    let is_known = arguments.options.project || places::seems_installed(place.client, surroundings);
    if state == State::NoFile && !is_known {
        eprint_lines(&format!("{} doesn't seem to be installed; nothing changed", place.client));
        eprint_lines(&format!("hint: use --yes to create {shown_path} anyway"));
        return false;
    }
    let question = match state {
        State::NoFile => format!("Create {shown_path}?"),
        State::NotConnected | State::Outdated | State::Connected => format!("Change {shown_path}?"),
    };
    agreed(&question)
}

/// Asks, and says what to do if nobody is there.
pub fn agreed(question: &str) -> bool {
    if confirmed(question) {
        return true;
    }
    eprintln!("nothing changed");
    if !std::io::stdin().is_terminal() {
        eprintln!("hint: not a terminal, so there is no one to ask; pass --yes");
    }
    false
}

/// A project's file that we read ourselves stays approved if it was.
pub fn renew(surroundings: &Surroundings, path: &Path, written: &ChangedFile) -> Result<(), Failure> {
    renew_approval(surroundings, path, path, &written.edited).map_err(usage)
}

/// A mistake in the command line, or in a file that it is about.
pub fn usage(error: impl Into<anyhow::Error>) -> Failure {
    Failure::Usage(error.into())
}
