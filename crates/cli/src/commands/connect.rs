//! `gristmill connect CLIENT`: our entry in another client's list of servers.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::anyhow;

use super::add::{Scope, file_of, renew_approval};
use super::{Failure, Outcome};
use crate::client_arguments::ConnectArguments;
use crate::clients::client_file::{ClientFile, short};
use crate::clients::connect::{Plan, State, Wanted, Written, plan};
use crate::clients::our_entry::{self, Arguments, Way};
use crate::clients::places::{self, Place, Reach};
use crate::clients::records::Records;
use crate::clients::survey::{Found, PlainValues, Survey, Target, Verdict};
use crate::clients::take_servers::take;
use crate::clients::variables::Naming;
use crate::config::Surroundings;
use crate::config::problem::shown;
use crate::config::server_entry::is_name;
use crate::exit_codes;
use crate::terminal::{Printable, confirmed};

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
    let wanted = Wanted {
        name: arguments.name.clone(),
        entry,
        arguments: if arguments.profile.is_some() { Arguments::Replace } else { Arguments::Keep },
        move_away: movable.iter().map(|found| found.name.clone()).collect(),
    };
    let mut records = Records::load(&data_folder(&surroundings)?).map_err(usage)?;
    let now = SystemTime::now();
    let plan = plan(&place, file.as_ref(), &wanted, &records, now).map_err(usage)?;
    let shown_path = short(&place.path, surroundings.home().as_deref());
    if plan.state == State::Connected {
        println!("{} is connected already, as {}, in {shown_path}", arguments.client, arguments.name);
        return Ok(ExitCode::SUCCESS);
    }
    plan.check().map_err(usage)?;
    show(&plan, &survey, &shown_path);
    if arguments.dry_run {
        eprintln!("nothing was changed");
        return Ok(ExitCode::SUCCESS);
    }
    if !may_go_on(&arguments, &place, plan.state, &surroundings, &shown_path) {
        return Ok(exit_codes::usage());
    }
    let new: Vec<&Found> = movable.into_iter().filter(|found| found.can_be_taken(false)).collect();
    let taken = take(&new, &moving.target, &naming, &surroundings).map_err(usage)?;
    for line in taken.lines(&moving.target.path, surroundings.home().as_deref()) {
        println!("{line}");
    }
    let written = plan.carry_out(&mut records, now).map_err(usage)?;
    renew(&surroundings, &place.path, &written)?;
    println!("{} is connected, as {}, in {shown_path}", arguments.client, arguments.name);
    if let Some(backup) = &written.backup {
        println!("the file as it was: {}", short(backup, surroundings.home().as_deref()));
    }
    tell_next(&arguments);
    Ok(ExitCode::SUCCESS)
}

fn tell_next(arguments: &ConnectArguments) {
    let client = arguments.client;
    if arguments.project && arguments.command.is_none() && arguments.http.is_none() {
        eprintln!("hint: the entry holds a path of this machine; --command gristmill suits a shared file");
    }
    let project = if arguments.project { " --project" } else { "" };
    eprintln!("hint: restart {client}; gristmill disconnect {}{project} undoes this", client.name());
}

fn way(arguments: &ConnectArguments, surroundings: &Surroundings) -> Result<Way, Failure> {
    if let Some(url) = &arguments.http {
        return Ok(Way::Http { url: url.clone() });
    }
    if let Some(profile) = &arguments.profile
        && !["minimal", "standard", "full"].contains(&profile.as_str())
    {
        return Err(Failure::Usage(anyhow!("`--profile` must be minimal, standard or full")));
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
    is_wanted: bool,
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
        if is_wanted && file.is_some_and(|file| file.place.path == path) {
            return Err(Failure::Usage(anyhow!(
                "Gristmill reads the servers of {} itself; leave --move-servers out, or make a gristmill.toml first",
                path.display()
            )));
        }
        let target = Target::read(&path, arguments.project, surroundings).map_err(usage)?;
        Ok(Self { is_wanted, target })
    }

    fn survey(
        &self,
        file: Option<&ClientFile>,
        surroundings: &Surroundings,
        naming: &mut Naming<'_>,
    ) -> Survey {
        let mut survey = Survey::default();
        if let Some(file) = file.filter(|_| self.is_wanted) {
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
        Verdict::Differs | Verdict::SameAs(_) | Verdict::Ourselves | Verdict::Refused(_) => false,
    }
}

fn show(plan: &Plan, survey: &Survey, shown_path: &str) {
    print!("{}", Printable::all(&plan.diff(shown_path)));
    for found in &survey.found {
        let why = match &found.verdict {
            Verdict::Refused(why) => why.as_str(),
            Verdict::Differs => "you have another server of that name",
            Verdict::New | Verdict::AlreadyThere | Verdict::SameAs(_) | Verdict::Ourselves => continue,
        };
        eprintln!("note: {} stays in the client: {}", shown(&found.name), Printable::all(why));
    }
    for found in survey.found.iter().filter(|found| moves(found) && !found.remarks.is_empty()) {
        eprintln!("note: {}: {}", shown(&found.name), Printable::all(&found.remarks.join("; ")));
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
        eprintln!("{} does not seem to be installed here; nothing was changed", place.client);
        eprintln!("hint: --yes creates {shown_path} all the same");
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
        eprintln!("hint: say so with --yes");
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
