//! All lines in their order, and the question that is asked of them.
//!
//! The user's table is read from top to bottom, and the first line that fits decides. A project's lines
//! are a table of their own: the stricter of both decisions counts, so that a project can forbid and
//! never permit.

use std::sync::Arc;

use super::asked::Asked;
use super::decision::{Decided, Decision};
use super::marks::Flow;
use super::preset::Preset;
use super::rule::{Budgets, Rule};
use super::shortlist::{Shortlist, may_fit};

/// Who wrote a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// `read_only` of the configuration.
    ReadOnly,
    Project,
    User,
    Preset,
}

/// One line of the table.
#[derive(Clone, Debug)]
pub struct Line {
    pub source: Source,
    pub rule: Rule,
    /// Where it is written: a file and a line, or the preset.
    pub origin: Arc<str>,
    /// See [`Decided::rule`].
    pub id: Arc<str>,
    pub(super) why: Arc<str>,
}

/// What a table is made of.
#[derive(Clone, Debug, Default)]
pub struct PolicySettings {
    pub preset: Preset,
    /// Who chose it, for people.
    pub preset_origin: String,
    /// In order, with where each is written.
    pub user: Vec<(Rule, String)>,
    pub project: Vec<(Rule, String)>,
    /// Nothing but reads, for everybody: where that is written.
    pub read_only: Option<String>,
    /// The same for sessions and tokens that fit a pattern.
    pub read_only_sessions: Vec<(String, String)>,
    pub read_only_tokens: Vec<(String, String)>,
    /// What becomes of requests to external servers once untrusted and private data came together.
    pub flow: Flow,
}

/// The whole table. See the module.
#[derive(Clone, Debug)]
pub struct Policy {
    preset: Preset,
    project: Vec<Line>,
    own: Vec<Line>,
    flow: Flow,
}

/// What was decided, and which budgets the request counts against if it is let through.
#[derive(Clone, Debug)]
pub struct Verdict<'a> {
    pub decided: Decided,
    pub counted: Vec<&'a Line>,
}

impl Policy {
    pub fn new(settings: PolicySettings) -> Self {
        let PolicySettings { preset, preset_origin, user, project, .. } = &settings;
        let of = |source: Source, rules: &[(Rule, String)]| -> Vec<Line> {
            rules.iter().map(|(rule, origin)| Line::new(source, rule.clone(), origin)).collect()
        };
        let by = if preset_origin.is_empty() { "default" } else { preset_origin.as_str() };
        let origin = format!("preset {preset} ({by})");
        let mut own = read_only_lines(&settings);
        own.extend(of(Source::User, user));
        own.extend(preset.rules().into_iter().map(|rule| Line::new(Source::Preset, rule, &origin)));
        let project = of(Source::Project, project);
        Self { preset: *preset, project, own, flow: settings.flow }
    }

    pub fn preset(&self) -> Preset {
        self.preset
    }

    /// What is said about requests to external servers.
    pub fn flow(&self) -> &Flow {
        &self.flow
    }

    /// Every line in the order in which it is read; a project's first.
    pub fn lines(&self) -> impl Iterator<Item = &Line> {
        self.project.iter().chain(&self.own)
    }

    /// The lines that requests like this one may meet, whatever their arguments are.
    pub fn shortlist(&self, asked: &Asked<'_>) -> Shortlist {
        match by_token(asked) {
            Some(refused) => Shortlist { refused: Some(refused), own: Vec::new(), project: Vec::new() },
            None => Shortlist {
                refused: None,
                own: may_fit(&self.own, asked),
                project: may_fit(&self.project, asked),
            },
        }
    }

    /// What becomes of a request.
    pub fn decide(&self, asked: &Asked<'_>) -> Verdict<'_> {
        self.decide_among(&self.shortlist(asked), asked)
    }

    /// The same, with the shortlist of a request that differs in its arguments at most. One that a server may read in
    /// several ways is decided about in each: the strictest counts.
    pub fn decide_among(&self, shortlist: &Shortlist, asked: &Asked<'_>) -> Verdict<'_> {
        let readings = asked.readings();
        let Some((first, others)) = readings.split_first() else { return self.decide_one(shortlist, asked) };
        let mut verdict = self.decide_one(shortlist, first);
        for reading in others {
            let Verdict { decided, counted } = self.decide_one(shortlist, reading);
            if decided.decision > verdict.decided.decision {
                verdict.decided = decided;
            }
            for line in counted {
                if !verdict.counted.iter().any(|other| std::ptr::eq(*other, line)) {
                    verdict.counted.push(line);
                }
            }
        }
        verdict
    }

    pub(super) fn decide_one(&self, shortlist: &Shortlist, asked: &Asked<'_>) -> Verdict<'_> {
        let mut counted = Vec::new();
        let Shortlist { refused, own, project } = shortlist;
        if let Some(refused) = refused {
            return Verdict { decided: refused.clone(), counted };
        }
        let own = first(&self.own, own, asked, &mut counted);
        let theirs = first(&self.project, project, asked, &mut counted);
        let strictest = match (own, theirs) {
            (Some(own), Some(theirs)) if theirs.rule.decision > own.rule.decision => Some(theirs),
            (Some(own), _) => Some(own),
            (None, theirs) => theirs,
        };
        // The preset's last line fits everything; a table without one lets nothing through.
        let decided = strictest.map_or_else(no_line, Line::decided);
        Verdict { decided, counted }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::new(PolicySettings::default())
    }
}

/// What is said of a rule without a reason of its own.
fn reason_of(rule: &Rule) -> String {
    match rule.decision {
        Some(Decision::Allow) => format!("a rule allows {}", rule.words()),
        Some(Decision::Ask) => format!("a rule asks about {}", rule.words()),
        // Whoever is refused reads the rule's name, too.
        Some(Decision::Deny) => "a rule denies it".to_owned(),
        None => format!("a rule counts {}", rule.words()),
    }
}

impl Line {
    fn new(source: Source, rule: Rule, origin: &str) -> Self {
        let id: Arc<str> = match source {
            Source::Preset => {
                Arc::from(format!("{} of {}", rule.id(), origin.split(" (").next().unwrap_or(origin)))
            }
            Source::ReadOnly | Source::Project | Source::User => Arc::from(rule.id()),
        };
        let why: Arc<str> = match &rule.reason {
            Some(reason) => Arc::from(reason.as_str()),
            None => Arc::from(reason_of(&rule)),
        };
        Self { source, rule, origin: Arc::from(origin), id, why }
    }

    fn decided(&self) -> Decided {
        Decided {
            decision: self.rule.decision.unwrap_or(Decision::Deny),
            rule: Arc::clone(&self.id),
            origin: Arc::clone(&self.origin),
            why: Arc::clone(&self.why),
            answer: None,
        }
    }

    pub fn budgets(&self) -> Budgets {
        self.rule.budgets
    }
}

/// The first of the places whose line fits and decides; those with budgets on the way are counted.
fn first<'a>(
    lines: &'a [Line],
    places: &[usize],
    asked: &Asked<'_>,
    counted: &mut Vec<&'a Line>,
) -> Option<&'a Line> {
    let lines = places.iter().filter_map(|place| lines.get(*place));
    for line in lines.filter(|line| line.rule.has_arguments_of(asked)) {
        if !line.rule.budgets.is_empty() {
            counted.push(line);
        }
        if line.rule.decision.is_some() {
            return Some(line);
        }
    }
    None
}

/// What the caller's token is not good for.
pub(super) fn by_token(asked: &Asked<'_>) -> Option<Decided> {
    let why = asked.token_limits?.refusal(asked)?;
    let rule: Arc<str> = Arc::from(format!("token {}", asked.token.unwrap_or_default()));
    Some(Decided {
        decision: Decision::Deny,
        origin: Arc::from("gristmill token list"),
        rule,
        why: Arc::from(why),
        answer: None,
    })
}

fn no_line() -> Decided {
    let nothing: Arc<str> = Arc::from("no rule fits");
    Decided {
        decision: Decision::Deny,
        rule: Arc::clone(&nothing),
        origin: Arc::clone(&nothing),
        why: nothing,
        answer: None,
    }
}

/// A line that allows reads is not needed: what is read goes on to the lines below.
fn read_only_lines(settings: &PolicySettings) -> Vec<Line> {
    let line = |name: &str, origin: &str, rule: Rule| {
        let rule = Rule {
            name: Some(name.to_owned()),
            kind: Some(super::AskedKind::Tool),
            read_only_hint: Some(false),
            reason: Some(format!("{name}, and its server doesn't mark this tool read-only")),
            ..rule
        };
        Line::new(Source::ReadOnly, rule, origin)
    };
    let deny = || Rule::deciding(Decision::Deny);
    let mut lines: Vec<Line> = Vec::new();
    lines.extend(settings.read_only.iter().map(|origin| line("everything is read-only", origin, deny())));
    lines.extend(settings.read_only_sessions.iter().map(|(pattern, origin)| {
        line("this session is read-only", origin, Rule { session: Some(pattern.clone()), ..deny() })
    }));
    lines.extend(settings.read_only_tokens.iter().map(|(pattern, origin)| {
        line("this access token is read-only", origin, Rule { token: Some(pattern.clone()), ..deny() })
    }));
    lines
}
