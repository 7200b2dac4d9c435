//! Arguments from the sentence: by name, by type, by choice and by how a value looks.

use serde_json::Value;

use crate::kinds::{Parameter, ParameterKind, choice_at, is_like};
use crate::lexicon;
use crate::pairs;
use crate::reading::{Problem, Reading, Role, ToolWords};
use crate::sentence::{Kind, Token, previous_content};

/// One argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    pub name: String,
    pub value: Value,
}

/// What fills the parameters of one tool.
pub struct Filling<'r, 't> {
    pub reading: &'r mut Reading<'t>,
    pub tool: &'r ToolWords,
    parameters: &'r [Parameter],
    pub filled: Vec<Argument>,
}

/// Takes every argument that the sentence gives. `linked` comes from another tool's answer.
pub fn fill(
    reading: &mut Reading<'_>,
    tool: &ToolWords,
    parameters: &[Parameter],
    linked: Option<&str>,
) -> Result<Vec<Argument>, Problem> {
    let mut filling = Filling { reading, tool, parameters, filled: Vec::new() };
    filling.choices(linked)?;
    pairs::dates(&mut filling)?;
    filling.by_looks(linked);
    pairs::ways(&mut filling);
    filling.paths(linked);
    filling.quotations(linked);
    filling.prose_after_colon();
    filling.query_after_for();
    filling.numbers()?;
    filling.names(linked);
    filling.flags();
    for parameter in parameters.iter().filter(|parameter| parameter.required) {
        if linked != Some(parameter.name.as_str()) && !filling.has(&parameter.name) {
            return Err(match parameter.kind {
                ParameterKind::Other => Problem::TooComplex(parameter.name.clone()),
                _ => Problem::Missing(parameter.name.clone()),
            });
        }
    }
    Ok(filling.filled)
}

impl<'r, 't> Filling<'r, 't> {
    pub fn has(&self, name: &str) -> bool {
        self.filled.iter().any(|argument| argument.name == name)
    }

    /// Parameters without a value.
    pub fn open(&self, wanted: impl Fn(&Parameter) -> bool) -> Vec<&'r Parameter> {
        self.parameters.iter().filter(|parameter| !self.has(&parameter.name) && wanted(parameter)).collect()
    }

    /// Gives these tokens to a parameter, with the words beside them that name it.
    pub fn give(&mut self, parameter: &Parameter, value: Value, from: usize, to: usize) {
        let text: Vec<&str> = self.reading.tokens[from..to].iter().map(|token| token.text.as_str()).collect();
        self.reading.assume(format!("I took {} as `{}`.", text.join(" "), parameter.name));
        self.reading.take_all(from..to, Role::Value);
        self.take_names_beside(parameter, from, to);
        self.filled.push(Argument { name: parameter.name.clone(), value });
    }

    fn take_names_beside(&mut self, parameter: &Parameter, from: usize, to: usize) {
        let beside = [previous_content(self.reading.tokens, from), Some(to)];
        for index in beside.into_iter().flatten() {
            if !self.reading.is_free_word(index) {
                continue;
            }
            let token = &self.reading.tokens[index];
            let is_plain = !lexicon::is_strict(&token.lower) && !lexicon::is_writing(&token.lower);
            // `files named *.md`
            let is_calling = index < from && matches!(token.lower.as_str(), "named" | "called" | "titled");
            if is_plain && (is_calling || parameter.has_word(&token.stem)) {
                self.reading.take(index, Role::ArgumentName);
            }
        }
    }

    /// Whether the words beside these tokens name the parameter.
    pub fn is_named_beside(&self, parameter: &Parameter, from: usize, to: usize) -> bool {
        let before = previous_content(self.reading.tokens, from);
        let named = |index: usize| {
            self.reading
                .tokens
                .get(index)
                .is_some_and(|token| token.is_word() && parameter.is_named(&token.stem))
        };
        before.is_some_and(named) || named(to)
    }

    fn choices(&mut self, linked: Option<&str>) -> Result<(), Problem> {
        for parameter in self.open(|parameter| linked != Some(parameter.name.as_str())) {
            let ParameterKind::Choice(choices) = &parameter.kind else { continue };
            let mut found: Vec<(String, usize, usize)> = Vec::new();
            let mut index = 0;
            while index < self.reading.tokens.len() {
                let hit = self.choice_here(parameter, choices, index);
                index += hit.as_ref().map_or(1, |(_, from, to)| (to - from).max(1));
                found.extend(hit);
            }
            let mut distinct: Vec<String> = found.iter().map(|(choice, ..)| choice.clone()).collect();
            distinct.sort();
            distinct.dedup();
            match (found.first(), distinct.len()) {
                (Some((choice, from, to)), 1) => {
                    self.give(parameter, Value::from(choice.as_str()), *from, *to)
                }
                (_, 0) => {}
                _ => {
                    return Err(Problem::Several {
                        what: format!("`{}`", parameter.name),
                        choices: distinct,
                    });
                }
            }
        }
        Ok(())
    }

    fn choice_here(
        &self,
        parameter: &Parameter,
        choices: &[String],
        index: usize,
    ) -> Option<(String, usize, usize)> {
        let token = &self.reading.tokens[index];
        if !self.reading.is_free(index) {
            return None;
        }
        if token.kind == Kind::Quoted {
            let exact = choices.iter().find(|choice| **choice == token.text)?;
            return Some((exact.clone(), index, index + 1));
        }
        if !token.is_word() || lexicon::is_stop(&token.lower) || lexicon::is_showing(&token.lower) {
            return None;
        }
        let stems: Vec<&str> = self.reading.tokens[index..]
            .iter()
            .take(6)
            .take_while(|token| token.is_word())
            .map(|token| token.stem.as_str())
            .collect();
        let (choice, length) = choice_at(choices, &stems)?;
        let to = index + length;
        // `list notes` is about notes; it doesn't ask for the folder of that name.
        let is_tool = self.tool.names(&token.stem) && !parameter.required;
        (!is_tool || self.is_named_beside(parameter, index, to)).then_some((choice, index, to))
    }

    /// Values that only one kind of argument takes.
    fn by_looks(&mut self, linked: Option<&str>) {
        for parameter in self.open(|parameter| linked != Some(parameter.name.as_str())) {
            let wanted = match parameter.kind {
                ParameterKind::Email => Kind::Email,
                ParameterKind::Url => Kind::Url,
                ParameterKind::Glob => Kind::Glob,
                ParameterKind::Expression => Kind::Expression,
                ParameterKind::Identifier => Kind::Identifier,
                _ => continue,
            };
            let is_one =
                |token: &Token| token.kind == wanted && is_like(parameter.example.as_deref(), &token.text);
            if let [index] = self.reading.free(is_one)[..] {
                let value = Value::from(self.reading.tokens[index].text.as_str());
                self.give(parameter, value, index, index + 1);
            }
        }
    }

    fn paths(&mut self, linked: Option<&str>) {
        let open = self.open(|parameter| {
            parameter.kind == ParameterKind::Path
                && parameter.end().is_none()
                && linked != Some(parameter.name.as_str())
        });
        if let ([parameter], [index]) =
            (open.as_slice(), &self.reading.free(|token| token.kind == Kind::Path)[..])
        {
            let value = Value::from(self.reading.tokens[*index].text.as_str());
            self.give(parameter, value, *index, *index + 1);
        }
    }

    fn quotations(&mut self, linked: Option<&str>) {
        for index in self.reading.free(|token| token.kind == Kind::Quoted) {
            let text = self.reading.tokens[index].text.clone();
            let open = self.open(|parameter| {
                let takes = matches!(
                    parameter.kind,
                    ParameterKind::Query
                        | ParameterKind::Prose
                        | ParameterKind::Name
                        | ParameterKind::Path
                        | ParameterKind::Identifier
                        | ParameterKind::Glob
                        | ParameterKind::Expression
                );
                // A plain word in quotes is a name, not a pattern.
                let fits = parameter.kind != ParameterKind::Glob || text.contains(['*', '?', '[']);
                takes
                    && fits
                    && linked != Some(parameter.name.as_str())
                    && is_like(parameter.example.as_deref(), &text)
            });
            let named: Vec<&Parameter> = open
                .iter()
                .copied()
                .filter(|parameter| self.is_named_beside(parameter, index, index + 1))
                .collect();
            let required: Vec<&Parameter> =
                open.iter().copied().filter(|parameter| parameter.required).collect();
            let parameter = match (named.as_slice(), required.as_slice(), open.as_slice()) {
                ([one], _, _) | ([], [one], _) | ([], [], [one]) => *one,
                _ => continue,
            };
            self.give(parameter, Value::from(text), index, index + 1);
        }
    }

    /// `Add a note to LEAD-0007: called, wants an offer`.
    fn prose_after_colon(&mut self) {
        let open = self.open(|parameter| parameter.kind == ParameterKind::Prose && parameter.required);
        let tokens = self.reading.tokens;
        let colon = tokens.iter().position(|token| token.kind == Kind::Mark && token.text == ":");
        let ([parameter], Some(colon)) = (open.as_slice(), colon) else { return };
        let rest = colon + 1..tokens.len();
        if rest.is_empty() || rest.clone().any(|index| !self.reading.is_free(index)) {
            return;
        }
        self.give(parameter, Value::from(text_of(&tokens[rest.clone()])), rest.start, rest.end);
    }

    /// `Search the documents for late deliveries`: everything after `for` or `about`.
    fn query_after_for(&mut self) {
        let open = self.open(|parameter| parameter.kind == ParameterKind::Query && parameter.required);
        let is_search = self.tool.names("search") || self.tool.names("find");
        let tokens = self.reading.tokens;
        let word = tokens.iter().position(|token| matches!(token.lower.as_str(), "for" | "about"));
        let ([parameter], Some(word), true) = (open.as_slice(), word, is_search) else { return };
        if parameter.name.contains("sql") {
            return;
        }
        let mut end = tokens.len();
        while end > word + 1 && tokens[end - 1].kind == Kind::Mark {
            end -= 1;
        }
        let rest = word + 1..end;
        let is_plain = |index: usize| {
            let token = &tokens[index];
            self.reading.is_free(index)
                && (token.is_word() || token.kind == Kind::Mark)
                && !lexicon::is_strict(&token.lower)
        };
        if !rest.is_empty() && rest.clone().all(is_plain) {
            self.reading.take(word, Role::Neutral);
            self.give(parameter, Value::from(text_of(&tokens[rest.clone()])), rest.start, rest.end);
        }
    }

    /// Capitalized names, such as cities and people.
    fn names(&mut self, linked: Option<&str>) {
        for (from, to) in self.name_runs() {
            let text = text_of(&self.reading.tokens[from..to]);
            let open = self.open(|parameter| {
                parameter.kind == ParameterKind::Name
                    && linked != Some(parameter.name.as_str())
                    && is_like(parameter.example.as_deref(), &text)
            });
            let named: Vec<&Parameter> =
                open.iter().copied().filter(|parameter| self.is_named_beside(parameter, from, to)).collect();
            let required: Vec<&Parameter> =
                open.iter().copied().filter(|parameter| parameter.required).collect();
            let parameter = match (named.as_slice(), required.as_slice(), open.as_slice()) {
                ([one], _, _) | ([], [one], _) | ([], [], [one]) => *one,
                _ => continue,
            };
            self.give(parameter, Value::from(text), from, to);
        }
    }

    fn name_runs(&self) -> Vec<(usize, usize)> {
        let is_name = |index: usize| {
            let token = &self.reading.tokens[index];
            let is_ours = self.tool.server.contains(&token.stem) || self.tool.names(&token.stem);
            token.is_name && self.reading.is_free(index) && !lexicon::is_strict(&token.lower) && !is_ours
        };
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for index in (0..self.reading.tokens.len()).filter(|index| is_name(*index)) {
            match runs.last_mut() {
                Some((_, to)) if *to == index => *to = index + 1,
                _ => runs.push((index, index + 1)),
            }
        }
        runs
    }

    /// A flag is set by its own name alone.
    fn flags(&mut self) {
        for parameter in self.open(|parameter| parameter.kind == ParameterKind::Flag) {
            let named =
                self.reading.free(|token| token.is_word() && parameter.words == [token.stem.as_str()]);
            if let [index] = named[..] {
                self.give(parameter, Value::Bool(true), index, index + 1);
            }
        }
    }
}

/// Tokens as a text again: marks stand close to the word before them.
fn text_of(tokens: &[Token]) -> String {
    let mut text = String::new();
    for token in tokens {
        if !text.is_empty() && token.kind != Kind::Mark {
            text.push(' ');
        }
        text.push_str(&token.text);
    }
    text
}
