//! What is shown where nothing is computed: the answer, its rows, or the fields that the sentence names.

use crate::fields::Field;
use crate::lexicon;
use crate::operations::{Parser, Then};
use crate::reading::{Problem, Role};
use crate::shape::Rows;
use crate::stems::is_short_form;

impl Parser<'_, '_> {
    /// The answer, its rows, or the fields that the sentence names.
    pub fn shown(&mut self, rows: Option<&Rows>, is_filtered: bool) -> Result<Then, Problem> {
        let mut picked: Vec<Field> = Vec::new();
        let mut names_rows = is_filtered;
        let is_told = |field: &&Field| !self.is_echo(field);
        let of_rows: Vec<&Field> = rows.map_or(&[][..], |rows| &rows.fields).iter().filter(is_told).collect();
        let member = rows.and_then(|rows| rows.member.as_deref());
        let of_answer: Vec<&Field> = self
            .shape
            .fields
            .iter()
            .filter(is_told)
            .filter(|field| member != Some(field.name.as_str()))
            .collect();
        let mut picked_of_rows: Vec<Field> = Vec::new();
        let mut index = 0;
        while index < self.reading.tokens.len() {
            let stem = self.reading.tokens[index].stem.clone();
            let lower = self.reading.lower(index);
            let could_be = self.reading.is_free_word(index)
                && !lexicon::is_strict(lower)
                && !lexicon::is_showing(lower)
                && !lexicon::is_writing(lower)
                && !self.reading.tokens[index].is_name;
            if could_be && rows.is_some_and(|rows| rows.words.contains(&stem)) {
                self.reading.take(index, Role::Field);
                names_rows = true;
            } else if could_be && !self.tool.names(&stem) {
                match self.named_phrase(&of_answer, index)? {
                    Some(field) if !picked.contains(&field) => picked.push(field),
                    Some(_) => {}
                    None => picked_of_rows.extend(self.named_phrase(&of_rows, index)?),
                }
            }
            index += 1;
        }
        let then = match (picked.is_empty(), picked_of_rows.is_empty()) {
            (false, false) => return Err(Problem::TwoQuestions),
            (false, true) if is_filtered => return Err(Problem::TwoQuestions),
            (false, true) => Then::Pick(picked),
            (true, false) => Then::List(picked_of_rows),
            (true, true) if names_rows => Then::List(Vec::new()),
            (true, true) => Then::Answer,
        };
        Ok(then)
    }

    /// A phrase that begins here and means a field by its name. What a field is described by counts if the tool
    /// isn't described by it, too, or if two words of the description stand side by side.
    fn named_phrase(&mut self, fields: &[&Field], from: usize) -> Result<Option<Field>, Problem> {
        let stem = self.reading.tokens[from].stem.as_str();
        let has = |words: &[String], stem: &str| words.iter().any(|word| word == stem);
        let is_near = |field: &&&Field| {
            let by_name = field.words.iter().any(|word| word == stem || is_short_form(word, stem));
            by_name || (has(&field.about, stem) && self.tool_says_nothing(stem))
        };
        let near: Vec<&Field> = fields.iter().filter(is_near).copied().collect();
        if !near.is_empty() {
            return self.phrase_beginning(&near, from, None);
        }
        let Some(next) = self.reading.tokens.get(from + 1).filter(|_| self.reading.is_free_word(from + 1))
        else {
            return Ok(None);
        };
        let described: Vec<&Field> = fields
            .iter()
            .filter(|field| has(&field.about, stem) && has(&field.about, &next.stem))
            .copied()
            .collect();
        self.phrase(&described, from..from + 2, None)
    }

    fn tool_says_nothing(&self, stem: &str) -> bool {
        !self.tool.description.iter().chain(&self.tool.server).any(|word| word == stem)
    }
}
