//! Servers, while files are laid over each other: a project adds its own, and takes none of the user's strictness away.

use std::collections::BTreeMap;
use std::sync::Arc;

use gristmill_files::Surroundings;
use gristmill_gateway::domain::{Level, ServerSettings};

use super::source::Source;
use crate::approvals::Approvals;
use crate::env_file::Variables;
use crate::locations::Role;
use crate::network_table::NetworkConfig;
use crate::origin::Origin;
use crate::policy_table::PolicyConfig;
use crate::problem::{Place, Problem, ProblemKind, Severity};
use crate::resolved::{Approval, ConfiguredServer};

/// Servers by name, while files are laid over each other.
pub(super) struct Resolving<'a> {
    surroundings: &'a Surroundings,
    pub servers: BTreeMap<String, ConfiguredServer>,
    user_variables: Variables,
}

impl<'a> Resolving<'a> {
    pub fn new(surroundings: &'a Surroundings) -> Self {
        Self { surroundings, servers: BTreeMap::new(), user_variables: Variables::default() }
    }

    pub fn take_servers(&mut self, source: &mut Source, approvals: &Approvals, problems: &mut Vec<Problem>) {
        // A project's variables are for its own servers; they change nothing of the user's.
        let variables = match source.file.approval {
            Approval::Given => source.variables.over(&self.user_variables),
            Approval::Missing | Approval::Outdated => Variables::default(),
        };
        let variables = Arc::new(variables.without(|name| self.surroundings.variable(name).is_some()));
        if source.file.role == Role::User {
            self.user_variables = source.variables.clone();
        }
        for (mut settings, line) in std::mem::take(&mut source.document.servers) {
            let name = settings.name.clone();
            let (approval, files) = source.approval_of(&settings, approvals, problems);
            let place =
                Place { file: Some(source.file.path.clone()), line: Some(line), key: Some(name.clone()) };
            let weaker = match self.servers.get(&name).map(|server| &server.origin) {
                Some(Origin::File { path, .. }) if *path != source.file.path => Some(path.clone()),
                Some(_) | None => None,
            };
            if let Some(file) = weaker {
                // A file that nobody approved must not take the user's own server away.
                if approval != Approval::Given {
                    problems.push(Problem {
                        severity: Severity::Warning,
                        place,
                        kind: ProblemKind::Shadowed { file },
                    });
                    continue;
                }
                if let Some(weaker) = self.servers.get(&name).filter(|_| source.file.role == Role::Project) {
                    keep_strictness(&mut settings, &weaker.settings, &place, problems);
                }
                problems.push(Problem {
                    severity: Severity::Note,
                    place,
                    kind: ProblemKind::Replaces { file },
                });
            }
            let server = ConfiguredServer {
                settings,
                origin: source.origin(line),
                approval,
                variables: variables.clone(),
                files,
            };
            self.servers.insert(name, server);
        }
    }
}

impl Resolving<'_> {
    /// Hosts that programs may reach become a server among the others, with its rules above the user's own.
    pub fn take_hosts(
        &mut self,
        network: &NetworkConfig,
        level: Level,
        policy: &mut PolicyConfig,
        problems: &mut Vec<Problem>,
    ) {
        let Some(settings) = network.server() else { return };
        let origin = network.origin();
        if level == Level::Hardened {
            let place = place_of(origin, "network.allowed_hosts");
            problems.push(Problem {
                severity: Severity::Warning,
                place,
                kind: ProblemKind::NoNetworkAtLevel,
            });
            return;
        }
        let name = settings.name.clone();
        if let Some(other) = self.servers.get(&name) {
            let severity =
                if other.approval == Approval::Given { Severity::Error } else { Severity::Warning };
            let place = place_of(&other.origin, &format!("servers.{name}"));
            problems.push(Problem { severity, place, kind: ProblemKind::HostsServerName });
        }
        let variables = network.variables.clone();
        let variables = Arc::new(variables.without(|name| self.surroundings.variable(name).is_some()));
        let (origin, files) = (origin.clone(), Variables::default());
        let server = ConfiguredServer { settings, origin, approval: Approval::Given, variables, files };
        self.servers.insert(name, server);
        policy.settings.user.splice(0..0, network.rules());
    }
}

fn place_of(origin: &Origin, key: &str) -> Place {
    let key = Some(key.to_owned());
    match origin {
        Origin::File { path, line } => Place { file: Some(path.clone()), line: Some(*line), key },
        Origin::Variable(_) | Origin::Flag | Origin::Default => Place { file: None, line: None, key },
    }
}

/// A project adds marks to the user's own server and takes none away, and makes its privacy stricter only.
fn keep_strictness(
    settings: &mut ServerSettings,
    own: &ServerSettings,
    place: &Place,
    problems: &mut Vec<Problem>,
) {
    settings.marks.add(&own.marks);
    if settings.privacy.is_some() && settings.privacy < own.privacy {
        let key = Some(format!("servers.{}.privacy", settings.name));
        let place = Place { key, ..place.clone() };
        problems.push(Problem { severity: Severity::Warning, place, kind: ProblemKind::LessPrivate });
    }
    settings.privacy = settings.privacy.max(own.privacy);
}
