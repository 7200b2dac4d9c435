//! What can be wrong with a configuration, and where.
//!
//! Problems are collected, not thrown: whoever wrote a file wants to hear all of them at once. No
//! message holds a value of the file, which may be a secret; names and paths are made harmless.

use std::fmt;
use std::path::{Path, PathBuf};

use gristmill_gateway::domain::policy::ConditionError;
use gristmill_gateway::domain::{
    Accept, LimitError, SecretTextError, UnknownLevel, UnknownPrivacyMode, nearest,
};

use super::syntax_error::SyntaxError;
use super::tree::Node;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; nothing is lost.
    Note,
    /// Something is left out or may surprise.
    Warning,
    /// The configuration cannot be used as it is.
    Error,
}

/// One thing about a configuration.
#[derive(Debug)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    pub place: Place,
    pub kind: ProblemKind,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file; none for the environment and flags.
    pub file: Option<PathBuf>,
    /// From 1.
    pub line: Option<usize>,
    /// The path of the key: `servers.github.url`; or the variable, or the flag.
    pub key: Option<String>,
}

/// What is the matter.
#[derive(Debug, thiserror::Error)]
pub enum ProblemKind {
    /// The file could not be read.
    #[error(transparent)]
    Read(#[from] super::read_file::ReadError),
    /// The file is not in its format.
    #[error("can't be parsed: {0}")]
    Syntax(#[from] SyntaxError),
    /// A name twice in one table.
    #[error("this key appears twice; keep one")]
    Repeated,
    /// A key that there is not.
    #[error("unknown key{}; expected one of {allowed}", did_you_mean(.nearest))]
    UnknownKey {
        /// The closest there is.
        nearest: Option<String>,
        allowed: String,
    },
    /// A file of another system, which is never read as ours.
    #[error(
        "this is another system's configuration; `gristmill import --from {file}` translates it and says what has no \
         counterpart"
    )]
    OtherSystem {
        /// Its path, as it can be shown.
        file: String,
    },
    /// Something of another kind is needed.
    #[error("must be {expected}, not {found}")]
    WrongType {
        /// Such as "a list of texts".
        expected: &'static str,
        found: &'static str,
    },
    /// A server's name that cannot be one.
    #[error("isn't a valid server name; use 1 to 64 characters, without `.`, `/` or control characters")]
    BadName,
    /// The same server in two blocks.
    #[error("this server is already in `{block}` of the same file; keep one")]
    ServerTwice { block: String },
    /// More servers than anyone has.
    #[error("a file can have at most {max} servers")]
    TooManyServers { max: usize },
    /// Neither a program nor an address.
    #[error("needs either `command` or `url`")]
    NoTransport,
    #[error("has both `{first}` and `{second}`; keep one")]
    TwoTransports { first: String, second: String },
    /// A key that the transport has no use for.
    #[error("only applies to servers with `{needs}`")]
    WrongTransport {
        /// `command` or `url`.
        needs: &'static str,
    },
    /// A value from a list.
    #[error("must be one of {allowed}{}", did_you_mean(.nearest))]
    NotOneOf {
        allowed: String,
        /// The closest there is.
        nearest: Option<String>,
    },
    #[error(
        "the old HTTP+SSE transport isn't supported; use the server's Streamable HTTP URL with `type = \"http\"`"
    )]
    Sse,
    /// A reference that cannot be read.
    #[error("{0}{hint}", hint = dollar_hint(.0))]
    Reference(#[from] SecretTextError),
    /// VS Code asks for it.
    #[error(
        "`${{input:{id}}}` only works in VS Code; use `${{{variable}}}` and set that variable, or `${{keyring:{id}}}`"
    )]
    Input {
        /// The id of the input.
        id: String,
        /// A variable that it could be.
        variable: String,
    },
    /// A folder cannot hold references.
    #[error("can't contain references; only `${{workspaceFolder}}` and a leading `~/` are replaced")]
    ReferenceInPath,
    #[error("must start with `http://` or `https://`")]
    BadUrl,
    #[error("must start with `https://`, or with `http://` and an address of this machine")]
    NotEncrypted,
    #[error("isn't a valid HTTP header; names use letters, digits and `-`, values are one line of text")]
    BadHeader,
    #[error("isn't a valid environment variable name")]
    BadVariable,
    /// A host of a sandbox.
    #[error(
        "isn't a host; write a name, a pattern or an address with an optional port, such as `*.example.com:443`"
    )]
    BadHost,
    /// An entry of `allowed_hosts`.
    #[error(
        "isn't a host; write `api.example.com`, `*.example.com:8443` or `http://127.0.0.1:8080`: https unless it says \
         http://, one port, a star only in front of a name with two parts"
    )]
    BadAllowedHost,
    #[error("can have at most {max} hosts")]
    TooManyHosts { max: usize },
    /// A credential of a host that nobody may reach.
    #[error("isn't in `allowed_hosts`; add it there")]
    NotAmongHosts,
    /// Hosts at a level without a network.
    #[error("is ignored at level hardened: programs have no network there; use another level")]
    NoNetworkAtLevel,
    /// A server of a bus.
    #[error("isn't the address of a NATS server; write it as `tls://nats.example.com:4222`")]
    BadBusUrl,
    #[error("isn't encrypted; use `tls://`, or `nats://` with an address of this machine")]
    BusNotEncrypted,
    #[error("can't have a user or a password in it; use `nkey`, or `certificate` and `key`")]
    PasswordInUrl,
    /// A secret that stands in the file.
    #[error(
        "must be a reference such as `${{file:/etc/gristmill/secret}}`, and nothing else: the secret itself doesn't belong in this file"
    )]
    NotOnlyAReference,
    /// Of a cluster, a node or a label.
    #[error("isn't a valid name; use 1 to {max} lowercase letters, digits and `-`")]
    BadPlainName { max: usize },
    /// Labels of a program that runs on no node.
    #[error("only applies with `run = \"nodes\"` or `run = \"anywhere\"`")]
    NoNodeMeant,
    #[error("can have at most {max} {of}")]
    TooMany { max: usize, of: &'static str },
    /// A server in the way of the one that hosts are reached by.
    #[error("has the name of the built-in server for `allowed_hosts` under [network]; rename it")]
    HostsServerName,
    /// Empty where something is needed.
    #[error("can't be empty")]
    Empty,
    /// A text that a program or a protocol cannot take.
    #[error("can't contain a NUL character")]
    Nul,
    /// A number out of bounds.
    #[error("must be a whole number from {min} to {max}")]
    OutOfRange { min: u64, max: u64 },
    /// A number with a fraction, out of bounds.
    #[error("must be a number from 0 to {max}")]
    NumberOutOfRange { max: u64 },
    /// A time or size out of bounds.
    #[error("must be from {min} to {max}")]
    QuantityOutOfRange { min: String, max: String },
    /// A quantity that cannot be read.
    #[error("must be {expected}, such as {example}")]
    BadQuantity {
        /// A time or a size.
        expected: &'static str,
        /// As people write it.
        example: &'static str,
    },
    /// `enabled` and `disabled` disagree.
    #[error("contradicts `enabled`; keep one of the two")]
    Contradiction,
    #[error(transparent)]
    Level(#[from] UnknownLevel),
    #[error(transparent)]
    PrivacyMode(#[from] UnknownPrivacyMode),
    /// A limit that cannot be.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// A variable of ours that there is not.
    #[error("isn't a variable Gristmill knows{}; ignored", did_you_mean(.nearest))]
    UnknownVariable {
        /// The closest there is.
        nearest: Option<String>,
    },
    /// A variable that is not text.
    #[error("isn't UTF-8 text")]
    NotText,
    /// A line of a `.env` file.
    #[error("isn't `NAME=value`; the line is ignored")]
    BadEnvLine,
    /// A field of another client.
    #[error("{0}")]
    Foreign(Foreign),
    /// An address that smells of the old transport.
    #[error("looks like the old HTTP+SSE transport; if it fails, use the server's Streamable HTTP URL")]
    LooksLikeSse,
    /// Two files where one is read.
    #[error("is ignored because {used} exists", used = shown(&.used.display().to_string()))]
    NotRead {
        /// The one that is.
        used: PathBuf,
    },
    /// A project's file that nobody approved.
    #[error(
        "is a project file you haven't approved, so it isn't used. Review it, then run `gristmill config approve`"
    )]
    NotApproved,
    /// A project's file that changed.
    #[error(
        "has changed since you approved it, so it isn't used. Review it, then run `gristmill config approve`"
    )]
    ApprovalOutdated,
    /// A table that a project cannot have. The rest of its file is used.
    #[error(
        "is ignored in a project file, because it would affect all your data; put it in your own file (`gristmill config path` shows where)"
    )]
    UserOnly,
    /// A rule that says nothing.
    #[error("needs `decision` (allow, ask or deny), or a budget such as `calls_per_minute`")]
    NoDecision,
    /// A rule that would be taken for another in answers and records.
    #[error("is what the built-in rule about marked servers is called; use another name")]
    FlowName,
    #[error("can have at most {max} rules")]
    TooManyRules { max: usize },
    /// A condition that cannot be read.
    #[error(transparent)]
    Condition(#[from] ConditionError),
    /// A project that would permit more than its user does.
    #[error(
        "is ignored in a project file, because it would allow more than your own policy; put it in your own file (`gristmill config path` shows where)"
    )]
    Looser,
    /// A project that would let out more than its user does.
    #[error(
        "is ignored in a project file, because it would protect less personal data than your own settings; put it in your own file (`gristmill config path` shows where)"
    )]
    LessPrivate,
    /// A key that can't be left out.
    #[error("needs `{key}`")]
    NeedsKey { key: &'static str },
    /// A pattern's name that cannot be a kind's.
    #[error(
        "isn't a valid name for a kind; use up to {max} lowercase letters, digits and `_`, starting with a letter"
    )]
    BadKindName { max: usize },
    /// A pattern's name that is taken.
    #[error("has the name of a built-in kind; choose another name")]
    BuiltInKind,
    #[error("can't be used as a regular expression: {reason}")]
    BadPattern { reason: String },
    #[error("can have at most {max} patterns")]
    TooManyPatterns { max: usize },
    #[error("has `{}`, which isn't a region with phone numbers; use two-letter country codes such as US", shown(.region))]
    UnknownRegion { region: String },
    #[error("can have at most {max} bytes")]
    TooLong { max: usize },
    /// The same name in a stronger file.
    #[error("overrides the server with the same name in {file}", file = shown(&.file.display().to_string()))]
    Replaces { file: PathBuf },
    /// The same name in a file that waits.
    #[error("isn't approved yet; the server with the same name in {file} is used instead", file = shown(&.file.display().to_string()))]
    Shadowed { file: PathBuf },
    /// The store of approvals cannot be used.
    #[error(transparent)]
    Approvals(#[from] super::approvals::ApprovalsError),
    /// A reference that leads nowhere.
    #[error("needs the variable `{name}`, which isn't set; {}", where_to_set(.name, .env_file.as_deref()))]
    UnsetVariable {
        name: String,
        /// Where it can be set.
        env_file: Option<PathBuf>,
    },
    /// A program that is not installed, or elsewhere.
    #[error("runs `{}`, which {}", shown(.command), if *.is_path { "doesn't exist; fix the path" } else { "isn't on PATH; install it, or give its full path" })]
    AbsentCommand {
        command: String,
        /// Whether it is a path, and not looked for.
        is_path: bool,
    },
    /// Others can change what we run.
    #[error("is writable by other users; run `chmod go-w` on it")]
    WritableByOthers,
}

/// What became of a field that another client knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Foreign {
    /// Of no meaning here.
    #[error("is another client's setting; ignored")]
    Ignored,
    /// Somebody may rely on it.
    #[error("has no effect in another client's file; move it to a gristmill.toml or gristmill.json")]
    NoGuard,
    /// Calls that another client makes without asking.
    #[error("lets another client call tools without asking; it doesn't count here")]
    GrantNotCarried,
    /// What another client says of single tools, beyond whether they are offered.
    #[error("has settings of single tools in another client; only which tools are turned off is used")]
    ToolsOneByOne,
    /// An environment that is not read.
    #[error("is ignored; list the variables in `env`, such as `TOKEN = \"${{TOKEN}}\"`")]
    EnvFileNotRead,
    /// A key nobody here knows.
    #[error("isn't a key Gristmill knows; ignored")]
    Unknown,
    /// A number without a unit.
    #[error("is read as milliseconds; use `limits.call` to give a unit")]
    Milliseconds,
    /// A number without a unit.
    #[error("is read as seconds; use `limits.call` to give a unit")]
    Seconds,
    #[error("is Gristmill itself; ignored")]
    Ourselves,
    /// Questions that VS Code asks.
    #[error("are prompts for VS Code; ignored")]
    Inputs,
}

impl ProblemKind {
    /// A key that is not among the known ones.
    pub fn unknown_key(key: &str, known: &[&str]) -> Self {
        Self::UnknownKey { nearest: closest(key, known), allowed: known.join(", ") }
    }

    /// A word that is not among the known ones.
    pub fn not_one_of(word: &str, known: &[&str]) -> Self {
        Self::NotOneOf { allowed: known.join(", "), nearest: closest(word, known) }
    }

    pub fn not_accept(word: &str) -> Self {
        Self::not_one_of(word, &Accept::NAMES)
    }
}

/// The closest of the known words, if any is close.
pub fn closest(word: &str, known: &[&str]) -> Option<String> {
    nearest(word, known.iter().map(|known| (*known, *known)), 1).first().map(|found| (*found).to_owned())
}

fn dollar_hint(error: &SecretTextError) -> &'static str {
    match error {
        SecretTextError::Unclosed => "",
        SecretTextError::Empty(_) | SecretTextError::UnknownKind(_) | SecretTextError::BadName(_) => {
            "; to write a literal `${`, double the dollar: `$${`"
        }
    }
}

fn where_to_set(name: &str, env_file: Option<&Path>) -> String {
    match env_file {
        Some(file) => {
            let file = shown(&file.display().to_string());
            format!("add `{name}=…` to {file}, or set it in the environment")
        }
        None => "set it in the environment".to_owned(),
    }
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

/// Text of a file, harmless on a terminal and never long.
pub fn shown(text: &str) -> String {
    harmless(text, 200)
}

fn harmless(text: &str, length_max: usize) -> String {
    let harmless = |c: char| match c {
        c if c.is_control() => '\u{fffd}',
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}' => '\u{fffd}',
        c => c,
    };
    let mut shown: String = text.chars().take(length_max).map(harmless).collect();
    if text.chars().nth(length_max).is_some() {
        shown.push('…');
    }
    shown
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}", shown(&file.display().to_string()))?;
            if let Some(line) = self.line {
                write!(f, ":{line}")?;
            }
        }
        match (&self.file, &self.key) {
            (Some(_), Some(key)) => write!(f, ": `{}`", shown(key)),
            (None, Some(key)) => write!(f, "`{}`", shown(key)),
            (_, None) => Ok(()),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = match (&self.place.file, self.place.line, &self.place.key) {
            (None, _, None) => "",
            (Some(_), Some(_), None) => ": ",
            // The name of the file or the key begins the sentence.
            (Some(_), None, None) | (_, _, Some(_)) => " ",
        };
        write!(f, "{}{separator}{}", self.place, harmless(&self.kind.to_string(), 1_000))
    }
}

/// Collects what is found in one file.
#[derive(Debug, Default)]
pub struct Problems {
    file: Option<PathBuf>,
    found: Vec<Problem>,
    errors: usize,
}

/// A file with a hundred thousand wrong keys needs no hundred thousand lines to say so.
const PROBLEMS_MAX: usize = 200;

impl Problems {
    pub fn of(file: &Path) -> Self {
        Self { file: Some(file.to_owned()), ..Self::default() }
    }

    /// An error at a key.
    pub fn error(&mut self, key: &str, line: usize, kind: ProblemKind) {
        self.add(Severity::Error, key, line, kind);
    }

    /// Something at a key.
    pub fn add(&mut self, severity: Severity, key: &str, line: usize, kind: ProblemKind) {
        // Errors have a place of their own: no crowd of notes may push them out.
        let is_error = severity == Severity::Error;
        let kept = if is_error { self.errors.min(PROBLEMS_MAX) } else { self.others() };
        self.errors += usize::from(is_error);
        if kept < PROBLEMS_MAX {
            let place = Place {
                file: self.file.clone(),
                line: (line > 0).then_some(line),
                key: (!key.is_empty()).then(|| key.to_owned()),
            };
            self.found.push(Problem { severity, place, kind });
        }
    }

    fn others(&self) -> usize {
        self.found.len() - self.errors.min(PROBLEMS_MAX)
    }

    /// Whether further errors are only counted.
    pub fn is_full(&self) -> bool {
        self.errors >= PROBLEMS_MAX
    }

    /// Something of the wrong kind.
    pub fn wrong_type(&mut self, key: &str, node: &Node, expected: &'static str) {
        self.error(key, node.line, ProblemKind::WrongType { expected, found: node.value.kind() });
    }

    /// How many errors there are so far, kept or not.
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// All of them, by line.
    pub fn into_vec(mut self) -> Vec<Problem> {
        self.found.sort_by_key(|problem| problem.place.line);
        self.found
    }
}
