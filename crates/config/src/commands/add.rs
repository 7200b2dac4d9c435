//! `gristmill add NAME -- COMMAND…` and `gristmill add NAME URL`.

use std::path::{Path, PathBuf};

use gristmill_gateway::domain::{SecretText, ServerSettings, Transport};

use crate::approvals::{Approvals, ApprovalsError, Status};
use crate::edit::{Change, Done, EditError, Edited, edit};
use crate::load::approvals_path;
use crate::locations::{self, Location, Role};
use crate::problem::{Problem, Problems};
use crate::references::Folders;
use crate::server_entry;
use crate::strictness::Strictness;
use crate::tree::{Node, Value};
use crate::written::is_secret_name;
use crate::{ConfigError, Surroundings};

/// Which file is changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    #[default]
    User,
    Project,
    File(PathBuf),
}

/// What the server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A program and its arguments.
    Command(Vec<String>),
    Url(String),
}

/// The command line of `add`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Add {
    pub name: String,
    pub target: Target,
    pub env: Vec<String>,
    pub headers: Vec<String>,
    pub cwd: Option<PathBuf>,
    pub description: Option<String>,
    pub category: Option<String>,
    /// Whether it is to be confined.
    pub sandbox: bool,
    pub scope: Scope,
    pub replace: bool,
}

/// What was done, for people.
#[derive(Debug, PartialEq, Eq)]
pub struct Report {
    /// The file that was changed.
    pub file: PathBuf,
    pub done: Done,
    /// One line: `added github to /home/…/gristmill.toml`.
    pub text: String,
    /// What to think of next.
    pub hints: Vec<String>,
}

/// No file was changed.
#[derive(Debug, thiserror::Error)]
pub enum AddError {
    #[error("`--env` must be NAME=VALUE, such as --env 'TOKEN=${{TOKEN}}'")]
    BadEnv,
    #[error("`--header` must be \"Name: value\", such as --header 'Authorization: Bearer ${{TOKEN}}'")]
    BadHeader,
    #[error("the command goes after `--`: gristmill add NAME -- COMMAND ARGUMENT…")]
    NoCommand,
    /// There is no place for the user's file.
    #[error("no folder for your configuration; set HOME or XDG_CONFIG_HOME")]
    NoConfigFolder,
    #[error("not valid JSON: {0}")]
    NotJson(String),
    /// The server is wrong.
    #[error(transparent)]
    BadServer(#[from] ConfigError),
    #[error(transparent)]
    Edit(#[from] EditError),
    /// It was changed, but is not approved any more.
    #[error("the file was changed, but its approval couldn't be renewed: {0}")]
    Approvals(#[from] ApprovalsError),
}

pub fn add(surroundings: &Surroundings, add: &Add) -> Result<Report, AddError> {
    let file = file_of(surroundings, &add.scope)?;
    let mut entry = Vec::new();
    let mut put = |key: &str, node: Option<Node>| entry.extend(node.map(|node| (key.to_owned(), node)));
    match &add.target {
        Target::Command(words) => {
            let (command, args) = words.split_first().ok_or(AddError::NoCommand)?;
            put("command", Some(Node::text(rooted(surroundings, command))));
            put("args", Some(Node::list(args.iter().map(Node::text).collect())));
        }
        Target::Url(url) => put("url", Some(Node::text(url))),
    }
    let env = split_all(&add.env, '=').ok_or(AddError::BadEnv)?;
    put("env", (!env.is_empty()).then(|| Node::map(env)));
    let headers = split_all(&add.headers, ':').ok_or(AddError::BadHeader)?;
    put("headers", (!headers.is_empty()).then(|| Node::map(headers)));
    let cwd = add.cwd.as_ref().map(|path| surroundings.absolute(path).display().to_string());
    put("cwd", cwd.map(Node::text));
    put("description", add.description.as_ref().map(Node::text));
    put("category", add.category.as_ref().map(Node::text));
    put("sandbox", add.sandbox.then_some(Node { line: 0, value: Value::Bool(true) }));
    let (server, _) = read(surroundings, &file, &add.name, &Node::map(entry), Strictness::Ours)?;
    put_server(surroundings, file, &server, add.replace)
}

/// Reads a server that is to be added. Also gives what is worth knowing about it.
pub(super) fn read(
    surroundings: &Surroundings,
    file: &Path,
    name: &str,
    node: &Node,
    strictness: Strictness,
) -> Result<(ServerSettings, Vec<Problem>), AddError> {
    let mut problems = Problems::default();
    let folders = Folders::of(file, surroundings.home().as_deref());
    let server = server_entry::read(name, node, name, strictness, &folders, &mut problems);
    match server {
        Some(server) => Ok((server, problems.into_vec())),
        None => Err(ConfigError(problems.into_vec()).into()),
    }
}

/// Writes a server into a file, which stays approved if it was.
pub(super) fn put_server(
    surroundings: &Surroundings,
    file: PathBuf,
    server: &ServerSettings,
    replace: bool,
) -> Result<Report, AddError> {
    let home = surroundings.home();
    let edited = edit(&file, Change::Put { server, replace }, home.as_deref())?;
    renew_approval(surroundings, &file, &file, &edited)?;
    let verb = match edited.done {
        Done::Created | Done::Added => "added",
        Done::Replaced => "replaced",
        Done::Removed => "removed",
    };
    let text = format!("{verb} {} in {}", server.name, file.display());
    Ok(Report { file, done: edited.done, text, hints: secret_hints(server) })
}

/// Whoever changes an approved file with our own command does not have to approve it again.
/// `changed` is the file itself, or the `.env` beside it.
pub fn renew_approval(
    surroundings: &Surroundings,
    file: &Path,
    changed: &Path,
    edited: &Edited,
) -> Result<(), ApprovalsError> {
    let is_project = |l: &Location| l.role == Role::Project && l.path == file;
    let Some(store) = approvals_path(surroundings) else { return Ok(()) };
    if !locations::find(surroundings, None).found.iter().any(is_project) {
        return Ok(());
    }
    let mut approvals = Approvals::load(&store)?;
    let was_trusted = match &edited.before {
        Some(before) => approvals.status(changed, before) == Status::Approved,
        None => true,
    };
    if was_trusted { approvals.approve(changed, &edited.after) } else { Ok(()) }
}

/// The file that a scope means.
pub fn file_of(surroundings: &Surroundings, scope: &Scope) -> Result<PathBuf, AddError> {
    match scope {
        Scope::User => locations::user_file(surroundings).ok_or(AddError::NoConfigFolder),
        Scope::Project => Ok(locations::project_file(surroundings)),
        Scope::File(path) => Ok(surroundings.absolute(path)),
    }
}

/// `./server.sh` means the one in this folder, from wherever it is started later.
fn rooted(surroundings: &Surroundings, command: &str) -> String {
    let is_relative_path = command.contains('/') && !command.starts_with(['/', '~', '$']);
    if !is_relative_path {
        return command.to_owned();
    }
    let command = command.strip_prefix("./").unwrap_or(command);
    surroundings.current_folder.join(command).display().to_string()
}

fn split_all(texts: &[String], separator: char) -> Option<Vec<(String, Node)>> {
    let split = |text: &String| {
        let (name, value) = text.split_once(separator)?;
        let value = if separator == ':' { value.trim() } else { value };
        Some((name.trim().to_owned(), Node::text(value)))
    };
    texts.iter().map(split).collect()
}

fn secret_hints(server: &ServerSettings) -> Vec<String> {
    let named = match &server.transport {
        Transport::Stdio { env, .. } => env,
        Transport::Http { headers, .. } => headers,
        Transport::Hosts(_) => return Vec::new(),
    };
    let is_plain = |text: &SecretText| text.as_plain().is_some_and(|text| !text.is_empty());
    named
        .iter()
        .filter(|(name, text)| is_secret_name(name) && is_plain(text))
        .map(|(name, _)| {
            format!("{name} is stored as plain text; use a reference such as ${{NAME}} or ${{keyring:name}} to keep it out of the file")
        })
        .collect()
}
