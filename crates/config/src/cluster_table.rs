//! The table `cluster`: over which bus this machine meets others, and where its programs run.
//!
//! Only a user's own file has it: it says who may be handed programs, and with which key.

use std::path::PathBuf;

use gristmill_gateway::domain::{Part, Reference, SecretText};
use gristmill_gateway::ports::{RemoteProgram, RunWhere};
use serde_json::{Value as Json, json};

use super::bus_url::BusUrl;
use super::cluster_names::{CLUSTER_CHARS_MAX, CLUSTER_DEFAULT, NODE_CHARS_MAX, is_plain_name};
use super::cluster_places::{self, PlaceRule, run_word};
use super::env_file::Variables;
use super::fields::Fields;
use super::origin::Origin;
use super::problem::{ProblemKind, Problems};
use super::references::{self, Folders};
use super::tree::{Node, Value};

pub const TABLE: &str = "cluster";
pub(super) const PLACE: &str = "place";
pub(super) const KEYS: [&str; 12] =
    ["nats", "name", "node", "nkey", "ca", "certificate", "key", "run", "takes", "labels", STATE_KEY, PLACE];
pub(super) const STATE_KEY: &str = "state_key";

/// Servers of one bus.
const URLS_MAX: usize = 16;
/// Programs of others at once. More is a mistake.
pub(super) const TAKES_MAX: u64 = 1_000;

/// A cluster as one machine is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterSettings {
    /// Servers of one bus; any of them will do.
    pub urls: Vec<BusUrl>,
    /// Which cluster on that bus.
    pub name: String,
    /// What this machine is called; by its host name if nothing is said.
    pub node: Option<String>,
    /// An NKey seed: one reference, and no text beside it.
    pub nkey: Option<SecretText>,
    /// The only roots that the bus's certificate may come from; those of the system if nothing is said.
    pub ca: Option<PathBuf>,
    pub client_certificate: Option<ClientCertificate>,
    /// Where programs run that no rule is about.
    pub run: RunWhere,
    /// How many programs of other gateways this gateway runs at once.
    pub takes: u64,
    /// What this machine is, for programs that ask for it.
    pub labels: Vec<String>,
    /// What seals the state that gateways share: one reference, and no text beside it. `None`: this gateway has a
    /// state of its own.
    pub state_key: Option<SecretText>,
    /// The first that fits a program decides.
    pub places: Vec<PlaceRule>,
}

/// What a bus knows this machine by, beside its NKey.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl ClusterSettings {
    /// Where a program runs, and what a node must be to run it.
    pub fn place_of(&self, program: &RemoteProgram) -> (RunWhere, &[String]) {
        let rule = self.places.iter().find(|rule| rule.fits(program));
        rule.map_or((self.run, &[]), |rule| (rule.run, &rule.labels))
    }

    /// Whether any program of this gateway may run on a node.
    pub fn uses_nodes(&self) -> bool {
        let mut all = self.places.iter().map(|rule| rule.run).chain([self.run]);
        all.any(|run| run != RunWhere::Here)
    }

    /// Key and value, as a file would have them; what nobody said is left out, and so are the rules.
    fn shown(&self) -> Vec<(&'static str, Json)> {
        let path = |path: &PathBuf| json!(path.display().to_string());
        let certificate = self.client_certificate.as_ref();
        let values = [
            Some(json!(self.urls.iter().map(BusUrl::as_str).collect::<Vec<_>>())),
            Some(json!(self.name)),
            self.node.as_ref().map(|node| json!(node)),
            self.nkey.as_ref().map(|nkey| json!(nkey.written())),
            self.ca.as_ref().map(path),
            certificate.map(|both| path(&both.certificate)),
            certificate.map(|both| path(&both.key)),
            Some(json!(run_word(self.run))),
            Some(json!(self.takes)),
            Some(json!(self.labels)),
            self.state_key.as_ref().map(|key| json!(key.written())),
        ];
        KEYS.into_iter().zip(values).filter_map(|(key, value)| Some((key, value?))).collect()
    }
}

/// What one file says, with its line: all of it, or nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterTable {
    settings: Option<(ClusterSettings, usize)>,
}

/// What all of them come to, and who said so.
#[derive(Clone, Debug)]
pub struct ClusterConfig {
    /// None: this machine is in no cluster.
    pub settings: Option<ClusterSettings>,
    pub origin: Origin,
    /// What references of the file may mean.
    pub variables: Variables,
}

impl Default for ClusterConfig {
    fn default() -> Self {
        Self { settings: None, origin: Origin::Default, variables: Variables::default() }
    }
}

impl ClusterConfig {
    /// Lays what a file says over it.
    pub fn lay_over(
        &mut self,
        table: &ClusterTable,
        variables: &Variables,
        origin: impl Fn(usize) -> Origin,
    ) {
        if let Some((settings, line)) = &table.settings {
            self.settings = Some(settings.clone());
            self.origin = origin(*line);
            self.variables = variables.clone();
        }
    }

    /// Key, value and who said so, as a file would have them, without the rules. Nothing without a cluster.
    pub fn shown(&self) -> Vec<(&'static str, String, &Origin)> {
        let shown = self.settings.iter().flat_map(ClusterSettings::shown);
        shown.map(|(key, value)| (key, value.to_string(), &self.origin)).collect()
    }

    /// Secrets by their keys in the table.
    pub fn secrets(&self) -> impl Iterator<Item = (&'static str, &SecretText)> {
        let of = |settings| -> [(&'static str, Option<&SecretText>); 2] {
            let ClusterSettings { nkey, state_key, .. }: &ClusterSettings = settings;
            [("nkey", nkey.as_ref()), (STATE_KEY, state_key.as_ref())]
        };
        self.settings.iter().flat_map(of).filter_map(|(key, secret)| Some((key, secret?)))
    }

    pub fn places(&self) -> &[PlaceRule] {
        self.settings.as_ref().map_or(&[], |settings| &settings.places)
    }
}

/// `line` is where the table begins.
pub fn read(node: &Node, line: usize, folders: &Folders, problems: &mut Problems) -> ClusterTable {
    let Some(mut fields) = Fields::of(node, TABLE, problems) else { return ClusterTable::default() };
    let urls = urls(&mut fields, line, problems);
    let name = plain_name(&mut fields, "name", CLUSTER_CHARS_MAX, problems);
    let settings = ClusterSettings {
        urls,
        name: name.unwrap_or_else(|| CLUSTER_DEFAULT.to_owned()),
        node: plain_name(&mut fields, "node", NODE_CHARS_MAX, problems),
        nkey: reference(&mut fields, "nkey", folders, problems),
        ca: path(&mut fields, "ca", folders, problems),
        client_certificate: client_certificate(&mut fields, folders, problems),
        run: cluster_places::run(&mut fields, problems).unwrap_or_default(),
        takes: fields.whole("takes", 0, TAKES_MAX, problems).unwrap_or_default(),
        labels: cluster_places::labels(&mut fields, problems),
        state_key: reference(&mut fields, STATE_KEY, folders, problems),
        places: cluster_places::read(&mut fields, PLACE, problems),
    };
    fields.finish(&KEYS, problems);
    ClusterTable { settings: (!settings.urls.is_empty()).then_some((settings, line)) }
}

/// One address, or a list of them.
fn urls(fields: &mut Fields<'_>, line: usize, problems: &mut Problems) -> Vec<BusUrl> {
    let path = fields.path("nats");
    let Some(node) = fields.take("nats") else {
        problems.error(fields.own_path(), line, ProblemKind::NeedsKey { key: "nats" });
        return Vec::new();
    };
    let nodes = match &node.value {
        Value::List(nodes) => nodes.as_slice(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Map(_) => {
            std::slice::from_ref(node)
        }
    };
    if nodes.is_empty() {
        problems.error(&path, node.line, ProblemKind::Empty);
    }
    if nodes.len() > URLS_MAX {
        problems.error(&path, node.line, ProblemKind::TooMany { max: URLS_MAX, of: "addresses" });
    }
    let mut urls = Vec::new();
    for node in nodes.iter().take(URLS_MAX) {
        let Value::Text(text) = &node.value else {
            problems.wrong_type(&path, node, "text or a list of texts");
            continue;
        };
        match BusUrl::read(text) {
            Ok(url) => urls.push(url),
            Err(kind) => problems.error(&path, node.line, kind),
        }
    }
    urls
}

fn plain_name(fields: &mut Fields<'_>, key: &str, max: usize, problems: &mut Problems) -> Option<String> {
    let (name, line) = fields.text(key, problems)?;
    if !is_plain_name(name, max) {
        problems.error(&fields.path(key), line, ProblemKind::BadPlainName { max });
        return None;
    }
    Some(name.to_owned())
}

/// A secret in a file of configuration would be read, copied and committed with it.
fn reference(
    fields: &mut Fields<'_>,
    key: &str,
    folders: &Folders,
    problems: &mut Problems,
) -> Option<SecretText> {
    let path = fields.path(key);
    let (text, line) = fields.text(key, problems)?;
    let secret = references::secret_text(text, &path, line, folders, problems)?;
    match secret.parts() {
        [Part::Reference(Reference::Environment { default: None, .. })]
        | [Part::Reference(Reference::File(_) | Reference::Keyring(_) | Reference::Command(_))] => {
            Some(secret)
        }
        _ => {
            problems.error(&path, line, ProblemKind::NotOnlyAReference);
            None
        }
    }
}

fn path(fields: &mut Fields<'_>, key: &str, folders: &Folders, problems: &mut Problems) -> Option<PathBuf> {
    let path = fields.path(key);
    let (text, line) = fields.text(key, problems)?;
    references::path(text, &path, line, folders, problems)
}

/// Both or none.
fn client_certificate(
    fields: &mut Fields<'_>,
    folders: &Folders,
    problems: &mut Problems,
) -> Option<ClientCertificate> {
    for (key, other) in [("certificate", "key"), ("key", "certificate")] {
        let line = fields.line(key);
        if line > 0 && fields.line(other) == 0 {
            problems.error(&fields.path(key), line, ProblemKind::NeedsKey { key: other });
        }
    }
    let [certificate, key] = ["certificate", "key"].map(|key| path(fields, key, folders, problems));
    Some(ClientCertificate { certificate: certificate?, key: key? })
}
