//! One attempt to read the sentence as a call of one tool: which token was used for what.

use crate::Candidate;
use crate::lexicon;
use crate::sentence::{Kind, Token};
use crate::stems::stems_of;

/// Words that only the description accounts for; more of them is guessing.
const DESCRIBED_MAX: usize = 3;

/// What a token was used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// An argument's value.
    Value,
    /// A word beside a value that says which argument it is.
    ArgumentName,
    /// What is done with the answer.
    Operation,
    /// A field of the answer, or its rows.
    Field,
    /// A word of the tool's name.
    Tool,
    /// A word of the server's name.
    Server,
    /// A word that the tool's description has.
    Description,
    /// Says nothing.
    Neutral,
}

impl Role {
    /// How much it speaks for the reading.
    fn weight(self) -> f32 {
        match self {
            Self::Value => 3.0,
            Self::Operation | Self::Field => 2.5,
            Self::Tool | Self::ArgumentName => 2.0,
            Self::Server => 1.5,
            Self::Description => 1.0,
            Self::Neutral => 0.0,
        }
    }
}

/// Why a tool cannot be what the sentence means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// A required argument has no source.
    Missing(String),
    /// Words that nothing accounts for.
    Unused(Vec<String>),
    /// An argument or a field that could be several things.
    Several { what: String, choices: Vec<String> },
    /// A value that the argument does not allow.
    NotAllowed { parameter: String, value: String },
    /// Something is asked of the answer that nobody knows it has.
    UnknownShape,
    /// The answer may be a part only, and there is no way to the rest.
    Paged,
    /// More than one thing is asked at once.
    TwoQuestions,
    /// A tool that changes something, and another verb than its own.
    OtherVerb,
    /// The tool cannot be called from a program by its name.
    NoName,
    /// The tool wants more than a sentence can give.
    TooComplex(String),
}

impl Problem {
    /// What a person reads about a tool.
    pub fn told(&self, tool: &str) -> String {
        let list = |words: &[String], and: &str| {
            let quoted: Vec<String> = words.iter().take(6).map(|word| format!("“{word}”")).collect();
            match quoted.split_last() {
                Some((last, [])) => last.clone(),
                Some((last, others)) => format!("{} {and} {last}", others.join(", ")),
                None => String::new(),
            }
        };
        let words = match self {
            Self::Missing(name) => format!("needs `{name}`, and I found nothing for it in the sentence"),
            Self::Unused(words) => {
                let mean = if words.len() == 1 { "means" } else { "mean" };
                return format!("I can't tell what {} {mean} for {tool}", list(words, "and"));
            }
            Self::Several { what, choices } => {
                format!("doesn't tell what {what} is: it could be {}", list(choices, "or"))
            }
            Self::NotAllowed { parameter, value } => format!("doesn't take “{value}” as `{parameter}`"),
            Self::UnknownShape => {
                "doesn't say what it returns, so I can only show its answer as it is".to_owned()
            }
            Self::Paged => "gives its answer in parts, and I don't know how to get the rest".to_owned(),
            Self::TwoQuestions => "would have to do more than one thing at once".to_owned(),
            Self::OtherVerb => {
                "changes something, and that's not plainly what the sentence asks for".to_owned()
            }
            Self::NoName => "has no name that a program can use".to_owned(),
            Self::TooComplex(name) => format!("needs `{name}`, which a sentence can't give"),
        };
        format!("{tool} {words}")
    }

    /// How near the tool came: a missing value is nearer than unexplained words.
    pub fn distance(&self) -> usize {
        match self {
            Self::Missing(_) | Self::NotAllowed { .. } | Self::Several { .. } => 1,
            Self::Unused(words) => 1 + words.len(),
            Self::UnknownShape | Self::Paged | Self::TwoQuestions => 2,
            Self::TooComplex(_) => 3,
            Self::OtherVerb => 4,
            Self::NoName => 9,
        }
    }
}

/// The words of a tool.
#[derive(Clone, Debug)]
pub struct ToolWords {
    pub name: Vec<String>,
    pub server: Vec<String>,
    pub description: Vec<String>,
}

impl ToolWords {
    pub fn of(tool: &Candidate<'_>) -> Self {
        Self {
            name: stems_of(tool.tool),
            server: stems_of(tool.server),
            description: stems_of(tool.description),
        }
    }

    pub fn names(&self, stem: &str) -> bool {
        self.name.iter().any(|word| word == stem)
    }

    /// Everything that is said about it.
    pub fn all(&self) -> Vec<String> {
        self.name.iter().chain(&self.description).cloned().collect()
    }
}

/// The sentence, and what its tokens were used for so far.
#[derive(Clone, Debug)]
pub struct Reading<'t> {
    pub tokens: &'t [Token],
    roles: Vec<Option<Role>>,
    /// What was read into the sentence.
    pub assumptions: Vec<String>,
}

impl<'t> Reading<'t> {
    pub fn new(tokens: &'t [Token]) -> Self {
        Self { tokens, roles: vec![None; tokens.len()], assumptions: Vec::new() }
    }

    pub fn take(&mut self, index: usize, role: Role) {
        if let Some(slot) = self.roles.get_mut(index) {
            *slot = Some(role);
        }
    }

    pub fn take_all(&mut self, indices: impl IntoIterator<Item = usize>, role: Role) {
        indices.into_iter().for_each(|index| self.take(index, role));
    }

    pub fn is_free(&self, index: usize) -> bool {
        self.roles.get(index).is_some_and(Option::is_none)
    }

    /// A word that is free and could mean something.
    pub fn is_free_word(&self, index: usize) -> bool {
        self.is_free(index) && self.tokens[index].is_word() && !lexicon::is_stop(&self.tokens[index].lower)
    }

    /// The indices of free tokens of a kind.
    pub fn free(&self, wanted: impl Fn(&Token) -> bool) -> Vec<usize> {
        (0..self.tokens.len()).filter(|index| self.is_free(*index) && wanted(&self.tokens[*index])).collect()
    }

    pub fn lower(&self, index: usize) -> &'t str {
        self.tokens.get(index).map_or("", |token| token.lower.as_str())
    }

    pub fn assume(&mut self, what: String) {
        self.assumptions.push(what);
    }

    /// Gives a role to every word that the tool itself accounts for. Reserved words mean something else, and a
    /// tool that writes gets none of its words from its description.
    pub fn take_tool_words(&mut self, tool: &ToolWords, reserved: &[String], is_read_only: bool) {
        let mut described = 0;
        for index in 0..self.tokens.len() {
            if !self.is_free(index) {
                continue;
            }
            let token = &self.tokens[index];
            let lower = token.lower.as_str();
            let role = if token.kind == Kind::Mark || lexicon::is_stop(lower) {
                Some(Role::Neutral)
            } else if !token.is_word() {
                None
            } else if tool.names(&token.stem) && !lexicon::is_strict(lower) {
                Some(Role::Tool)
            } else if lexicon::is_showing(lower) || (lower == "right" && self.is_now(index + 1)) {
                Some(Role::Neutral)
            } else if lexicon::is_strict(lower) || lexicon::is_writing(lower) || token.is_name {
                None
            } else if tool.server.contains(&token.stem) {
                Some(Role::Server)
            } else if tool.description.contains(&token.stem) && !reserved.contains(&token.stem) {
                described += 1;
                (is_read_only && described <= DESCRIBED_MAX).then_some(Role::Description)
            } else {
                None
            };
            if let Some(role) = role {
                self.take(index, role);
            }
        }
    }

    fn is_now(&self, index: usize) -> bool {
        self.tokens.get(index).is_some_and(|token| token.stem == "now")
    }

    /// How well everything is accounted for; what is not is a problem.
    pub fn finish(&self) -> Result<f32, Problem> {
        let unused: Vec<String> = (0..self.tokens.len())
            .filter(|index| self.is_free(*index))
            .map(|index| self.tokens[index].text.chars().take(40).collect())
            .collect();
        if !unused.is_empty() {
            return Err(Problem::Unused(unused));
        }
        Ok(self.roles.iter().flatten().map(|role| role.weight()).sum())
    }
}
