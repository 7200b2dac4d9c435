//! What an auditor may ask about later: one thing that happened, as a line of JSON.
//!
//! Walls: what is made here holds names, figures and digests only. Texts of others are bounded, on one line,
//! and hide nothing. There is a constructor for each kind, and no other way to make an event.

use std::borrow::Cow;
use std::io;

use gristmill_domain::one_line;
use gristmill_domain::policy::TokenLimits;
use serde::Serialize;

use crate::ids::{Caller, ExecutionId};

/// No name of ours or of a server is longer; what is, is cut.
const TEXT_CHARS_MAX: usize = 200;

/// What most events come to.
const MEMBERS_BYTES: usize = 512;

/// What kind of thing happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AuditKind {
    ExecutionBegun,
    ExecutionEnded,
    /// Nothing ran.
    ExecutionRefused,
    Call,
    /// What a check of a program found before it ran.
    Finding,
    /// A system call that is not permitted, a limit, a broken protocol, a crash.
    Violation,
    /// A person's answer to a question about a call.
    Approval,
    /// A standing yes was withdrawn.
    ApprovalForgotten,
    Login,
    Logout,
    TokenRefused,
    TokenIssued,
    TokenRevoked,
    ConfigApproved,
    ConfigRevoked,
    /// A configuration file was changed by a command.
    ConfigChanged,
    ToolsApproved,
    SkillChanged,
    SessionDeleted,
    /// Personal data was given back to a model or a person.
    PrivacyRestored,
    /// The audit's own: begun, cut by retention, broken, incomplete.
    Audit,
}

impl AuditKind {
    pub const ALL: [AuditKind; 21] = [
        AuditKind::ExecutionBegun,
        AuditKind::ExecutionEnded,
        AuditKind::ExecutionRefused,
        AuditKind::Call,
        AuditKind::Finding,
        AuditKind::Violation,
        AuditKind::Approval,
        AuditKind::ApprovalForgotten,
        AuditKind::Login,
        AuditKind::Logout,
        AuditKind::TokenRefused,
        AuditKind::TokenIssued,
        AuditKind::TokenRevoked,
        AuditKind::ConfigApproved,
        AuditKind::ConfigRevoked,
        AuditKind::ConfigChanged,
        AuditKind::ToolsApproved,
        AuditKind::SkillChanged,
        AuditKind::SessionDeleted,
        AuditKind::PrivacyRestored,
        AuditKind::Audit,
    ];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            AuditKind::ExecutionBegun => "execution.begun",
            AuditKind::ExecutionEnded => "execution.ended",
            AuditKind::ExecutionRefused => "execution.refused",
            AuditKind::Call => "call",
            AuditKind::Finding => "finding",
            AuditKind::Violation => "violation",
            AuditKind::Approval => "approval",
            AuditKind::ApprovalForgotten => "approval.forgotten",
            AuditKind::Login => "login",
            AuditKind::Logout => "logout",
            AuditKind::TokenRefused => "token.refused",
            AuditKind::TokenIssued => "token.issued",
            AuditKind::TokenRevoked => "token.revoked",
            AuditKind::ConfigApproved => "config.approved",
            AuditKind::ConfigRevoked => "config.revoked",
            AuditKind::ConfigChanged => "config.changed",
            AuditKind::ToolsApproved => "tools.approved",
            AuditKind::SkillChanged => "skill.changed",
            AuditKind::SessionDeleted => "session.deleted",
            AuditKind::PrivacyRestored => "privacy.restored",
            AuditKind::Audit => "audit",
        }
    }

    /// By its written name, or `execution` for all that begin so.
    pub fn matches(self, written: &str) -> bool {
        let name = self.as_str();
        name == written || name.split_once('.').is_some_and(|(group, _)| group == written)
    }
}

/// Which execution an event opens or closes: each has one final event, whatever happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuditEffect {
    None,
    Opens(ExecutionId),
    Closes(ExecutionId),
}

/// One event on its way into the audit. The moment is added where it is written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEvent {
    kind: AuditKind,
    /// The members of a JSON object, each after a comma.
    members: String,
    /// The execution that it is about.
    execution: Option<ExecutionId>,
    effect: AuditEffect,
}

/// A check of a program found something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding<'a> {
    /// The rule's id.
    pub rule: &'a str,
    pub severity: &'a str,
    /// The program's line.
    pub line: Option<u64>,
    /// Whether the program was refused for it.
    pub refused: bool,
}

/// A person answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval<'a> {
    pub server: &'a str,
    pub tool: &'a str,
    /// `allow` or `deny`.
    pub decision: &'a str,
    /// For how long, such as `once`.
    pub scope: &'a str,
    /// By which way, such as `terminal`.
    pub by: &'a str,
    pub rule: Option<&'a str>,
    /// Why, in the words of whoever answered.
    pub reason: Option<&'a str>,
}

/// What a command did to a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigChange {
    ServerAdded,
    /// In place of another of its name.
    ServerReplaced,
    ServerRemoved,
    /// From a client, or from another system's file.
    ServerImported,
    RuleAdded,
    RuleChanged,
    SettingsChanged,
    /// In an editor: anything.
    Edited,
}

impl ConfigChange {
    pub fn as_str(self) -> &'static str {
        match self {
            ConfigChange::ServerAdded => "server added",
            ConfigChange::ServerReplaced => "server replaced",
            ConfigChange::ServerRemoved => "server removed",
            ConfigChange::ServerImported => "server imported",
            ConfigChange::RuleAdded => "rule added",
            ConfigChange::RuleChanged => "rule changed",
            ConfigChange::SettingsChanged => "settings changed",
            ConfigChange::Edited => "edited",
        }
    }
}

/// How what a server offers came to be approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovedHow {
    /// It was there when the server was first seen.
    First,
    /// Its `accept` setting takes what is new or changed.
    Accepted,
    /// A person looked at it.
    Reviewed,
}

impl ApprovedHow {
    pub fn as_str(self) -> &'static str {
        match self {
            ApprovedHow::First => "first",
            ApprovedHow::Accepted => "accepted",
            ApprovedHow::Reviewed => "reviewed",
        }
    }
}

impl AuditEvent {
    pub(crate) fn new(kind: AuditKind) -> Self {
        Self {
            kind,
            members: String::with_capacity(MEMBERS_BYTES),
            execution: None,
            effect: AuditEffect::None,
        }
    }

    pub fn kind(&self) -> AuditKind {
        self.kind
    }

    pub(crate) fn execution(&self) -> Option<&ExecutionId> {
        self.execution.as_ref()
    }

    pub(crate) fn effect(&self) -> &AuditEffect {
        &self.effect
    }

    /// As it is kept, with its moment.
    pub(crate) fn text(&self, at: &str) -> String {
        let parts = ["{\"at\":\"", at, "\",\"kind\":\"", self.kind.as_str(), "\"", &self.members, "}"];
        let json = parts.concat();
        // JSON escapes what is hidden in ASCII, but for one character.
        if json.bytes().all(|byte| byte < 0x7f) {
            return json;
        }
        match gristmill_domain::visible_json(&json) {
            Cow::Borrowed(_) => json,
            Cow::Owned(changed) => changed,
        }
    }

    pub fn finding(caller: &Caller, finding: &Finding<'_>) -> Self {
        let Finding { rule, severity, line, refused } = finding;
        let event = Self::new(AuditKind::Finding).by(caller).name("rule", rule).name("severity", severity);
        event.some("line", *line).value("refused", refused)
    }

    pub fn approval(caller: &Caller, approval: &Approval<'_>) -> Self {
        let Approval { server, tool, decision, scope, by, rule, reason } = approval;
        let event = Self::new(AuditKind::Approval).by(caller).name("server", server).name("tool", tool);
        let event = event.name("decision", decision).name("scope", scope).name("by", by);
        event.some_name("rule", *rule).some_name("reason", *reason)
    }

    /// `what` in one word, such as `limit`, with what is known of it, such as the limit's name.
    pub fn violation(caller: &Caller, what: &str, detail: &str, line: Option<u64>) -> Self {
        let event = Self::new(AuditKind::Violation).by(caller).name("what", what);
        event.name("detail", detail).some("line", line)
    }

    pub fn login(server: &str) -> Self {
        Self::new(AuditKind::Login).name("server", server)
    }

    pub fn logout(server: &str) -> Self {
        Self::new(AuditKind::Logout).name("server", server)
    }

    /// By a link that `gristmill dashboard` printed.
    pub fn dashboard_login() -> Self {
        Self::new(AuditKind::Login).name("where", "dashboard").name("by", "link")
    }

    pub fn dashboard_logout() -> Self {
        Self::new(AuditKind::Logout).name("where", "dashboard")
    }

    /// Calls of this tool are asked about again. By which way, as for an approval.
    pub fn approval_forgotten(server: &str, tool: &str, by: &str) -> Self {
        Self::new(AuditKind::ApprovalForgotten).name("server", server).name("tool", tool).name("by", by)
    }

    /// Nothing of the token but what its name was, if it had one.
    pub fn token_refused(why: &str, name: Option<&str>) -> Self {
        Self::new(AuditKind::TokenRefused).name("why", why).some_name("token", name)
    }

    /// The scope that was missing, and for which tool or kind of request.
    pub fn of_request(self, scope: &str, wanted: &str) -> Self {
        self.name("scope", scope).name("wanted", wanted)
    }

    /// How many values were given back for tokens, and of which none is named.
    pub fn restored(caller: &Caller, count: usize) -> Self {
        Self::new(AuditKind::PrivacyRestored).by(caller).value("values", &count)
    }

    pub fn token_issued(name: &str, scopes: &[&str], limits: &TokenLimits, expires: Option<&str>) -> Self {
        let servers = cut(&limits.servers);
        let limits = TokenLimits { servers, tools: cut(&limits.tools), ..limits.clone() };
        Self::new(AuditKind::TokenIssued)
            .name("token", name)
            .value("scopes", &scopes)
            .some("limits", (!limits.is_empty()).then_some(limits))
            .some_name("expires", expires)
    }

    pub fn token_revoked(name: &str) -> Self {
        Self::new(AuditKind::TokenRevoked).name("token", name)
    }

    /// A project's file, exactly as it is now.
    pub fn config_approved(file: &str) -> Self {
        Self::new(AuditKind::ConfigApproved).name("file", file)
    }

    pub fn config_revoked(file: &str) -> Self {
        Self::new(AuditKind::ConfigRevoked).name("file", file)
    }

    /// What was done to a file, by names only: no command, no address, and no value of a setting.
    pub fn config_changed(what: ConfigChange, file: &str) -> Self {
        Self::new(AuditKind::ConfigChanged).name("what", what.as_str()).name("file", file)
    }

    /// The server that it is about.
    pub fn of_server(self, server: &str) -> Self {
        self.name("server", server)
    }

    /// The rule that it is about.
    pub fn of_rule(self, server: &str, tool: &str, decision: &str) -> Self {
        self.name("server", server).name("tool", tool).name("decision", decision)
    }

    /// The settings that it is about, such as `llm.model`.
    pub fn of_settings(self, names: &[String]) -> Self {
        self.value("settings", &cut(names))
    }

    pub fn tools_approved(server: &str, tools: &[String], how: ApprovedHow) -> Self {
        Self::new(AuditKind::ToolsApproved)
            .name("server", server)
            .name("how", how.as_str())
            .value("tools", &cut(tools))
            .value("count", &tools.len())
    }

    /// How many prompts, resources and words about itself were approved with a server's tools.
    pub fn and_others(self, count: usize) -> Self {
        self.some("others", (count > 0).then_some(count))
    }

    /// Saved, deleted, rolled back, approved: how, and by whom.
    pub fn skill_changed(how: &str, skill: &str, version: i64, hash: &str, by: &str) -> Self {
        Self::new(AuditKind::SkillChanged)
            .name("how", how)
            .name("skill", skill)
            .value("version", &version)
            .name("skill_hash", hash)
            .name("by", by)
    }

    /// `how`: ended by somebody, or idle for too long.
    pub fn session_deleted(session: &str, owner: &str, how: &str) -> Self {
        Self::new(AuditKind::SessionDeleted).name("caller", owner).name("session", session).name("how", how)
    }

    pub(crate) fn opening(self, execution: &ExecutionId) -> Self {
        Self { effect: AuditEffect::Opens(execution.clone()), ..self }
    }

    pub(crate) fn closing(self, execution: &ExecutionId) -> Self {
        Self { effect: AuditEffect::Closes(execution.clone()), ..self }
    }

    /// Whoever did it.
    pub(crate) fn by(mut self, caller: &Caller) -> Self {
        let Caller { owner, token, client, session, session_name: _, execution, .. } = caller;
        self.execution.clone_from(execution);
        self.name("caller", &owner.0)
            .some_name("token", token.as_ref().map(|token| token.name.as_str()))
            .some_name("client", client.as_ref().map(|client| client.name.as_str()))
            .some_name("session", session.as_ref().map(|session| session.as_str()))
            .some_name("execution", execution.as_ref().map(ExecutionId::as_str))
    }

    /// A name, whoever gave it.
    pub(crate) fn name(self, key: &'static str, name: &str) -> Self {
        match name.len() <= TEXT_CHARS_MAX && is_plain(name) {
            true => self.plain(key, name),
            false => self.value(key, &one_line(name, TEXT_CHARS_MAX)),
        }
    }

    pub(crate) fn some_name(self, key: &'static str, name: Option<&str>) -> Self {
        match name {
            Some(name) => self.name(key, name),
            None => self,
        }
    }

    pub(crate) fn some<T: Serialize>(self, key: &'static str, value: Option<T>) -> Self {
        match value {
            Some(value) => self.value(key, &value),
            None => self,
        }
    }

    fn plain(mut self, key: &'static str, word: &str) -> Self {
        for part in [",\"", key, "\":\"", word, "\""] {
            self.members.push_str(part);
        }
        self
    }

    pub(crate) fn value(mut self, key: &'static str, value: &impl Serialize) -> Self {
        let before = self.members.len();
        for part in [",\"", key, "\":"] {
            self.members.push_str(part);
        }
        // Numbers, flags and lists of names: there is nothing in them that cannot be written.
        if serde_json::to_writer(TextWriter(&mut self.members), value).is_err() {
            self.members.truncate(before);
        }
        self
    }
}

/// The first of many names, each on one line.
fn cut(names: &[String]) -> Vec<String> {
    const NAMED_MAX: usize = 100;
    names.iter().take(NAMED_MAX).map(|name| one_line(name, TEXT_CHARS_MAX)).collect()
}

/// Writes JSON into a text, without one of its own for each value.
struct TextWriter<'a>(&'a mut String);

impl io::Write for TextWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // JSON is written in whole characters.
        let text = str::from_utf8(bytes).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
        self.0.push_str(text);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether it's words with a space between them, as most names are: nothing of them is left out, written out or escaped.
fn is_plain(name: &str) -> bool {
    let mut is_after_space = true;
    for byte in name.bytes() {
        let is_space = byte == b' ';
        let is_of_word = byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\');
        if !(is_of_word || is_space && !is_after_space) {
            return false;
        }
        is_after_space = is_space;
    }
    !is_after_space || name.is_empty()
}

/// Where events go. Nobody waits for them here.
pub trait AuditLog: Send + Sync + 'static {
    /// Must not block.
    fn note(&self, event: AuditEvent);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{Client, Owner, SessionId, TokenRef};

    #[test]
    fn an_event_is_one_line_of_json_in_which_nothing_is_hidden() {
        let caller = Caller {
            token: Some(TokenRef {
                name: "laptop".to_owned(),
                identity: "secret-identity".to_owned(),
                limits: None,
            }),
            client: Some(Client { name: "evil\n\u{1b}[2J\u{202e}".to_owned(), version: String::new() }),
            session: SessionId::read("abcdefghijkmnpqrstuv"),
            ..Caller::of(Owner("http:laptop".to_owned()))
        };
        let event = AuditEvent::violation(&caller, "limit", "wall_time", Some(3));
        let text = event.text("2026-07-28T09:30:00.000Z");
        assert_eq!(
            text,
            "{\"at\":\"2026-07-28T09:30:00.000Z\",\"kind\":\"violation\",\"caller\":\"http:laptop\",\
             \"token\":\"laptop\",\"client\":\"evil \\\\u{1b}[2J\\\\u{202e}\",\
             \"session\":\"abcdefghijkmnpqrstuv\",\"what\":\"limit\",\"detail\":\"wall_time\",\"line\":3}"
        );
        assert!(text.is_ascii() && !text.contains("secret"));
    }

    #[test]
    fn a_name_reads_the_same_whether_it_is_plain_or_not() {
        let texts =
            ["", "word", "two words", " a", "a ", "a  b", " ", "a\tb", "a\"b", "a\\b", "a\u{7f}b", "é b"];
        for text in texts {
            let event = AuditEvent::new(AuditKind::Call);
            let slowly = event.clone().value("name", &one_line(text, TEXT_CHARS_MAX));
            assert_eq!(event.name("name", text), slowly, "{text:?}");
        }
        let long = "a b ".repeat(TEXT_CHARS_MAX);
        let event = AuditEvent::new(AuditKind::Call);
        let cut = event.clone().value("name", &one_line(&long, TEXT_CHARS_MAX));
        assert_eq!(event.name("name", &long), cut);
    }

    #[test]
    fn a_token_is_issued_with_its_limits_by_name_and_a_file_changed_without_its_values() {
        let limits = TokenLimits {
            servers: vec!["crm\n\u{1b}[2J".to_owned()],
            read_only: true,
            calls_per_minute: Some(30),
            ..TokenLimits::default()
        };
        let check = |event: AuditEvent, expected: &str| {
            assert_eq!(event.text("now"), format!("{{\"at\":\"now\",\"kind\":{expected}}}"));
        };
        check(
            AuditEvent::token_issued("laptop", &["search"], &limits, None),
            "\"token.issued\",\"token\":\"laptop\",\"scopes\":[\"search\"],\"limits\":{\"servers\":\
             [\"crm \\\\u{1b}[2J\"],\"calls_per_minute\":30,\"read_only\":true}",
        );
        check(
            AuditEvent::token_issued("local", &["execute"], &TokenLimits::default(), Some("later")),
            "\"token.issued\",\"token\":\"local\",\"scopes\":[\"execute\"],\"expires\":\"later\"",
        );
        check(
            AuditEvent::config_changed(ConfigChange::RuleAdded, "/a.toml").of_rule("crm", "get_*", "allow"),
            "\"config.changed\",\"what\":\"rule added\",\"file\":\"/a.toml\",\"server\":\"crm\",\
             \"tool\":\"get_*\",\"decision\":\"allow\"",
        );
        let tools: Vec<String> = (0..102).map(|number| format!("t{number}")).collect();
        let text = AuditEvent::tools_approved("crm", &tools, ApprovedHow::First).and_others(3).text("now");
        assert!(
            text.contains("\"how\":\"first\"") && text.ends_with("\"count\":102,\"others\":3}"),
            "{text}"
        );
        assert!(text.contains("\"t99\"") && !text.contains("\"t100\""), "{text}");
    }

    #[test]
    fn kinds_are_found_by_name_and_by_group() {
        let found = |written: &str| {
            AuditKind::ALL.into_iter().filter(|kind| kind.matches(written)).map(AuditKind::as_str).collect()
        };
        let check = |written: &str, expected: &[&str]| {
            let found: Vec<&str> = found(written);
            assert_eq!(found, expected, "{written}");
        };
        check("call", &["call"]);
        check("token", &["token.refused", "token.issued", "token.revoked"]);
        check("execution.ended", &["execution.ended"]);
        check("approval", &["approval", "approval.forgotten"]);
        check("config", &["config.approved", "config.revoked", "config.changed"]);
        check("nothing", &[]);
    }
}
