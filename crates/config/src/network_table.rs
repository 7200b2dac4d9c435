//! The table `network`: hosts that programs may send requests to, through the gateway.

use gristmill_gateway::domain::policy::{Budgets, Decision, Mark, Marks, Rule};
use gristmill_gateway::domain::{
    Accept, AllowedHost, HTTP_SERVER, HostCredential, HostsSettings, Level, ServerLimits, ServerSettings,
    Transport, cut_chars, exact_bytes, exact_ms,
};

use super::env_file::Variables;
use super::fields::Fields;
use super::origin::Origin;
use super::problem::{ProblemKind, Problems};
use super::quantities::{self, Quantity};
use super::references::{self, Folders};
use super::server_transport::is_header;
use super::tree::{Node, join};

pub const TABLE: &str = "network";
pub(super) const KEYS: [&str; 6] =
    ["allowed_hosts", "timeout", "request_size", "response_size", "requests_per_execution", "credentials"];
pub(super) const CREDENTIAL_KEYS: [&str; 2] = ["header", "value"];

/// More than anyone lists, and few enough to look through.
const HOSTS_MAX: usize = 200;
pub(super) const REQUESTS_MAX: u64 = 10_000;
const DESCRIPTION_CHARS_MAX: usize = 200;

// A program doesn't wait longer, and an answer is held in memory a few times over.
const TIMEOUT: Quantity = Quantity::time("a time, such as \"30s\"", "\"30s\"", (100, 300_000));
const SIZE: Quantity = Quantity::size("a size, such as \"4M\"", "\"4M\"", (1 << 10, 8 << 20));

/// What one file says, each with its line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetworkTable {
    hosts: Option<(Vec<AllowedHost>, usize)>,
    timeout_ms: Option<(u64, usize)>,
    request_bytes: Option<(u64, usize)>,
    response_bytes: Option<(u64, usize)>,
    requests: Option<(u64, usize)>,
    credentials: Vec<HostCredential>,
}

/// What all of them come to, and who said so.
#[derive(Clone, Debug)]
pub struct NetworkConfig {
    /// None: programs have no network.
    pub hosts: Vec<AllowedHost>,
    pub timeout_ms: u64,
    pub request_bytes: u64,
    pub response_bytes: u64,
    pub requests_per_execution: u64,
    pub credentials: Vec<HostCredential>,
    /// Of the keys, in their order, but for the credentials.
    origins: [Origin; 5],
    /// What references of the file may mean.
    pub variables: Variables,
}

impl Default for NetworkConfig {
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            timeout_ms: 30_000,
            request_bytes: 1 << 20,
            response_bytes: 4 << 20,
            requests_per_execution: 100,
            credentials: Vec::new(),
            origins: [const { Origin::Default }; 5],
            variables: Variables::default(),
        }
    }
}

impl NetworkConfig {
    /// Lays what a file says over it. Credentials belong to the hosts of the same file.
    pub fn lay_over(
        &mut self,
        table: &NetworkTable,
        variables: &Variables,
        origin: impl Fn(usize) -> Origin,
    ) {
        if let Some((hosts, line)) = &table.hosts {
            (self.hosts, self.origins[0]) = (hosts.clone(), origin(*line));
            self.credentials = table.credentials.clone();
            self.variables = variables.clone();
        }
        let numbers = [
            (&mut self.timeout_ms, table.timeout_ms),
            (&mut self.request_bytes, table.request_bytes),
            (&mut self.response_bytes, table.response_bytes),
            (&mut self.requests_per_execution, table.requests),
        ];
        for ((place, said), by) in numbers.into_iter().zip(&mut self.origins[1..]) {
            if let Some((number, line)) = said {
                (*place, *by) = (number, origin(line));
            }
        }
    }

    /// Who allowed hosts.
    pub fn origin(&self) -> &Origin {
        &self.origins[0]
    }

    /// Key, value and who said so, as a file would have them, without the credentials.
    pub fn shown(&self) -> Vec<(&'static str, String, &Origin)> {
        let hosts: Vec<&str> = self.hosts.iter().map(AllowedHost::as_str).collect();
        let values = [
            format!("{hosts:?}"),
            format!("{:?}", exact_ms(self.timeout_ms)),
            format!("{:?}", exact_bytes(self.request_bytes)),
            format!("{:?}", exact_bytes(self.response_bytes)),
            self.requests_per_execution.to_string(),
        ];
        let shown = KEYS.into_iter().zip(values).zip(&self.origins);
        shown.map(|((key, value), by)| (key, value, by)).collect()
    }

    /// The server whose tools are the requests; none without hosts.
    pub fn server(&self) -> Option<ServerSettings> {
        if self.hosts.is_empty() {
            return None;
        }
        let hosts = HostsSettings {
            allowed: self.hosts.clone(),
            credentials: self.credentials.clone(),
            request_bytes: self.request_bytes,
        };
        let names: Vec<&str> = self.hosts.iter().map(AllowedHost::as_str).collect();
        let description = format!("HTTP requests to {}", names.join(", "));
        Some(ServerSettings {
            description: Some(cut_chars(&description, DESCRIPTION_CHARS_MAX)),
            // Its tools are ours: they change with us.
            accept: Accept::Everything,
            limits: ServerLimits {
                call_ms: self.timeout_ms,
                result_bytes: self.response_bytes,
                ..ServerLimits::default()
            },
            // Anybody may have written what a host says, and what it is told leaves the house.
            marks: Marks::of([Mark::Untrusted, Mark::External]),
            ..ServerSettings::new(HTTP_SERVER, Transport::Hosts(hosts))
        })
    }

    /// What stands above every rule of the user's: programs of the strictest level have no network at all, and
    /// the others a number of requests.
    pub fn rules(&self) -> Vec<(Rule, String)> {
        let of_http = |name: &str| Rule {
            name: Some(format!("{TABLE}: {name}")),
            server: Some(HTTP_SERVER.to_owned()),
            ..Rule::default()
        };
        let hardened = Rule {
            level: Some(Level::Hardened),
            decision: Some(Decision::Deny),
            reason: Some("programs at level hardened have no network".to_owned()),
            ..of_http("never at hardened")
        };
        let calls_per_execution = u32::try_from(self.requests_per_execution).ok();
        let budgets = Budgets { calls_per_execution, ..Budgets::default() };
        let counted = Rule { budgets, ..of_http(KEYS[4]) };
        vec![(hardened, self.origin().to_string()), (counted, self.origins[4].to_string())]
    }
}

pub fn read(node: &Node, folders: &Folders, problems: &mut Problems) -> NetworkTable {
    let Some(mut fields) = Fields::of(node, TABLE, problems) else { return NetworkTable::default() };
    let hosts = hosts(&mut fields, problems);
    let requests_line = fields.line(KEYS[4]);
    let table = NetworkTable {
        timeout_ms: quantities::read(&mut fields, KEYS[1], &TIMEOUT, problems),
        request_bytes: quantities::read(&mut fields, KEYS[2], &SIZE, problems),
        response_bytes: quantities::read(&mut fields, KEYS[3], &SIZE, problems),
        requests: fields.whole(KEYS[4], 1, REQUESTS_MAX, problems).map(|requests| (requests, requests_line)),
        credentials: credentials(
            &mut fields,
            hosts.as_ref().map_or(&[], |(hosts, _)| hosts),
            folders,
            problems,
        ),
        hosts,
    };
    fields.finish(&KEYS, problems);
    table
}

fn hosts(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<(Vec<AllowedHost>, usize)> {
    let line = fields.line(KEYS[0]);
    if line == 0 {
        return None;
    }
    let texts = fields.texts(KEYS[0], problems);
    if texts.len() > HOSTS_MAX {
        problems.error(&fields.path(KEYS[0]), line, ProblemKind::TooManyHosts { max: HOSTS_MAX });
        return None;
    }
    let mut hosts = Vec::new();
    for (index, (text, line)) in texts.into_iter().enumerate() {
        match AllowedHost::read(&text) {
            Some(host) => hosts.push(host),
            None => {
                let key = format!("{}[{index}]", fields.path(KEYS[0]));
                problems.error(&key, line, ProblemKind::BadAllowedHost);
            }
        }
    }
    Some((hosts, line))
}

fn credentials(
    fields: &mut Fields<'_>,
    hosts: &[AllowedHost],
    folders: &Folders,
    problems: &mut Problems,
) -> Vec<HostCredential> {
    let Some(node) = fields.take(KEYS[5]) else { return Vec::new() };
    let path = fields.path(KEYS[5]);
    if Fields::of(node, &path, problems).is_none() {
        return Vec::new();
    }
    let mut credentials = Vec::new();
    for entry in node.entries().iter().take(HOSTS_MAX) {
        let path = join(&path, &entry.key);
        let Some(host) = AllowedHost::read(&entry.key) else {
            problems.error(&path, entry.line, ProblemKind::BadAllowedHost);
            continue;
        };
        if !hosts.iter().any(|allowed| allowed.is_same_as(&host)) {
            problems.error(&path, entry.line, ProblemKind::NotAmongHosts);
        } else if !host.keeps_secrets() {
            problems.error(&path, entry.line, ProblemKind::NotEncrypted);
        }
        credentials.extend(credential(host, &entry.node, &path, folders, problems));
    }
    credentials
}

fn credential(
    host: AllowedHost,
    node: &Node,
    path: &str,
    folders: &Folders,
    problems: &mut Problems,
) -> Option<HostCredential> {
    let mut fields = Fields::of(node, path, problems)?;
    let [header, value] = CREDENTIAL_KEYS.map(|key| {
        let text = fields.text(key, problems);
        if text.is_none() {
            problems.error(&join(path, key), node.line, ProblemKind::Empty);
        }
        text
    });
    fields.finish(&CREDENTIAL_KEYS, problems);
    let ((header, header_line), (value, line)) = (header?, value?);
    if !is_header(header, value) {
        problems.error(&join(path, CREDENTIAL_KEYS[0]), header_line, ProblemKind::BadHeader);
        return None;
    }
    let value = references::secret_text(value, &join(path, CREDENTIAL_KEYS[1]), line, folders, problems)?;
    Some(HostCredential { host, header: header.to_owned(), value })
}
