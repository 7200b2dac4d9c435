//! `gristmill connect CLIENT`: our entry in another client's list of servers.

use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use anyhow::anyhow;
use gristmill_clients::client_file::{ClientFile, short};
use gristmill_clients::connect::{ChangedFile, EntryRequest, Plan, State, plan};
use gristmill_clients::import::import as import_servers;
use gristmill_clients::our_entry::{self, OldArguments, Route};
use gristmill_clients::places::{self, FileScope, Place};
use gristmill_clients::records::Records;
use gristmill_clients::survey::{FoundServer, PlainValues, Survey, Target, Verdict};
use gristmill_clients::variables::VariableNames;
use gristmill_config::Surroundings;
use gristmill_config::edit;
use gristmill_config::load::env_path;
use gristmill_config::problem::shown;
use gristmill_config::server_entry::is_name;

use super::add::{Scope, file_of, renew_approval};
use super::client_arguments::ConnectArguments;
use super::import::{missing_of, print_missing};
use super::{Failure, Outcome};
use crate::exit_codes;
use crate::terminal::{Printable, confirmed, eprint_lines, print_lines};
use crate::upstreams::default_data_folder;

pub fn connect(arguments: ConnectArguments) -> Outcome {
    let surroundings = Surroundings::of_this_process().map_err(|error| Failure::Internal(error.into()))?;
    let file_scope = if arguments.project { FileScope::Project } else { FileScope::User };
    let place = places::to_write(arguments.client, file_scope, &surroundings).map_err(usage)?;
    let route = route(&arguments, &surroundings)?;
    if !is_name(&arguments.name) {
        return Err(Failure::Usage(anyhow!("`--name` must have 1 to 64 characters, and no `.` or `/`")));
    }
    let entry = our_entry::entry(arguments.client, &route).map_err(usage)?;
    let file = ClientFile::read(&place).map_err(usage)?;
    let moving = Moving::of(&arguments, file.as_ref(), &surroundings)?;
    let mut naming = VariableNames::new(&surroundings, moving.target.variables());
    let survey = moving.survey(file.as_ref(), &surroundings, &mut naming);
    let movable: Vec<&FoundServer> = survey.found.iter().filter(|found| moves(found)).collect();
    moving.check_target(&movable)?;
    let moving_now: &[&FoundServer] = if moving.is_wanted { &movable } else { &[] };
    let wanted = EntryRequest {
        name: arguments.name.clone(),
        entry,
        arguments: if arguments.profile.is_some() { OldArguments::Replace } else { OldArguments::Keep },
        move_away: moving_now.iter().map(|found| found.name.clone()).collect(),
    };
    let mut records = Records::load(&default_data_folder(&surroundings)?).map_err(usage)?;
    let now = SystemTime::now();
    let plan = plan(&place, file.as_ref(), &wanted, &records, now).map_err(usage)?;
    let shown_path = short(&place.path, surroundings.home().as_deref());
    if plan.state == State::Connected {
        print_lines(&format!(
            "{} is connected already, as {}, in {shown_path}",
            arguments.client, arguments.name
        ));
        print_left(&arguments, &movable, &moving);
        return Ok(ExitCode::SUCCESS);
    }
    plan.check().map_err(usage)?;
    let connecting =
        Connecting { arguments: &arguments, surroundings: &surroundings, moving: &moving, moving_now };
    connecting.show(&plan, &survey, &shown_path);
    if arguments.dry_run {
        eprintln!("nothing was changed");
        return Ok(ExitCode::SUCCESS);
    }
    if !may_change(&arguments, &place, plan.state, &surroundings, &shown_path) {
        return Ok(exit_codes::usage());
    }
    connecting.take_servers(&naming)?;
    let written = plan.carry_out(&mut records, now).map_err(usage)?;
    renew(&surroundings, &place.path, &written)?;
    print_lines(&format!("{} is connected, as {}, in {shown_path}", arguments.client, arguments.name));
    connecting.print_done(&written);
    print_left(&arguments, &movable, &moving);
    print_next(&arguments);
    if let Some(address) = silent_address(&route) {
        eprint_lines(&format!("hint: nothing answers there yet: gristmill serve --http {address}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// What is about to be done, and for whom.
struct Connecting<'a> {
    arguments: &'a ConnectArguments,
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
        if self.arguments.dry_run || !self.arguments.yes {
            self.print_missing();
        }
    }

    fn take_servers(&self, naming: &VariableNames<'_>) -> Result<(), Failure> {
        let target = &self.moving.target;
        let new: Vec<&FoundServer> =
            self.moving_now.iter().copied().filter(|found| found.can_be_imported(false)).collect();
        let imported = import_servers(&new, target, naming, self.surroundings).map_err(usage)?;
        let home = self.surroundings.home();
        imported.lines(&target.path, home.as_deref()).iter().for_each(|line| print_lines(line));
        Ok(())
    }

    fn print_done(&self, written: &ChangedFile) {
        if !self.moving_now.is_empty() {
            print_lines(&format!(
                "behind Gristmill now, and no longer in its own list: {}",
                names(self.moving_now)
            ));
        }
        if let Some(backup) = &written.backup {
            let home = self.surroundings.home();
            print_lines(&format!("the file as it was: {}", short(backup, home.as_deref())));
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
fn print_left(arguments: &ConnectArguments, movable: &[&FoundServer], moving: &Moving) {
    if moving.is_wanted || movable.is_empty() {
        return;
    }
    let client = arguments.client;
    eprint_lines(&format!("still in {client}'s own list, beside Gristmill: {}", names(movable)));
    if moving.can_be {
        let project = if arguments.project { " --project" } else { "" };
        let name = match arguments.name.as_str() {
            "gristmill" => String::new(),
            name => format!(" --name {name}"),
        };
        eprint_lines(&format!(
            "hint: gristmill connect {}{project}{name} --move-servers moves them behind Gristmill",
            client.name()
        ));
    }
}

fn print_next(arguments: &ConnectArguments) {
    let client = arguments.client;
    if arguments.project && arguments.command.is_none() && arguments.http.is_none() {
        eprint_lines("hint: the entry holds a path of this machine; --command gristmill suits a shared file");
    }
    let project = if arguments.project { " --project" } else { "" };
    eprint_lines(&format!(
        "hint: restart {client}; gristmill disconnect {}{project} undoes this",
        client.name()
    ));
}

/// The address on this machine that the entry leads to, if nobody listens there.
fn silent_address(route: &Route) -> Option<SocketAddr> {
    const ANSWER_WAIT: Duration = Duration::from_secs(1);
    let Route::Http { url } = route else { return None };
    let host = url.strip_prefix("http://")?.split(['/', '?', '#']).next()?.replace("localhost", "127.0.0.1");
    let address: SocketAddr = host.parse().ok()?;
    let is_silent = address.ip().is_loopback() && TcpStream::connect_timeout(&address, ANSWER_WAIT).is_err();
    is_silent.then_some(address)
}

fn route(arguments: &ConnectArguments, surroundings: &Surroundings) -> Result<Route, Failure> {
    if let Some(url) = &arguments.http {
        return Ok(Route::Http { url: our_entry::whole_address(url) });
    }
    let command = match &arguments.command {
        // A bare name is left to the client to find; a path must work from anywhere.
        Some(command) if command.components().count() == 1 => command.clone(),
        Some(command) => surroundings.absolute(command),
        None => our_entry::this_program(surroundings).map_err(|error| Failure::Internal(error.into()))?,
    };
    let command = command.into_os_string().into_string();
    let command =
        command.map_err(|_| Failure::Usage(anyhow!("the program's path is not UTF-8; see --command")))?;
    Ok(Route::Start { command, profile: arguments.profile.clone() })
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
        arguments: &ConnectArguments,
        file: Option<&ClientFile>,
        surroundings: &Surroundings,
    ) -> Result<Self, Failure> {
        let scope = if arguments.project { Scope::Project } else { Scope::User };
        let is_wanted = arguments.move_servers && file.is_some();
        let path = match file_of(surroundings, &scope) {
            Ok(path) => path,
            Err(error) if is_wanted => return Err(usage(error)),
            Err(_) => PathBuf::new(),
        };
        // A project's `.mcp.json` is where we read servers ourselves: they cannot move there.
        let can_be = file.is_none_or(|file| file.place.path != path);
        if is_wanted && !can_be {
            return Err(Failure::Usage(anyhow!(
                "Gristmill reads the servers of {} itself; leave --move-servers out, or make a gristmill.toml first",
                path.display()
            )));
        }
        if is_wanted {
            edit::check(&path).map_err(usage)?;
        }
        let target = Target::read(&path, arguments.project, surroundings).map_err(usage)?;
        Ok(Self { is_wanted, can_be, target })
    }

    /// Servers leave the client only for a file that has them, and YAML gets none from us.
    fn check_target(&self, movable: &[&FoundServer]) -> Result<(), Failure> {
        let are_new = movable.iter().any(|found| found.can_be_imported(false));
        if !(self.is_wanted && are_new && edit::is_left_to_owner(&self.target.path)) {
            return Ok(());
        }
        Err(Failure::Usage(anyhow!(
            "{} is YAML, which Gristmill reads, but does not edit: gristmill import prints what to add to it; \
             then run this again",
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
        eprint_lines(&format!("note: into {path} go: {}", names(&new)));
    }
    let variables: BTreeSet<&str> =
        new.iter().flat_map(|found| &found.variables).map(String::as_str).collect();
    if !variables.is_empty() {
        let variables: Vec<&str> = variables.into_iter().collect();
        let path = short(&env_path(&target.path), home);
        eprint_lines(&format!("note: secrets go into {path}: {}", variables.join(", ")));
    }
    if !there.is_empty() {
        eprint_lines(&format!("note: already behind Gristmill: {}", names(&there)));
    }
    for found in &survey.found {
        let why = match &found.verdict {
            Verdict::Refused(why) => why.as_str(),
            Verdict::Differs => "you have another server of that name",
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
    arguments: &ConnectArguments,
    place: &Place,
    state: State,
    surroundings: &Surroundings,
    shown_path: &str,
) -> bool {
    if arguments.yes {
        return true;
    }
    let is_known = arguments.project || places::seems_installed(place.client, surroundings);
    if state == State::NoFile && !is_known {
        eprint_lines(&format!("{} does not seem to be installed here; nothing was changed", place.client));
        eprint_lines(&format!("hint: --yes creates {shown_path} all the same"));
        return false;
    }
    let question = match state {
        State::NoFile => format!("create {shown_path}?"),
        State::NotConnected | State::Outdated | State::Connected => format!("change {shown_path}?"),
    };
    agreed(&question)
}

/// Asks, and says what to do if nobody is there.
pub fn agreed(question: &str) -> bool {
    use std::io::IsTerminal;
    if confirmed(question) {
        return true;
    }
    eprintln!("nothing was changed");
    if !std::io::stdin().is_terminal() {
        eprintln!("hint: nobody can be asked here; --yes makes this change");
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
