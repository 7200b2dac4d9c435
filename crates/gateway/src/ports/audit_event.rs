//! What an auditor may ask about later: one thing that happened, as a line of JSON.
//!
//! Walls: what is made here holds names, figures and digests only. Texts of others are bounded, on one line,
//! and hide nothing. There is a constructor for each kind, and no other way to make an event.

use std::borrow::Cow;
use std::io;

use gristmill_domain::one_line;
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
    Login,
    Logout,
    TokenRefused,
    TokenIssued,
    TokenRevoked,
    ConfigApproved,
    ConfigRevoked,
    ToolsApproved,
    SkillChanged,
    SessionDeleted,
    /// Personal data was given back to a model or a person.
    PrivacyRestored,
    /// The audit's own: begun, cut by retention, broken, incomplete.
    Audit,
}

impl AuditKind {
    pub const ALL: [AuditKind; 19] = [
        AuditKind::ExecutionBegun,
        AuditKind::ExecutionEnded,
        AuditKind::ExecutionRefused,
        AuditKind::Call,
        AuditKind::Finding,
        AuditKind::Violation,
        AuditKind::Approval,
        AuditKind::Login,
        AuditKind::Logout,
        AuditKind::TokenRefused,
        AuditKind::TokenIssued,
        AuditKind::TokenRevoked,
        AuditKind::ConfigApproved,
        AuditKind::ConfigRevoked,
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
            AuditKind::Login => "login",
            AuditKind::Logout => "logout",
            AuditKind::TokenRefused => "token.refused",
            AuditKind::TokenIssued => "token.issued",
            AuditKind::TokenRevoked => "token.revoked",
            AuditKind::ConfigApproved => "config.approved",
            AuditKind::ConfigRevoked => "config.revoked",
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

    pub fn token_issued(name: &str, scopes: &[&str], expires: Option<&str>) -> Self {
        Self::new(AuditKind::TokenIssued)
            .name("token", name)
            .value("scopes", &scopes)
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

    pub fn tools_approved(server: &str, tools: &[String]) -> Self {
        const NAMED_MAX: usize = 100;
        let named: Vec<String> =
            tools.iter().take(NAMED_MAX).map(|tool| one_line(tool, TEXT_CHARS_MAX)).collect();
        Self::new(AuditKind::ToolsApproved)
            .name("server", server)
            .value("tools", &named)
            .value("count", &tools.len())
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
        check("nothing", &[]);
    }
}
