//! All servers of all clients: what each would become here, and what speaks against it.

use std::path::{Path, PathBuf};

use gristmill_config::document::Document;
use gristmill_config::env_file::{self, Variables};
use gristmill_config::load::env_path;
use gristmill_config::locations;
use gristmill_config::problem::shown;
use gristmill_config::read_file::{FileText, ReadError};
use gristmill_config::resolved::ReadFile;
use gristmill_config::server_entry::is_name;
use gristmill_config::written::transport;
use gristmill_config::{self as config, Approval, Flags, Surroundings};
use gristmill_gateway::domain::ServerSettings;

use super::client_file::{ClientFile, FileError, ListedServer};
use super::known::Client;
use super::places::{self, FileScope};
use super::same_server::is_same;
use super::secret_values;
use super::still_missing;
use super::translate::{self, Context, Translated};
use super::variables::VariableNames;

/// The file that servers are taken into, as it is now.
#[derive(Debug)]
pub struct Target {
    pub path: PathBuf,
    /// Whether it is the project's.
    pub is_project: bool,
    servers: Vec<ServerSettings>,
    /// What its `.env` has.
    variables: Variables,
    /// Variables of the user's own `.env`, which a project's servers see, too.
    inherited: Variables,
    /// Files that we read ourselves, among them perhaps a project's `.mcp.json`.
    own_files: Vec<ReadFile>,
}

/// The target cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{path} {source}", path = .path.display())]
pub struct TargetError {
    path: PathBuf,
    source: ReadError,
}

impl Target {
    /// Reads it; one that is not there is empty. Its mistakes are told when it is written.
    pub fn read(path: &Path, is_project: bool, surroundings: &Surroundings) -> Result<Self, TargetError> {
        let read = |path: &Path| {
            FileText::read_if_there(path).map_err(|source| TargetError { path: path.to_owned(), source })
        };
        let document = read(path)?.map(|file| Document::read(&file, surroundings.home().as_deref()));
        let servers = document.map_or_else(Vec::new, |document| document.servers);
        let env_beside = |path: &Path| {
            let env = env_path(path);
            let Some(file) = read(&env)? else { return Ok(Variables::default()) };
            let text = file.text().map_err(|source| TargetError { path: env.clone(), source })?;
            Ok(env_file::parse(text, &env).0)
        };
        let inherited = match locations::user_file(surroundings).filter(|_| is_project) {
            Some(user) => env_beside(&user)?,
            None => Variables::default(),
        };
        Ok(Self {
            path: path.to_owned(),
            is_project,
            servers: servers.into_iter().map(|(server, _)| server).collect(),
            variables: env_beside(path)?,
            inherited,
            own_files: config::load(surroundings, &Flags::default()).config.files,
        })
    }

    /// What its `.env` has.
    pub fn variables(&self) -> &Variables {
        &self.variables
    }

    /// Whether it can look up this variable.
    pub fn has_variable(&self, name: &str) -> bool {
        self.variables.get(name).or_else(|| self.inherited.get(name)).is_some()
    }

    /// The server that it has under this name.
    pub fn server(&self, name: &str) -> Option<&ServerSettings> {
        self.servers.iter().find(|server| server.name == name)
    }
}

/// What is to be done with a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It can be taken.
    New,
    /// It was taken before, or was here all along.
    AlreadyThere,
    /// There is another one of its name here.
    Differs,
    /// We read its file ourselves, once that is approved.
    OwnFile(Approval),
    /// Another client has the same.
    SameAs {
        client: Client,
        /// What it is called there.
        name: String,
        /// Whether that one has other limits.
        has_other_limits: bool,
    },
    /// It is this very program.
    Ourselves,
    /// It cannot be taken.
    Refused(String),
}

/// A server of a client.
#[derive(Debug)]
pub struct FoundServer {
    pub client: Client,
    pub file: PathBuf,
    /// Whose file that is.
    pub file_scope: FileScope,
    /// The project that it is for, of several in one file.
    pub project: Option<String>,
    /// What the client calls it.
    pub name: String,
    /// What it would be called here.
    pub becomes: String,
    /// The command or the address, without secrets.
    pub shown: String,
    /// What is to be done with it.
    pub verdict: Verdict,
    /// What is worth knowing.
    pub remarks: Vec<String>,
    /// The variables that its secrets would be in.
    pub variables: Vec<String>,
    /// In our words, if it can be taken.
    pub settings: Option<ServerSettings>,
}

impl FoundServer {
    /// Whether it may be picked.
    pub fn can_be_imported(&self, replace: bool) -> bool {
        match self.verdict {
            Verdict::New => true,
            Verdict::Differs => replace,
            Verdict::AlreadyThere
            | Verdict::OwnFile(_)
            | Verdict::SameAs { .. }
            | Verdict::Ourselves
            | Verdict::Refused(_) => false,
        }
    }

    /// Whether `--all` means it, too. A project's file may be someone else's: what is in it can
    /// start any command, so each server of it must be named.
    pub fn is_among_all(&self, replace: bool) -> bool {
        self.can_be_imported(replace) && self.file_scope == FileScope::User
    }
}

/// Everything that was found.
#[derive(Debug, Default)]
pub struct Survey {
    /// Servers, by client and file.
    pub found: Vec<FoundServer>,
    /// Files that were read, in order.
    pub files: Vec<(Client, PathBuf)>,
    /// Files that could not be.
    pub broken: Vec<(Client, FileError)>,
}

/// Whether secrets are left where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainValues {
    /// They move into the `.env` file.
    Move,
    /// They stay in the configuration.
    Keep,
}

/// Looks at the files of these clients.
pub fn survey(
    clients: &[Client],
    surroundings: &Surroundings,
    target: &Target,
    plain: PlainValues,
    naming: &mut VariableNames<'_>,
) -> Survey {
    let mut survey = Survey::default();
    for client in clients {
        for place in places::all(*client, surroundings) {
            match ClientFile::read(&place) {
                Ok(Some(file)) => {
                    survey.files.push((*client, place.path.clone()));
                    survey.add(&file, surroundings, target, plain, naming);
                }
                Ok(None) => {}
                Err(error) => survey.broken.push((*client, error)),
            }
        }
    }
    survey
}

impl Survey {
    /// The servers of one file.
    pub fn add(
        &mut self,
        file: &ClientFile,
        surroundings: &Surroundings,
        target: &Target,
        plain: PlainValues,
        naming: &mut VariableNames<'_>,
    ) {
        let home = surroundings.home();
        let project = places::project_folder(surroundings);
        let context = Context { home: home.as_deref(), project: &project, into_project: target.is_project };
        for listed in file.servers() {
            let mut found = FoundServer {
                client: file.place.client,
                file: file.place.path.clone(),
                file_scope: file.place.file_scope,
                project: listed.project.map(str::to_owned),
                name: listed.entry.key.clone(),
                becomes: listed.entry.key.clone(),
                shown: translate::outline(&listed.entry.node),
                verdict: Verdict::New,
                remarks: Vec::new(),
                variables: Vec::new(),
                settings: None,
            };
            self.judge(&mut found, file, listed, context, target, plain, naming);
            self.found.push(found);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "each is one thing that the verdict depends on")]
    fn judge(
        &mut self,
        found: &mut FoundServer,
        file: &ClientFile,
        listed: ListedServer<'_>,
        context: Context<'_>,
        target: &Target,
        plain: PlainValues,
        naming: &mut VariableNames<'_>,
    ) {
        let (mut settings, remarks) = match translate::translate(file, listed, context) {
            Translated::Server { settings, remarks } => (*settings, remarks),
            Translated::Ourselves => {
                found.verdict = Verdict::Ourselves;
                return;
            }
            Translated::Refused { why } => {
                found.verdict = Verdict::Refused(why);
                return;
            }
        };
        found.remarks = remarks;
        let as_written = settings.clone();
        let variables = secret_values::take_out(&mut settings, naming);
        found.shown = transport(&settings);
        let settings = match plain {
            PlainValues::Move => {
                found.variables = variables;
                settings
            }
            PlainValues::Keep => as_written,
        };
        if self.is_here(found, &settings, target, naming) || self.is_elsewhere(found, &settings, naming) {
            return;
        }
        self.name(found, settings, target);
    }

    /// Whether our own files have it already.
    fn is_here(
        &self,
        found: &mut FoundServer,
        settings: &ServerSettings,
        target: &Target,
        naming: &VariableNames<'_>,
    ) -> bool {
        if let Some(own) = target.own_files.iter().find(|own| own.path == found.file) {
            found.verdict = Verdict::OwnFile(own.approval);
            return true;
        }
        let suffixed = format!("{}-{}", settings.name, found.client.name());
        let same = [settings.name.clone(), suffixed].into_iter().find(|name| {
            let there = target.server(name);
            there.is_some_and(|there| {
                // One without its secret does not work in place of one that has it.
                let lacks = || still_missing::variables_of(there).iter().any(|name| !naming.is_set(name));
                is_equivalent(there, settings, naming) && (found.variables.is_empty() || !lacks())
            })
        });
        let is_here = same.is_some();
        if let Some(name) = same {
            (found.becomes, found.verdict) = (name, Verdict::AlreadyThere);
        }
        is_here
    }

    /// Whether another client has it, too. That one then gets the values that it only refers to.
    fn is_elsewhere(
        &mut self,
        found: &mut FoundServer,
        settings: &ServerSettings,
        naming: &VariableNames<'_>,
    ) -> bool {
        let is_twin = |other: &&mut FoundServer| {
            let Some(theirs) = &other.settings else { return false };
            // What is in a project's file is taken only by name: it must not stand for the user's own.
            let is_trusted = other.file_scope == FileScope::User || found.file_scope == FileScope::Project;
            is_trusted
                && match other.name == found.name {
                    true => is_equivalent(theirs, settings, naming),
                    // Under another name only what is the same in every word; and who has one server
                    // twice has a reason.
                    false => {
                        other.client != found.client
                            && theirs.transport == settings.transport
                            && theirs.enabled == settings.enabled
                            && theirs.tools == settings.tools
                    }
                }
        };
        let Some(twin) = self.found.iter_mut().find(is_twin) else { return false };
        found.becomes.clone_from(&twin.becomes);
        let Some(theirs) = &mut twin.settings else { return false };
        found.verdict = Verdict::SameAs {
            client: twin.client,
            name: twin.name.clone(),
            has_other_limits: theirs.limits != settings.limits,
        };
        let is_own = |variable: &String| twin.variables.contains(variable);
        let lacks = still_missing::variables_of(theirs)
            .iter()
            .any(|variable| !is_own(variable) && !naming.is_set(variable));
        if lacks && found.file_scope == FileScope::User && !found.variables.is_empty() {
            theirs.transport = settings.transport.clone();
            twin.variables.clone_from(&found.variables);
            twin.remarks.push(format!("with the secrets from {}, which has the same server", found.client));
        }
        true
    }

    /// Finds its name here.
    fn name(&self, found: &mut FoundServer, mut settings: ServerSettings, target: &Target) {
        let name = settings.name.clone();
        let suffixed = format!("{name}-{}", found.client.name());
        let earlier = |wanted: &str| {
            let others = self.found.iter().filter(|other| other.settings.is_some());
            others.into_iter().find(|other| other.becomes == wanted)
        };
        let mut becomes = name.clone();
        if earlier(&name).is_some() {
            let numbered = (2..100).map(|number| format!("{suffixed}-{number}"));
            let mut names = std::iter::once(suffixed.clone()).chain(numbered);
            let free = names.find(|wanted| earlier(wanted).is_none() && target.server(wanted).is_none());
            becomes = free.unwrap_or(suffixed);
            found.remarks.push(format!("renamed, because another client has a different `{}`", shown(&name)));
        }
        if !is_name(&becomes) {
            found.verdict = Verdict::Refused("its name is too long; rename it in the client".to_owned());
            return;
        }
        if target.server(&becomes).is_some() {
            found.verdict = Verdict::Differs;
        }
        settings.name.clone_from(&becomes);
        found.becomes = becomes;
        found.settings = Some(settings);
    }
}

/// Whether one that we have does what the other would do. One that is switched off does not do what
/// one does that is not, nor does one that offers other tools.
fn is_equivalent(have: &ServerSettings, other: &ServerSettings, naming: &VariableNames<'_>) -> bool {
    (have.enabled || !other.enabled)
        && have.tools == other.tools
        && is_same(have, other, |name| naming.known(name))
}
