//! `gristmill connect CLIENT`: our entry in another client's list of servers.

use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use anyhow::anyhow;

use super::add::{Scope, file_of, renew_approval};
use super::import::{missing_of, tell_missing};
use super::{Failure, Outcome};
use crate::client_arguments::ConnectArguments;
use crate::clients::client_file::{ClientFile, short};
use crate::clients::connect::{State, Wanted, Written, plan};
use crate::clients::our_entry::{self, Arguments, Way};
use crate::clients::places::{self, Place, Reach};
use crate::clients::records::Records;
use crate::clients::survey::{Found, PlainValues, Survey, Target, Verdict};
use crate::clients::take_servers::take;
use crate::clients::variables::Naming;
use crate::config::Surroundings;
use crate::config::edit;
use crate::config::load::env_path;
use crate::config::problem::shown;
use crate::config::server_entry::is_name;
use crate::exit_codes;
use crate::terminal::{Printable, confirmed, tell, tell_beside};

pub fn connect(arguments: ConnectArguments) -> Outcome {
    let surroundings = Surroundings::of_this_process().map_err(|error| Failure::Ours(error.into()))?;
    let reach = if arguments.project { Reach::Project } else { Reach::User };
    let place = places::to_write(arguments.client, reach, &surroundings).map_err(usage)?;
    let way = way(&arguments, &surroundings)?;
    if !is_name(&arguments.name) {
        return Err(Failure::Usage(anyhow!("`--name` must have 1 to 64 characters, and no `.` or `/`")));
    }
    let entry = our_entry::entry(arguments.client, &way).map_err(usage)?;
    let file = ClientFile::read(&place).map_err(usage)?;
    let moving = Moving::of(&arguments, file.as_ref(), &surroundings)?;
    let mut naming = Naming::new(&surroundings, moving.target.variables());
    let survey = moving.survey(file.as_ref(), &surroundings, &mut naming);
    let movable: Vec<&Found> = survey.found.iter().filter(|found| moves(found)).collect();
    let moving_now: &[&Found] = if moving.is_wanted { &movable } else { &[] };
    let wanted = Wanted {
        name: arguments.name.clone(),
        entry,
        arguments: if arguments.profile.is_some() { Arguments::Replace } else { Arguments::Keep },
        move_away: moving_now.iter().map(|found| found.name.clone()).collect(),
    };
    let mut records = Records::load(&data_folder(&surroundings)?).map_err(usage)?;
    let now = SystemTime::now();
    let plan = plan(&place, file.as_ref(), &wanted, &records, now).map_err(usage)?;
    let home = surroundings.home();
    let shown_path = short(&place.path, home.as_deref());
    if plan.state == State::Connected {
        tell(&format!("{} is connected already, as {}, in {shown_path}", arguments.client, arguments.name));
        tell_left(&arguments, &movable, &moving);
        return Ok(ExitCode::SUCCESS);
    }
    plan.check().map_err(usage)?;
    print!("{}", Printable::all(&plan.diff(&shown_path)));
    if moving.is_wanted {
        show_moving(&survey, moving_now, &moving.target, home.as_deref());
    }
    let missing = missing_of(moving_now, &moving.target, &surroundings);
    if arguments.dry_run || !arguments.yes {
        tell_missing(&missing, &moving.target.path, home.as_deref());
    }
    if arguments.dry_run {
        eprintln!("nothing was changed");
        return Ok(ExitCode::SUCCESS);
    }
    if !may_go_on(&arguments, &place, plan.state, &surroundings, &shown_path) {
        return Ok(exit_codes::usage());
    }
    let new: Vec<&Found> = moving_now.iter().copied().filter(|found| found.can_be_taken(false)).collect();
    let taken = take(&new, &moving.target, &naming, &surroundings).map_err(usage)?;
    taken.lines(&moving.target.path, home.as_deref()).iter().for_each(|line| tell(line));
    let written = plan.carry_out(&mut records, now).map_err(usage)?;
    renew(&surroundings, &place.path, &written)?;
    tell(&format!("{} is connected, as {}, in {shown_path}", arguments.client, arguments.name));
    if !moving_now.is_empty() {
        tell(&format!("behind Gristmill now, and no longer in its own list: {}", names(moving_now)));
    }
    if let Some(backup) = &written.backup {
        tell(&format!("the file as it was: {}", short(backup, home.as_deref())));
    }
    tell_missing(&missing, &moving.target.path, home.as_deref());
    tell_left(&arguments, &movable, &moving);
    tell_next(&arguments);
    if let Some(address) = silent_address(&way) {
        tell_beside(&format!("hint: nothing answers there yet: gristmill serve --http {address}"));
    }
    Ok(ExitCode::SUCCESS)
}

fn names(found: &[&Found]) -> String {
    found.iter().map(|found| shown(&found.name)).collect::<Vec<_>>().join(", ")
}

/// The servers that the client still reaches by itself, and how they move.
fn tell_left(arguments: &ConnectArguments, movable: &[&Found], moving: &Moving) {
    if moving.is_wanted || movable.is_empty() {
        return;
    }
    let client = arguments.client;
    tell_beside(&format!("still in {client}'s own list, beside Gristmill: {}", names(movable)));
    if moving.can_be {
        let project = if arguments.project { " --project" } else { "" };
        let name = match arguments.name.as_str() {
            "gristmill" => String::new(),
            name => format!(" --name {name}"),
        };
        tell_beside(&format!(
            "hint: gristmill connect {}{project}{name} --move-servers moves them behind Gristmill",
            client.name()
        ));
    }
}

fn tell_next(arguments: &ConnectArguments) {
    let client = arguments.client;
    if arguments.project && arguments.command.is_none() && arguments.http.is_none() {
        tell_beside("hint: the entry holds a path of this machine; --command gristmill suits a shared file");
    }
    let project = if arguments.project { " --project" } else { "" };
    tell_beside(&format!(
        "hint: restart {client}; gristmill disconnect {}{project} undoes this",
        client.name()
    ));
}

/// The address on this machine that the entry leads to, if nobody listens there.
fn silent_address(way: &Way) -> Option<SocketAddr> {
    const ANSWER_WAIT: Duration = Duration::from_secs(1);
    let Way::Http { url } = way else { return None };
    let host = url.strip_prefix("http://")?.split(['/', '?', '#']).next()?.replace("localhost", "127.0.0.1");
    let address: SocketAddr = host.parse().ok()?;
    let is_silent = address.ip().is_loopback() && TcpStream::connect_timeout(&address, ANSWER_WAIT).is_err();
    is_silent.then_some(address)
}

fn way(arguments: &ConnectArguments, surroundings: &Surroundings) -> Result<Way, Failure> {
    if let Some(url) = &arguments.http {
        return Ok(Way::Http { url: our_entry::whole_address(url) });
    }
    let command = match &arguments.command {
        // A bare name is left to the client to find; a path must work from anywhere.
        Some(command) if command.components().count() == 1 => command.clone(),
        Some(command) => surroundings.absolute(command),
        None => our_entry::this_program(surroundings).map_err(|error| Failure::Ours(error.into()))?,
    };
    let command = command.into_os_string().into_string();
    let command =
        command.map_err(|_| Failure::Usage(anyhow!("the program's path is not UTF-8; see --command")))?;
    Ok(Way::Start { command, profile: arguments.profile.clone() })
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

    fn survey(
        &self,
        file: Option<&ClientFile>,
        surroundings: &Surroundings,
        naming: &mut Naming<'_>,
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

fn moves(found: &Found) -> bool {
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
fn show_moving(survey: &Survey, moving: &[&Found], target: &Target, home: Option<&Path>) {
    let (new, there): (Vec<&Found>, Vec<&Found>) =
        moving.iter().copied().partition(|found| found.can_be_taken(false));
    if !new.is_empty() {
        let path = short(&target.path, home);
        tell_beside(&format!("note: into {path} go: {}", names(&new)));
    }
    let variables: BTreeSet<&str> =
        new.iter().flat_map(|found| &found.variables).map(String::as_str).collect();
    if !variables.is_empty() {
        let variables: Vec<&str> = variables.into_iter().collect();
        let path = short(&env_path(&target.path), home);
        tell_beside(&format!("note: secrets go into {path}: {}", variables.join(", ")));
    }
    if !there.is_empty() {
        tell_beside(&format!("note: already behind Gristmill: {}", names(&there)));
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
        tell_beside(&format!("note: {} stays in the client: {}", shown(&found.name), Printable::all(why)));
    }
    for found in new.iter().filter(|found| !found.remarks.is_empty()) {
        let remarks = found.remarks.join("; ");
        tell_beside(&format!("note: {}: {}", shown(&found.name), Printable::all(&remarks)));
    }
}

fn may_go_on(
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
        tell_beside(&format!("{} does not seem to be installed here; nothing was changed", place.client));
        tell_beside(&format!("hint: --yes creates {shown_path} all the same"));
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
pub fn renew(surroundings: &Surroundings, path: &Path, written: &Written) -> Result<(), Failure> {
    renew_approval(surroundings, path, path, &written.edited).map_err(usage)
}

/// Where records are kept.
pub fn data_folder(surroundings: &Surroundings) -> Result<PathBuf, Failure> {
    let folder = surroundings.data_folder();
    folder.ok_or_else(|| Failure::Usage(anyhow!("no folder for data: set GRISTMILL_DATA_DIR, or HOME")))
}

/// A mistake in the command line, or in a file that it is about.
pub fn usage(error: impl Into<anyhow::Error>) -> Failure {
    Failure::Usage(error.into())
}
