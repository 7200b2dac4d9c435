//! One rule: to which requests it applies, and what becomes of them.

use super::asked::{Asked, AskedKind};
use super::condition::Condition;
use super::decision::Decision;
use super::wildcard::wildcard_fits;
use crate::catalogue::other_identifier;
use crate::levels::Level;

/// A rule as it is configured. What is `None` fits everything; names are patterns with stars. What restricts also fits
/// the names by which programs know servers, tools and prompts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rule {
    /// What it is called in answers and records.
    pub name: Option<String>,
    pub server: Option<String>,
    /// A tool or a prompt by its server's name, a resource by its URI.
    pub tool: Option<String>,
    pub kind: Option<AskedKind>,
    /// Each must hold.
    pub conditions: Vec<Condition>,
    pub read_only_hint: Option<bool>,
    pub destructive_hint: Option<bool>,
    pub idempotent_hint: Option<bool>,
    /// A tool that says nothing of this is an open one, as the protocol has it.
    pub open_world_hint: Option<bool>,
    /// Nobody on this machine has a token: a pattern fits those who have one.
    pub token: Option<String>,
    pub client: Option<String>,
    pub session: Option<String>,
    pub level: Option<Level>,
    /// `None` if it only has a budget: the lines below decide.
    pub decision: Option<Decision>,
    pub budgets: Budgets,
    pub reason: Option<String>,
}

/// How often, for each caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budgets {
    pub calls_per_minute: Option<u32>,
    pub calls_per_execution: Option<u32>,
    pub calls_per_day: Option<u32>,
}

impl Budgets {
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }
}

impl Rule {
    pub fn deciding(decision: Decision) -> Self {
        Self { decision: Some(decision), ..Self::default() }
    }

    /// Whether the rule is about a request, but for its arguments.
    pub(super) fn may_fit(&self, asked: &Asked<'_>) -> bool {
        self.field_misfit(asked).is_none()
    }

    /// Whether it is about a request's arguments.
    pub(super) fn has_arguments_of(&self, asked: &Asked<'_>) -> bool {
        self.conditions.iter().all(|condition| condition.fits(&asked.arguments))
    }

    /// What a request lacks for this rule; arguments last.
    pub(super) fn misfit(&self, asked: &Asked<'_>) -> Option<Misfit<'_>> {
        if let Some(what) = self.field_misfit(asked) {
            return Some(Misfit::Field(what));
        }
        let mut conditions = self.conditions.iter();
        conditions.find(|condition| !condition.fits(&asked.arguments)).map(Misfit::Argument)
    }

    /// The cheap questions first.
    fn field_misfit(&self, asked: &Asked<'_>) -> Option<&'static str> {
        let named = |what: &'static str, pattern: &'_ Option<String>, given: Option<&str>| {
            let pattern = pattern.as_deref()?;
            let fits = given.is_some_and(|given| wildcard_fits(pattern, given));
            (!fits).then_some(what)
        };
        let hinted = |what: &'static str, wanted: Option<bool>, given: Option<bool>| {
            wanted.filter(|wanted| *wanted != given.unwrap_or(false)).map(|_| what)
        };
        let kind = self.kind.filter(|kind| *kind != asked.kind).map(|_| "kind");
        let level = self.level.filter(|level| *level != asked.level).map(|_| "level");
        let is_tool = asked.kind == AskedKind::Tool;
        let has_hint = self.hints().iter().any(|(_, hint)| hint.is_some());
        kind.or(level)
            .or_else(|| self.misnamed("server", &self.server, asked.server))
            .or_else(|| match asked.kind {
                AskedKind::Tool | AskedKind::Prompt => self.misnamed("tool", &self.tool, asked.name),
                AskedKind::Resource => named("tool", &self.tool, Some(asked.name)),
            })
            .or_else(|| (has_hint && !is_tool).then_some("kind"))
            .or_else(|| hinted("read_only_hint", self.read_only_hint, asked.hints.read_only))
            .or_else(|| hinted("destructive_hint", self.destructive_hint, asked.hints.destructive))
            .or_else(|| hinted("idempotent_hint", self.idempotent_hint, asked.hints.idempotent))
            .or_else(|| {
                let given = asked.hints.open_world.unwrap_or(true);
                hinted("open_world_hint", self.open_world_hint, Some(given))
            })
            .or_else(|| named("token", &self.token, asked.token))
            .or_else(|| named("client", &self.client, asked.client))
            .or_else(|| named("session", &self.session, asked.session))
    }

    /// `send-mail` is `send_mail` to programs, and so to whoever writes a rule about what they do. What allows must name
    /// exactly what it allows: another tool may look alike.
    fn misnamed(&self, what: &'static str, pattern: &Option<String>, name: &str) -> Option<&'static str> {
        let pattern = pattern.as_deref()?;
        let fits_otherwise = || {
            let restricts = self.decision != Some(Decision::Allow);
            restricts && other_identifier(name).is_some_and(|shown| wildcard_fits(pattern, &shown))
        };
        (!wildcard_fits(pattern, name) && !fits_otherwise()).then_some(what)
    }

    fn hints(&self) -> [(&'static str, Option<bool>); 4] {
        [
            ("read_only_hint", self.read_only_hint),
            ("destructive_hint", self.destructive_hint),
            ("idempotent_hint", self.idempotent_hint),
            ("open_world_hint", self.open_world_hint),
        ]
    }

    /// Its name, or what it says.
    pub(super) fn id(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.words())
    }

    /// To which requests it applies, in one line.
    pub fn words(&self) -> String {
        let mut words = Vec::new();
        let target = match (self.server.as_deref(), self.tool.as_deref()) {
            (None, None) => "*".to_owned(),
            (server, tool) => format!("{}.{}", server.unwrap_or("*"), tool.unwrap_or("*")),
        };
        words.push(target);
        let hints = self.hints();
        if let Some(kind) = self.kind {
            words.push(match kind {
                AskedKind::Tool => "(tools)".to_owned(),
                AskedKind::Resource => "(resources)".to_owned(),
                AskedKind::Prompt => "(prompts)".to_owned(),
            });
        }
        words.extend(hints.iter().filter_map(|(name, hint)| hint.map(|hint| format!("{name}={hint}"))));
        let names = [("token", &self.token), ("client", &self.client), ("session", &self.session)];
        for (what, pattern) in names {
            words.extend(pattern.as_ref().map(|pattern| format!("{what}={pattern}")));
        }
        words.extend(self.level.map(|level| format!("level={level}")));
        words.extend(self.conditions.iter().map(|it| format!("where {} {}", it.path(), it.text())));
        words.join(" ")
    }
}

/// Why a rule does not apply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Misfit<'a> {
    Field(&'static str),
    Argument(&'a Condition),
}

impl Misfit<'_> {
    pub fn words(self) -> String {
        match self {
            Misfit::Field(what) => format!("{what} doesn't fit"),
            Misfit::Argument(condition) => {
                format!("no argument `{}` that fits `{}`", condition.path(), condition.text())
            }
        }
    }
}
